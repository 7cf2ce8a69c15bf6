/** How tools and runs end, and the limits of a run. Results are return values. */
import type {ToolResultBlock, Usage} from './model.ts';

export type Outcome = 'success' | 'error' | 'timeout' | 'limit' | 'stopped' | 'unknown';

/** One tool call as the runtime saw it. Receipts are made from these records. */
export interface ToolRecord {
  readonly tool: string;
  readonly isError: boolean;
  readonly facts: ToolFacts;
  /** Facts that come later than the result. They are among the others when the run has ended. */
  readonly laterFacts?: Promise<ToolFacts> | undefined;
  /** Tokens of the model calls that the tool made itself. */
  readonly used?: readonly {readonly usage: Usage; readonly model: string}[];
}

export interface RunTotals {
  /** Final answer, or the text so far when the run was cut off. */
  readonly text: string;
  /** The answer as data, when a schema was given and the answer matches it. */
  readonly structured?: unknown;
  readonly usage: Usage;
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Output tokens of the reply that is the answer. Absent when there is none. */
  readonly returnedTokens?: number;
  /** Number of model calls. */
  readonly turns: number;
  /** Model that answered last, which may be a fallback. Absent when none did. */
  readonly model?: string | undefined;
  readonly tools: readonly ToolRecord[];
  readonly durationMs: number;
  /** Milliseconds in model calls. */
  readonly modelMs: number;
  /** One line for each case where another model answered than the requested one. */
  readonly warnings?: readonly string[];
}

export type RunResult = RunTotals &
  (
    | {readonly outcome: 'success'}
    /** `reason` says the whole in words where `limit` is only a name: `no progress: the same call 8 times`. */
    | {readonly outcome: 'limit'; readonly limit: string; readonly reason?: string}
    /** `timeout` says which time limit was reached. */
    | {readonly outcome: 'timeout'; readonly timeout: string}
    | {readonly outcome: 'stopped'}
    | {readonly outcome: 'error'; readonly error: string; readonly code: string}
  );

export interface ToolResult {
  readonly content: ToolResultBlock['content'];
  readonly isError?: boolean;
  /** Outcome of the call for a person, in a few words: `120 lines`, `exit code 1`. */
  readonly summary?: string;
  /** True when a person should see the end of the result, because the end says what went wrong. */
  readonly showsEnd?: boolean;
  /** Number of all lines, when the result has fewer. */
  readonly lines?: number;
  /** What a person sees below the tool's line. The model never reads it. */
  readonly display?: ToolDisplay;
  /** True when the sandbox prevented something that a command tried. An attempt with less confinement may succeed. */
  readonly confinementHit?: boolean;
  /** What the runtime saw. The receipt uses it. */
  readonly facts?: ToolFacts;
  /** Further facts, which take longer than the result. Never rejects. */
  readonly laterFacts?: Promise<ToolFacts> | undefined;
  /** Reason why a hook ends the run after this call. */
  readonly stops?: string | undefined;
  /** `waits`: the call waited for a run or a command that is still at work. `starts`: it started one and ended before it. */
  readonly background?: 'waits' | 'starts';
  /** True when a ceiling for the prompt did not let the call start, so that it is no progress. */
  readonly isRefused?: boolean;
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
  /** Files of `changed` that another agent may have changed. */
  readonly shared?: readonly string[];
  /** Reason why the files that the call changed are not known. */
  readonly uncounted?: string;
  readonly exitCode?: number;
  /** Time limit that ended the command, in seconds. */
  readonly timedOut?: number;
  /** The command, in a few words, when the sandbox stopped it or a part of it. */
  readonly stoppedBySandbox?: string;
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

/**
 * Limits from one layer: a Task call, a definition or the settings. A limit that is absent comes from the next layer.
 */
export interface NamedLimits {
  /** Most model calls. */
  readonly maxTurns?: number | undefined;
  /** Wall-clock time in seconds, without the time of waiting for a person. 0 means no limit. */
  readonly timeoutSeconds?: number | undefined;
  /** Input and output tokens, including the cache. */
  readonly maxTokens?: number | undefined;
  readonly maxBudgetUsd?: number | undefined;
  /** Size of the context window in tokens, if the run has a smaller one than the model. */
  readonly contextTokens?: number | undefined;
}

export interface RunLimits extends NamedLimits {
  readonly maxTurns: number;
  readonly timeoutSeconds: number;
}

export type Limits = Omit<RunLimits, 'maxTokens' | 'maxBudgetUsd'>;

/** A monotonic clock in milliseconds, with timers. Tests pass their own. */
export interface Clock {
  now(): number;
  /** Milliseconds since the epoch. This clock runs while the machine sleeps, and jumps when the time is set. */
  wallNow(): number;
  /** @param idle true when the timer must not keep the process alive @returns a function that cancels the timer */
  setTimer(callback: () => void, ms: number, idle?: boolean): () => void;
}

/** Costs and results of the subagents of a turn, a prompt or a session. */
export interface SubagentSummary {
  /** Rounds of runs that ended. */
  readonly runs: number;
  /** Milliseconds in which at least one of them was at work. `sumMs` adds up the time of all. */
  readonly wallMs: number;
  readonly sumMs: number;
  /** Input of their model calls with what the cache read and wrote, as servers counted it. */
  readonly tokensRead: number;
  /** Output of the replies whose text came back. */
  readonly tokensReturned: number;
  /** Task calls whose input was repaired, that got the result of an earlier run, and that were not started. */
  readonly repaired: number;
  readonly cached: number;
  readonly refused: number;
  readonly usage: Usage;
}
