/** How tools and runs end, and the limits of a run. Results are return values. */
import type {ToolResultBlock, Usage} from './model.ts';

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

export interface ToolResult {
  readonly content: ToolResultBlock['content'];
  readonly isError?: boolean;
  /** What a person sees beside the tool's line; the model never reads it. */
  readonly display?: ToolDisplay;
  /** The sandbox kept a command from doing something: another attempt, with less confinement, may succeed. */
  readonly confinementHit?: boolean;
  /** What the runtime knows for the receipt. */
  readonly facts?: ToolFacts;
}

export type ToolDisplay =
  | {readonly type: 'diff'; readonly path: string; readonly patch: string}
  | {readonly type: 'todos'; readonly todos: readonly Todo[]}
  | {readonly type: 'text'; readonly text: string};

export interface ToolFacts {
  readonly read?: readonly string[];
  readonly changed?: readonly string[];
  /** Those of them that another agent may have changed. */
  readonly shared?: readonly string[];
  /** Why the files that it changed are not in `changed`. */
  readonly uncounted?: string;
  readonly exitCode?: number;
}

export interface Todo {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

/** Keeps whole outputs; `storage/` puts them beside the transcript. */
export interface OutputStore {
  /** Opens the file for this call. The same call id gives the same path. */
  open(callId: string): OutputFile;
}

export interface OutputFile {
  readonly path: string;
  write(chunk: string): void;
  close(): void;
}

export interface Limits {
  /** Model calls. */
  readonly maxTurns: number;
  /** Wall time in seconds, without the time that waits for a person; 0 = none. */
  readonly timeoutSeconds: number;
}

/** Limits of one layer: a Task call, a definition or the settings. What it does not set comes from the next layer. */
export interface NamedLimits {
  readonly maxTurns?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** Tokens in and out, cache included. */
  readonly maxTokens?: number | undefined;
}

export type RunLimits = Limits & Pick<NamedLimits, 'maxTokens'>;

/** Time as limits see it: milliseconds that never jump, and timers. A test passes its own. */
export interface Clock {
  now(): number;
  /** @param idle it must not keep a program alive that has nothing else to do. @returns the way to cancel it. */
  setTimer(callback: () => void, ms: number, idle?: boolean): () => void;
}
