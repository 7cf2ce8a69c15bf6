/** How tools and runs end, and the limits of a run. Results are return values. */
import type {ToolResultBlock, Usage} from './model.ts';

export type Outcome = 'success' | 'error' | 'timeout' | 'limit' | 'stopped' | 'unknown';

/** One tool call as the runtime saw it. Receipts are made from these. */
export interface ToolRecord {
  readonly tool: string;
  readonly isError: boolean;
  readonly facts: ToolFacts;
  /** Tokens of the model calls that the tool itself made. */
  readonly used?: readonly {readonly usage: Usage; readonly model: string}[];
}

export interface RunTotals {
  /** The final answer, or what there was when the run was cut off. */
  readonly text: string;
  /** The answer as data, where a schema was asked for and it matches. */
  readonly structured?: unknown;
  readonly usage: Usage;
  /** Tokens for each model that answered. */
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Model calls made. */
  readonly turns: number;
  readonly tools: readonly ToolRecord[];
  readonly durationMs: number;
  /** Time in model calls. */
  readonly modelMs: number;
  /** One line each: another model answered than the one that was asked for. */
  readonly warnings?: readonly string[];
}

export type RunResult = RunTotals &
  (
    | {readonly outcome: 'success'}
    | {readonly outcome: 'limit'; readonly limit: string}
    /** `timeout` is a text that says which time was used up. */
    | {readonly outcome: 'timeout'; readonly timeout: string}
    | {readonly outcome: 'stopped'}
    | {readonly outcome: 'error'; readonly error: string; readonly code: string}
  );

export interface ToolResult {
  readonly content: ToolResultBlock['content'];
  readonly isError?: boolean;
  /** What came of the call, for a person, in a few words: `120 lines`, `exit code 1`. */
  readonly summary?: string;
  /** The end of the result says what went wrong, so a person is shown its end. */
  readonly showsEnd?: boolean;
  /** How many lines there are in all, where the result has fewer. */
  readonly lines?: number;
  /** What a person sees besides the tool's line. The model never reads it. */
  readonly display?: ToolDisplay;
  /** The sandbox prevented something that a command tried: an attempt with less confinement may succeed. */
  readonly confinementHit?: boolean;
  /** What the runtime saw, for the receipt. */
  readonly facts?: ToolFacts;
  /** A hook ends the run after this call, for this reason. */
  readonly stops?: string;
}

export type ToolDisplay =
  | {readonly type: 'diff'; readonly path: string; readonly patch: string}
  | {readonly type: 'todos'; readonly todos: readonly Todo[]}
  | {readonly type: 'text'; readonly text: string};

export interface ToolFacts {
  readonly read?: readonly string[];
  /** Files that a search listed. */
  readonly scanned?: number;
  readonly changed?: readonly string[];
  /** The changed files that another agent may have changed. */
  readonly shared?: readonly string[];
  /** Why it is not known which files the call changed. */
  readonly uncounted?: string;
  readonly exitCode?: number;
  /** The time limit that ended the command, in seconds. */
  readonly timedOut?: number;
}

export interface Todo {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

/** Saves whole outputs. `storage/` puts them beside the transcript. */
export interface OutputStore {
  /** Opens the file for the output of a call. The same call id gives the same path. */
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
  /** Wall time in seconds, without the time of waiting for a person; 0 = none. */
  readonly timeoutSeconds: number;
  /** Binds the run to a smaller context window. Tokens; absent: the model's own. */
  readonly contextTokens?: number | undefined;
}

/** Limits of one layer: a Task call, a definition or the settings. What it does not set comes from the next layer. */
export interface NamedLimits {
  readonly maxTurns?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** Tokens in and out, cache included. */
  readonly maxTokens?: number | undefined;
  /** Cost in US dollars. */
  readonly maxBudgetUsd?: number | undefined;
  /** Binds the run to a smaller context window. Tokens. */
  readonly contextTokens?: number | undefined;
}

export type RunLimits = Limits & Pick<NamedLimits, 'maxTokens' | 'maxBudgetUsd'>;

/** A monotonic clock in milliseconds, with timers. Tests pass their own. */
export interface Clock {
  now(): number;
  /** Milliseconds since the epoch: goes on while the machine sleeps, and jumps when the time is set. */
  wallNow(): number;
  /** @param idle the timer does not keep the process alive. @returns a function that cancels the timer. */
  setTimer(callback: () => void, ms: number, idle?: boolean): () => void;
}
