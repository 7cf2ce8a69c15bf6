/** Runs of subagents as the registry, the screen and the commands know them. Their messages are only on disk. */

import type {Usage} from './model.ts';
import type {Outcome, OutputStore, RunResult} from './results.ts';
import type {RunSpec} from './run-spec.ts';
import type {Journal, RestoredMessage, TranscriptEntry} from './transcript.ts';

/** `removed`: its transcript is archived. */
export type RunState = 'created' | 'processing' | 'stopping' | 'idle' | 'error' | 'stopped' | 'removed';
/** What became of a run. Times are milliseconds since the epoch. */
export interface RunRecord extends RunSpec {
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
export interface StoredRun
  extends RunSpec,
    Pick<RunRecord, 'transcript' | 'createdAt' | 'lastAt' | 'round' | 'tools' | 'usage' | 'usageByModel'> {
  readonly archived: boolean;
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
  create(spec: RunSpec): OpenRun;
  /** Opens the transcript of a run that continues. @throws MiniCcError when it is archived or was deleted. */
  reopen(runId: string): OpenRun & {readonly spec: RunSpec; readonly messages: readonly RestoredMessage[]};
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
