/**
 * Describes runs at a worker on another machine. The manager handles their records, limits and ends like those of all
 * other runs; only the turns are made at the worker. `workers/` implements `RemoteRuns` over a queue.
 */
import type {AgentDefinition} from '../agent-types.ts';
import type {AgentEventBody, PermissionMode} from '../contract/events.ts';
import type {Message} from '../contract/model.ts';
import type {RunLimits, RunResult} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {CallSize, Reservation} from '../contract/tool.ts';
import type {TranscriptEntry, UsedSoFar} from '../contract/transcript.ts';
import type {BroughtBack, Isolation, Where} from '../contract/worktree.ts';
import type {QueuedMessage} from '../turn/inbox.ts';
import {MiniCcError} from '../util/errors.ts';

/** Permissions that the session's rules and mode give a run, besides those in the worker's own settings. */
export interface RemotePermissions {
  readonly mode: PermissionMode;
  /** Rules that deny or ask. Both refuse at a worker, because there is no person to ask. */
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
  /** Conversation before the prompt. */
  readonly messages: readonly Message[];
  readonly permissions: RemotePermissions;
  /** Whether the worker must reserve in the session's budgets what each call can cost. */
  readonly isBudgeted: boolean;
}

/** The answer to a reservation of a worker. `limit` names what the call does not fit into. */
export type RemoteReservation = Pick<Reservation, 'inputTokens' | 'maxOutputTokens'> | {readonly limit: string};

/** Connects the manager with a run at a worker: what the manager receives from it, and what it sends to it. */
export interface RemoteWatch {
  readonly label: string;
  /**
   * An abort stops the run at the worker. With the reason `close` the run is left there and found again at the next
   * start.
   */
  readonly signal: AbortSignal;
  /** Called when a worker starts the run, and again when another worker takes it over. */
  begun(worker: string): void;
  event(event: AgentEventBody): void;
  /** Reserves what a call of the run can cost. Never rejects. @returns undefined when the run ended meanwhile */
  reserve(id: string, call: CallSize): Promise<RemoteReservation | undefined>;
  /** Spends what the call used, and gives the rest back. */
  release(id: string, used: readonly UsedSoFar[]): void;
  /** Called when the run has read this message. */
  delivered(id: string): void;
  /** Calls the listener with each message that waits for the run, including earlier ones. */
  onMessage(listener: (message: QueuedMessage) => void): void;
}

export interface RemoteEnd {
  /** Result with paths of this workspace. */
  readonly result: RunResult;
  readonly entries: readonly TranscriptEntry[];
  readonly brought: BroughtBack;
  /** Confirms that the end is on disk here, so that other copies of it may be deleted. */
  acknowledge(): Promise<void>;
}

export interface RemoteRuns {
  /** Whether the settings name a queue. Without one, only runs that were left at workers are known. */
  readonly isConfigured: boolean;
  /** Whether a worker could take a run now. Never rejects. */
  isServed(): Promise<boolean>;
  /**
   * Runs a round at a worker. @returns undefined when the run was left there. @throws MiniCcError when no worker can
   * get it
   */
  run(task: RemoteTask, watch: RemoteWatch): Promise<RemoteEnd | undefined>;
  /** Whether a run of an earlier process continues at a worker, or its end waits there. */
  isPending(runId: string): boolean;
  /**
   * Waits for the end of a pending run. @returns undefined when the run cannot be followed at present and is left there
   */
  resume(runId: string, watch: RemoteWatch): Promise<RemoteEnd | undefined>;
}

/** Decides where a run is to work. @throws MiniCcError `WHERE` when it must work at a worker and cannot */
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
