/** How a run ended. Results are return values: this is what `runAgent` returns, always. */
import type {Usage} from './messages.ts';
import type {ToolFacts} from './tool-result.ts';

export type Outcome = 'success' | 'error' | 'timeout' | 'limit' | 'stopped' | 'unknown';

/** One tool call as the runtime saw it; receipts are made from these. */
export interface ToolRecord {
  readonly tool: string;
  readonly isError: boolean;
  readonly facts: ToolFacts;
  /** What the tool itself asked of a model. */
  readonly used?: readonly {readonly usage: Usage; readonly model: string}[];
}

export interface RunTotals {
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
    /** `timeout` names which time was over, in words. */
    | {readonly outcome: 'timeout'; readonly timeout: string}
    | {readonly outcome: 'stopped'}
    | {readonly outcome: 'error'; readonly error: string; readonly code: string}
  );
