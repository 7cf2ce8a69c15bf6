/** A task and an outcome as real ones are, for tests that change a part of them. */
import type {RunResult} from '../../src/core/contract/results.ts';
import type {RemoteTask} from '../../src/core/runs/remote-runs.ts';
import type {RemoteOutcome} from '../../src/workers/queue/messages.ts';

const usage = {input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};

export function createTask(change: Partial<RemoteTask> = {}): RemoteTask {
  return {
    spec: {runId: 'r', agent: 'code', description: 'd', model: 'm', background: false, cleanup: 'keep'},
    round: 1,
    agent: {name: 'code', description: 'd', tools: '*', prompt: 'p', readOnly: false},
    prompt: 'go',
    limits: {maxTurns: 5, timeoutSeconds: 60},
    messages: [],
    permissions: {mode: 'default', deny: [], edits: []},
    isBudgeted: false,
    ...change,
  };
}

export function createResult(change: Partial<RunResult> = {}): RunResult {
  return {
    ...{outcome: 'success', text: 'found', usage, usageByModel: {m: usage}, turns: 1, tools: []},
    ...{durationMs: 10, modelMs: 5},
    ...change,
  } as RunResult;
}

export function createOutcome(change: Partial<RemoteOutcome> = {}): RemoteOutcome {
  return {result: createResult(), entries: [], notes: [], ...change};
}
