/** Runs of subagents as the registry, the screen and the commands see them. The messages of a run are only on disk. */

import type {AccountPause, Usage} from './model.ts';
import type {Outcome, OutputStore, RunResult} from './results.ts';
import type {RunSpec} from './run-spec.ts';
import type {Journal, RestoredMessage, TranscriptEntry} from './transcript.ts';

/** `removed` means that the transcript of the run is archived. */
export type RunState = 'created' | 'processing' | 'stopping' | 'idle' | 'error' | 'stopped' | 'removed';
/** The registry's record of a run. Times are milliseconds since the epoch. */
export interface RunRecord extends RunSpec {
  readonly sessionId: string;
  /** Current path of the run's transcript. */
  readonly transcript: string;
  readonly state: RunState;
  readonly outcome?: Outcome;
  /** Reason why the run did not succeed. */
  readonly reason?: string;
  readonly receipt?: string;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Time of the run's last activity. */
  readonly lastAt: number;
  readonly lastTool?: string;
  /** Who stopped the run last: a person, or the main agent by `TaskStop`. */
  readonly stoppedBy?: 'user' | 'agent';
  /** File that receives the output of a command in the background. `lastLines` has its last lines. */
  readonly output?: string;
  readonly lastLines?: string;
  /** Worker that executes or executed the run, if it does not work here. */
  readonly worker?: string;
  /** Number of tool calls that ended. */
  readonly tools: number;
  readonly usage: Usage;
  /** `usage` by the model that answered, over all rounds. */
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** 1, plus one for each message that continued the run after its end. */
  readonly round: number;
  /**
   * Present when a background run has ended: whether its announcement is in the main agent's history. `skipped`: the
   * end had none.
   */
  readonly announcement?: 'waiting' | 'delivered' | 'skipped';
  /** True when the run was read from disk and has not worked in this process. */
  readonly restored: boolean;
  /** `partial` is the text of a run that did not end well. */
  readonly result?: Pick<RunResult, 'durationMs' | 'modelMs' | 'turns' | 'model' | 'warnings'> & {
    readonly partial?: string;
  };
}

export type EndEntry = Extract<TranscriptEntry, {type: 'end'}>;

/** A run as its transcript describes it. */
export interface StoredRun
  extends RunSpec,
    Pick<RunRecord, 'transcript' | 'createdAt' | 'lastAt' | 'round' | 'tools' | 'usage' | 'usageByModel' | 'lastTool'> {
  readonly archived: boolean;
  /** Present when the run was cut off while it waited for the end of a limit. */
  readonly pause?: AccountPause | undefined;
  /** Answer of the run. When it was cut off: all texts of its last round. */
  readonly text: string;
  /** Absent when the run was cut off. */
  readonly end?: EndEntry;
}

export interface OpenRun {
  readonly journal: Journal;
  readonly output: OutputStore;
  readonly transcript: string;
  /** Closes the file while the run waits. The next line opens it again. */
  park(): void;
  /** All lines are on the disk when this resolves. */
  close(): Promise<void>;
}

/** Opens and finds the transcripts of runs. `storage/` implements it. All calls are about the current session. */
export interface RunStore {
  readonly sessionId: string;
  create(spec: RunSpec): OpenRun;
  /** Opens the transcript of a run that continues. @throws MiniCcError when it is archived or deleted */
  reopen(runId: string): OpenRun & {readonly spec: RunSpec; readonly messages: readonly RestoredMessage[]};
  /** Lists all runs of the session, oldest first. */
  list(): readonly StoredRun[];
  /** Returns the lines of a run's transcript, archived or not. */
  read(runId: string): readonly TranscriptEntry[];
  /** Renames the run's transcript. @returns its new path */
  archive(runId: string): string;
}

/** What a run did, as the runtime saw it and not as the model says. */
export interface Receipt {
  readonly line: string;
  readonly filesRead: readonly string[];
  readonly filesChanged: readonly string[];
  /** True when no tool was called, so that nothing supports the answer. */
  readonly unverified: boolean;
}

/** The counts of subagents at one moment. */
export type SubagentMark = Readonly<Record<'rounds' | 'repaired' | 'cached' | 'refused', number>>;

export interface SubagentResult {
  readonly runId: string;
  readonly transcript: string;
  readonly result: RunResult;
  readonly receipt: Receipt;
  /** Text for the model that dispatched the run. */
  readonly report: string;
}
