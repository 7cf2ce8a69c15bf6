/** A run and its result as programs see them. */

import type {Outcome} from '../core/contract/run-result.ts';
import type {RunRecord, RunState} from '../core/contract/runs.ts';
import type {SubagentResult} from '../core/subagent.ts';
import {reasonOf} from '../core/turn/run-ending.ts';
import {tokensOf} from '../core/turn/token-budget.ts';

export interface SubtaskResult {
  /** For `send`, `stop` and `get`. Absent where the request was wrong, so that no run began. */
  readonly runId?: string;
  readonly success: boolean;
  /** Its final answer, or what it had when it was cut off. */
  readonly summary: string;
  /** Files that its tools changed. */
  readonly changes: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
  /** Why it did not succeed; a run past its time has `EXECUTION_TIMEOUT` in it. */
  readonly error?: string;
  readonly metadata: {
    /** Names, each once, in the order of their first call. */
    readonly toolsUsed: readonly string[];
    /** In and out, cache included. */
    readonly tokensUsed: number;
    readonly filesRead: readonly string[];
    readonly filesModified: readonly string[];
  };
}

/** A run as it is at this moment. */
export interface SubtaskRun {
  readonly runId: string;
  readonly agent: string;
  /** The first words of its prompt. */
  readonly description: string;
  /** `created` until it has a slot. */
  readonly state: RunState;
  /** How it ended; absent while it has not. */
  readonly outcome?: Outcome;
  /** Why it did not succeed. */
  readonly reason?: string;
  /** Its last answer; `get` reads it, `list` does not. */
  readonly summary?: string;
  /** Tool calls that ended. */
  readonly tools: number;
  /** Where its transcript is; absent until it is begun. */
  readonly transcript?: string;
}

/** The result of a run that has ended. */
export function resultOf({runId, result, receipt}: SubagentResult): SubtaskResult {
  const reason = reasonOf(result);
  const error = result.outcome === 'timeout' ? `EXECUTION_TIMEOUT: ${reason}` : reason;
  return {
    runId,
    success: result.outcome === 'success',
    summary: result.text,
    changes: receipt.filesChanged,
    duration: Math.round(result.durationMs),
    ...(error === '' ? {} : {error}),
    metadata: {
      toolsUsed: [...new Set(result.tools.map(({tool}) => tool))],
      tokensUsed: tokensOf(result.usage),
      filesRead: receipt.filesRead,
      filesModified: receipt.filesChanged,
    },
  };
}

/** The result of a request that never became a run. */
export function refusal(error: string): SubtaskResult {
  const metadata = {toolsUsed: [], tokensUsed: 0, filesRead: [], filesModified: []};
  return {success: false, summary: '', changes: [], duration: 0, error, metadata};
}

/** Without what only the engine needs. */
export function runOf({runId, agent, description, state, outcome, reason, tools, transcript}: RunRecord): SubtaskRun {
  return {
    ...{runId, agent, description, state, tools, transcript},
    ...(outcome === undefined ? {} : {outcome}),
    ...(reason === undefined ? {} : {reason}),
  };
}
