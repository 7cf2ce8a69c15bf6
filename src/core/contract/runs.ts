/** Runs of subagents as the registry, the screen and the commands know them. Their messages are only on disk. */

import type {WriteScope} from './fan-out.ts';
import type {Thinking, Usage} from './model.ts';
import type {NamedLimits, Outcome, OutputStore, RunResult} from './results.ts';
import type {Journal, RestoredMessage, TranscriptEntry} from './transcript.ts';
import type {Isolation, Where} from './worktree.ts';

/** `removed`: its transcript is archived. */
export type RunState = 'created' | 'processing' | 'stopping' | 'idle' | 'error' | 'stopped' | 'removed';
export type Cleanup = 'keep' | 'delete';

/** What is known of a run when it is dispatched. It is in the first line of the run's transcript. */
export interface RunHeader {
  readonly runId: string;
  readonly agent: string;
  readonly description: string;
  /** Name of the model. */
  readonly model: string;
  readonly background: boolean;
  readonly cleanup: Cleanup;
  readonly label?: string;
  /** The call that dispatched it. */
  readonly callId?: string;
  /** It is a call of this tool that goes on in the background, and no agent: it takes no messages. */
  readonly tool?: string;
  /** How much the call wants its model to think, in each round. */
  readonly thinking?: Thinking;
  /** The limits that the call named, for each round. */
  readonly limits?: NamedLimits;
  /** The run has only these of its agent's tools, in each round. */
  readonly onlyTools?: readonly string[];
  /** The run is a part of a fan-out: it may write only these files, in each round. */
  readonly scope?: WriteScope;
  /** Each round has a worktree of its own. */
  readonly isolation?: Isolation;
  /** Each round may or must work at a worker. Absent: it works here. */
  readonly where?: Exclude<Where, 'local'>;
}

/** Times are milliseconds since the epoch. */
export interface RunRecord extends RunHeader {
  readonly sessionId: string;
  /** Where its transcript is now. */
  readonly transcript: string;
  readonly state: RunState;
  readonly outcome?: Outcome;
  /** Why it did not succeed. */
  readonly reason?: string;
  readonly receipt?: string;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** When it last did something. */
  readonly lastAt: number;
  readonly lastTool?: string;
  /** Who stopped it last: a person, or the main agent by `TaskStop`. */
  readonly stoppedBy?: 'user' | 'agent';
  /** Of a command in the background: the file that its output goes to, and its last lines. */
  readonly output?: string;
  readonly lastLines?: string;
  /** The worker that has it, or had it, where it does not work here. */
  readonly worker?: string;
  /** Tool calls that ended. */
  readonly tools: number;
  readonly usage: Usage;
  /** The same by the model that answered. Of all rounds. */
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** 1, plus one for each message that made it continue after its end. */
  readonly round: number;
  /** Of an ended background run: whether its announcement is in the main agent's history. `skipped`: it had none. */
  readonly announcement?: 'waiting' | 'delivered' | 'skipped';
  /** It was read from disk and has not worked in this process. */
  readonly restored: boolean;
  readonly result?: Pick<RunResult, 'durationMs' | 'modelMs' | 'turns' | 'warnings'>;
}

export type EndEntry = Extract<TranscriptEntry, {type: 'end'}>;

/** A run as its transcript describes it. */
export interface StoredRun extends RunHeader {
  readonly transcript: string;
  readonly archived: boolean;
  readonly createdAt: number;
  readonly lastAt: number;
  readonly round: number;
  readonly tools: number;
  readonly usage: Usage;
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Its last text. */
  readonly text: string;
  /** Absent when the run was cut off. */
  readonly end?: EndEntry;
}

export interface OpenRun {
  readonly journal: Journal;
  readonly output: OutputStore;
  readonly transcript: string;
  /** Closes the file while the run waits; the next line opens it again. */
  park(): void;
  /** All lines are on the disk when this resolves. */
  close(): Promise<void>;
}

/**
 * Opens the transcript of a run, and finds it again; `storage/` implements it. All calls are about the current session.
 */
export interface RunStore {
  readonly sessionId: string;
  create(header: RunHeader): OpenRun;
  /** Opens the transcript of a run that continues. @throws MiniCcError when it is archived or was deleted. */
  reopen(runId: string): OpenRun & {readonly messages: readonly RestoredMessage[]};
  /** All runs of the session, oldest first. */
  list(): readonly StoredRun[];
  /** The lines of a run's transcript, archived or not. */
  read(runId: string): readonly TranscriptEntry[];
  /** Renames the run's transcript. @returns its new path. */
  archive(runId: string): string;
}

/** What a run did, as the runtime saw it, never as the model says. */
export interface Receipt {
  readonly line: string;
  readonly filesRead: readonly string[];
  readonly filesChanged: readonly string[];
  /** No tool was called, so nothing supports the answer. */
  readonly unverified: boolean;
}

export interface SubagentResult {
  readonly runId: string;
  readonly transcript: string;
  readonly result: RunResult;
  readonly receipt: Receipt;
  /** What the model that dispatched the run reads. */
  readonly report: string;
}
