/** How a run ended. Results are return values: this is what `runAgent` returns, always. */
import type {Usage} from './messages.ts';
import type {ToolFacts} from './tool.ts';

export type Outcome = 'success' | 'error' | 'timeout' | 'limit' | 'stopped' | 'unknown';

/** One tool call as the runtime saw it; receipts are made from these. */
export interface ToolRecord {
  readonly tool: string;
  readonly isError: boolean;
  readonly facts: ToolFacts;
}

interface RunTotals {
  /** The final answer, or what there was when the run was cut off. */
  readonly text: string;
  readonly usage: Usage;
  /** Tokens for each model that answered. */
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Model calls made. */
  readonly turns: number;
  readonly tools: readonly ToolRecord[];
  readonly durationMs: number;
  /** Time within model calls. */
  readonly modelMs: number;
}

export type RunResult = RunTotals &
  (
    | {readonly outcome: 'success'}
    | {readonly outcome: 'limit'; readonly limit: string}
    | {readonly outcome: 'timeout'; readonly seconds: number}
    | {readonly outcome: 'stopped'}
    | {readonly outcome: 'error'; readonly error: string; readonly code: string}
  );

/** Why a run was cut off: the reason its signal carries. The first one wins. */
export class CutOff extends Error {
  constructor(
    readonly why: 'user' | 'stop' | 'close' | 'timeout',
    /** For `timeout`: the limit in seconds. */
    readonly seconds = 0,
  ) {
    super(why === 'timeout' ? `timed out after ${seconds} s` : why === 'user' ? 'interrupted by the user' : 'stopped');
    this.name = 'CutOff';
  }
}

/** The reason in a few words, for progress lines and receipts; empty for a success. */
export function reasonOf(result: RunResult): string {
  switch (result.outcome) {
    case 'success':
      return '';
    case 'limit':
      return result.limit;
    case 'timeout':
      return `timed out after ${result.seconds} s`;
    case 'stopped':
      return 'stopped';
    case 'error':
      return result.error;
  }
}
