/** `TaskOutput`: what a run has found, or how far it is. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import {describeRun} from '../../core/runs/run-table.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {textResult} from '../../core/util/tool-result.ts';
import {runId as runIdSchema} from './run-id.ts';
import description from './task-output.md';

/** Longer waits are asked for again. */
const LONGEST_WAIT_SECONDS = 600;

const input = z.object({
  run_id: runIdSchema,
  wait_seconds: z.number().min(0).max(LONGEST_WAIT_SECONDS).optional(),
});

export function createTaskOutput(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return {
    name: 'TaskOutput',
    description,
    input,
    title: ({run_id}) => String(run_id),
    access: () => [{kind: 'none'}],
    async run({run_id, wait_seconds = 0}, {signal}) {
      const {runId} = manager().find(String(run_id));
      await manager().waitFor(runId, wait_seconds * 1000, signal);
      const record = manager().find(runId);
      if (!hasEnded(record)) return textResult(describeRun(record, Date.now()));
      return textResult(manager().report(record));
    },
  };
}
