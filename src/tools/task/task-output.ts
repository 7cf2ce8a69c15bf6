/**
 * Defines the tool `TaskOutput`, which returns the report of a run that has ended, or the state of one that still runs.
 */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import {describeRun} from '../../core/runs/run-table.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {createRunTool, runIdSchema} from './run-tool.ts';
import description from './task-output.md';

/** Limit of one wait. For a longer wait the model calls the tool again. */
const MAX_WAIT_SECONDS = 600;

const input = z.object({
  run_id: runIdSchema,
  wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional(),
});

export const TASK_OUTPUT: ToolFacts = {name: 'TaskOutput', dispatches: true};

export function createTaskOutput(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return createRunTool({
    ...TASK_OUTPUT,
    description,
    input,
    async run({run_id, wait_seconds = 0}, {signal}) {
      const {runId} = manager().find(String(run_id));
      await manager().waitFor(runId, wait_seconds * 1000, signal);
      const record = manager().find(runId);
      if (!hasEnded(record)) return textResult(describeRun(record, Date.now()));
      return textResult(manager().report(record));
    },
  });
}
