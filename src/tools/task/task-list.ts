/** Defines the tool `TaskList`, which lists the subagents of this session. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatRunTable} from '../../core/runs/run-table.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {createRunTool} from './run-tool.ts';
import description from './task-list.md';

const input = z.object({});

export const TASK_LIST: ToolFacts = {name: 'TaskList', dispatches: true};

export function createTaskList(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return createRunTool({
    ...TASK_LIST,
    description,
    input,
    run: async () => textResult(formatRunTable(manager().list())),
  });
}
