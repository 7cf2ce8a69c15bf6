/** `TaskStop`: ends a run; what it has is kept. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {textResult} from '../../core/util/tool-result.ts';
import {runId} from './run-id.ts';
import description from './task-stop.md';

const input = z.object({run_id: runId});

export function createTaskStop(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return {
    name: 'TaskStop',
    description,
    input,
    title: ({run_id}) => String(run_id),
    access: () => [{kind: 'none'}],
    async run({run_id}) {
      const record = manager().find(String(run_id));
      if (hasEnded(record)) return textResult(`It has ended already: ${record.outcome}.`);
      await manager().stop(record.runId);
      return textResult(manager().report(manager().find(record.runId)));
    },
  };
}
