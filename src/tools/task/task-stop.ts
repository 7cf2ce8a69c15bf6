/** Defines the tool `TaskStop`, which stops a run. Its findings stay available. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {createRunTool, runIdSchema} from './run-tool.ts';
import description from './task-stop.md';

const input = z.object({run_id: runIdSchema});

export const TASK_STOP: ToolFacts = {name: 'TaskStop', dispatches: true};

export function createTaskStop(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return createRunTool({
    ...TASK_STOP,
    description,
    input,
    async run({run_id}) {
      const record = manager().find(String(run_id));
      if (hasEnded(record)) return textResult(`It has ended already: ${record.outcome}.`);
      await manager().stop(record.runId, 'stop', 'agent');
      return textResult(manager().report(manager().find(record.runId)));
    },
  });
}
