/**
 * Runs that work at a worker, on another machine. The manager keeps their records, limits and ends as it does for all
 * others: only the turns are made elsewhere. `workers/` implements `RemoteRuns` over a queue.
 */
import type {AgentDefinition} from '../agent-types.ts';
import type {AgentEventBody, PermissionMode} from '../contract/events.ts';
import type {Message} from '../contract/model.ts';
import type {RunLimits, RunResult} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {TranscriptEntry} from '../contract/transcript.ts';
import type {BroughtBack, Isolation, Where} from '../contract/worktree.ts';
import type {QueuedMessage} from '../turn/inbox.ts';
import {MiniCcError} from '../util/errors.ts';

/** What the session's rules and mode allow a run, besides what the worker's own settings allow. */
export interface RemotePermissions {
  readonly mode: PermissionMode;
  /** Rules that refuse, and those that ask: there is no person to ask. */
  readonly deny: readonly string[];
  /** Rules that allow edits of files. */
  readonly edits: readonly string[];
}

export interface RemoteTask {
  readonly spec: RunSpec;
  readonly round: number;
  readonly agent: AgentDefinition;
  readonly prompt: string;
  readonly limits: RunLimits;
  /** The conversation before the prompt. */
  readonly messages: readonly Message[];
  readonly permissions: RemotePermissions;
}

/** What the manager hears of a run at a worker, and says to it. */
export interface RemoteWatch {
  readonly label: string;
  /** Aborted: the run is stopped there. With the reason `close` it is left, and found again at the next start. */
  readonly signal: AbortSignal;
  /** A worker has it. Called again when another one takes it over. */
  begun(worker: string): void;
  event(event: AgentEventBody): void;
  /** The run has read this message. */
  delivered(id: string): void;
  /** Calls the listener with each message that waits for the run, those of before too. */
  onMessage(listener: (message: QueuedMessage) => void): void;
}

export interface RemoteEnd {
  /** With paths of this workspace. */
  readonly result: RunResult;
  /** The lines that its transcript gets. */
  readonly entries: readonly TranscriptEntry[];
  readonly brought: BroughtBack;
  /** Its end is on disk here: nothing of it need be kept elsewhere. */
  acknowledge(): Promise<void>;
}

export interface RemoteRuns {
  /** The settings name a queue. Without one, runs that were left at workers are known, and nothing else. */
  readonly isConfigured: boolean;
  /** Whether a worker could take a run now. Never rejects. */
  isServed(): Promise<boolean>;
  /** Runs a round at a worker. @returns undefined when the run was left there. @throws MiniCcError when it cannot be given away */
  run(task: RemoteTask, watch: RemoteWatch): Promise<RemoteEnd | undefined>;
  /** The run of an earlier process goes on at a worker, or its end waits. */
  isPending(runId: string): boolean;
  /** Waits for the end of a pending run. @returns undefined when it cannot be followed now, and is left there */
  resume(runId: string, watch: RemoteWatch): Promise<RemoteEnd | undefined>;
}

/**
 * Where a run is to work, and whether that is possible.
 * @throws MiniCcError `WHERE` when it must work at a worker and cannot
 */
export function chooseWhere(
  asked: Where | undefined,
  isolation: Isolation,
  remote: RemoteRuns | undefined,
): Exclude<Where, 'local'> | undefined {
  if (asked === undefined || asked === 'local') return undefined;
  if (asked === 'auto') return remote?.isConfigured && isolation === 'worktree' ? 'auto' : undefined;
  if (!remote?.isConfigured) {
    throw new MiniCcError(
      'WHERE',
      'where: "workers" needs the setting subagents.queue, the address of a queue: {"subagents": {"queue": {"url": "redis://…", "secretEnv": "…"}}}',
    );
  }
  if (isolation !== 'worktree') throw new MiniCcError('WHERE', 'where: "workers" needs isolation: "worktree"');
  return 'workers';
}
