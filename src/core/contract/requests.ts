/**
 * What a front end can ask of a session besides prompts and answers: one map from a request's name to its parameters and
 * its answer. Slash commands and the control requests of drivers are two spellings of these.
 *
 * To add one, write its line here and its handler in `session/requests.ts`. Thinking, usage, context and MCP state come
 * here once the session has them.
 */
import type {PermissionMode} from './events.ts';
import type {PromptContent} from './messages.ts';
import type {Denial, PermissionState} from './permission.ts';
import type {RunRecord, SubagentResult} from './runs.ts';
import type {TranscriptEntry} from './transcript.ts';

/** `run` names a subagent run: its id or the beginning of it, its transcript, or its number in the list, 1 is the newest. */
export interface Requests {
  /** @throws UsageError when the name cannot be used. */
  set_model(request: {readonly model: string}): ModelInUse;
  /** For all agents of the session, at once. */
  set_permission_mode(request: {readonly mode: PermissionMode}): void;
  /** The mode, the rules and what was granted. */
  permissions(): PermissionState;
  /** Calls that were refused so far, where no person can be asked. */
  denials(): readonly Denial[];

  /** All runs of the session, oldest first. */
  runs(): readonly RunRecord[];
  /** @throws MiniCcError for a name that is unknown. All requests with a `run` throw it. */
  run(request: {readonly run: string}): RunDetails;
  /** The lines of the run's transcript, archived or not. */
  read_run(request: {readonly run: string}): readonly TranscriptEntry[];
  /** Runs a subagent to its end. A failure is an outcome. @throws UsageError for an unknown agent or tool. */
  spawn_run(request: SpawnRun): Promise<SubagentResult>;
  /** Gives a run at work a message for its next turn; lets one that has ended go on, in the background. */
  send_to_run(request: {readonly run: string; readonly message: string}): 'queued' | 'resumed';
  /** Ends one run, or all: for good, with what they have. @returns those that were at work. */
  stop_runs(request: {readonly run?: string}): Promise<readonly RunRecord[]>;
  /** Sends one awaited run, or all, to the background. @returns those that went. */
  detach_runs(request: {readonly run?: string}): readonly RunRecord[];
  /** Resolves when no run is at work, also none that began meanwhile. */
  wait_for_runs(): Promise<void>;
  diff_run(request: {readonly run: string}): Promise<RunDiff>;
  /** Puts back what a run changed, unless it changed since. @throws MiniCcError while the run is at work. */
  undo_run(request: {readonly run: string}): Promise<RunUndone>;

  /** Ends the turn and every run started from it, and drops the queue. The session stays. */
  stop(): Promise<Stopped>;
  /** Takes back a queued message. @returns what it was; undefined when it does not wait any more. */
  take_back(request: {readonly id: string}): PromptContent | undefined;
  /** Begins a new conversation. @returns the old one's id; its transcript stays. */
  clear(): Promise<{readonly previous: string}>;
  /** The prompts to which `rewind` can go back, newest first. @throws MiniCcError while something is at work. */
  rewind_points(): readonly RewindPoint[];
  /** Takes the conversation, the files or both back to before a prompt. @throws MiniCcError while something is at work. */
  rewind(request: {readonly to: string; readonly what: RewindScope}): Promise<Rewound>;

  /** The text without the values of known keys: for what a front end shows or stores besides events and answers. */
  redact(request: {readonly text: string}): string;
}

export type RequestName = keyof Requests;

/** For example `{type: 'set_model', model: 'haiku'}`. */
export type Request<N extends RequestName = RequestName> = {readonly type: N} & (Parameters<Requests[N]> extends [
  infer Parameters,
]
  ? Parameters
  : unknown);

/** Plain data without known keys; a promise of it where the answer takes time. */
export type RequestAnswer<N extends RequestName> = ReturnType<Requests[N]>;

export interface ModelInUse {
  readonly model: string;
  /** The built-in model answers. Without a key and a server it stays, also when another name was asked for. */
  readonly offline: boolean;
}

export interface RunDetails {
  readonly record: RunRecord;
  /** Milliseconds since the epoch; absent while it is at work, when it is archived, and when it never will be. */
  readonly archiveAt?: number;
}

export interface SpawnRun {
  /** Default: a new id. */
  readonly runId?: string;
  readonly agent: string;
  readonly description: string;
  readonly prompt: string;
  /** Only these of the agent's tools. */
  readonly tools?: readonly string[];
  readonly timeoutSeconds?: number;
}

/** What checkpoints cannot tell about the commands that ran. */
export interface CheckpointGaps {
  /** Why it is not known what some commands changed. */
  readonly reasons: readonly string[];
  /** Absent when no command ran. Folders and files that checkpoints leave out, besides ignored ones. */
  readonly leftOut?: readonly string[];
}

export interface RunDiff {
  readonly record: RunRecord;
  readonly files: number;
  /** As `git diff` writes them, one for each stretch of changes to a file. */
  readonly patches: readonly string[];
  readonly gaps: CheckpointGaps;
}

export interface RestoredFiles {
  readonly restored: readonly {readonly path: string; readonly how: 'put back' | 'removed' | 'brought back'}[];
  /** Nothing was done to these. */
  readonly left: readonly {readonly path: string; readonly why: string}[];
  readonly gaps: CheckpointGaps;
}

export interface RunUndone extends RestoredFiles {
  readonly record: RunRecord;
}

export interface Stopped {
  /** A turn or a run was at work. */
  readonly wasBusy: boolean;
  /** Runs that were at work. */
  readonly runs: number;
}

/** A prompt in the transcript. */
export interface RewindPoint {
  /** Of its line. */
  readonly uuid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  /** Messages before it. */
  readonly kept: number;
  /** Messages from it on. */
  readonly dropped: number;
}

export type RewindScope = 'conversation' | 'files' | 'both';

export interface Rewound {
  readonly point: RewindPoint;
  /** Absent where only the conversation went back. */
  readonly files?: RestoredFiles;
}
