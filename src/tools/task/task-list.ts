/** `TaskList`: the main agent's view of its subagents. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import {runTable} from '../../core/runs/run-table.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {textResult} from '../../core/util/tool-result.ts';
import description from './task-list.md';

const input = z.object({});

export function createTaskList(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return {
    name: 'TaskList',
    description,
    input,
    title: () => '',
    access: () => [{kind: 'none'}],
    run: async () => textResult(runTable(manager().list(), Date.now(), 'ids')),
  };
}
