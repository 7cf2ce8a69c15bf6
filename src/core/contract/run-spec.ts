/**
 * The order for a run. The run's record, the first line of its transcript, its start event and a queue job carry it.
 */
import type {WriteScope} from './fan-out.ts';
import type {Thinking} from './model.ts';
import type {NamedLimits} from './results.ts';
import type {Isolation, Where} from './worktree.ts';

type Cleanup = 'keep' | 'delete';

export interface RunSpec {
  readonly runId: string;
  /** The agent's name. */
  readonly agent: string;
  /** SHA-256 of the agent's definition in hex. Absent in transcripts of earlier versions. */
  readonly definition?: string | undefined;
  readonly description: string;
  /** The model's name. */
  readonly model: string;
  readonly background: boolean;
  readonly cleanup: Cleanup;
  readonly label?: string | undefined;
  /** Id of the call that dispatched the run. */
  readonly callId?: string | undefined;
  /** Tool whose call continues in the background. Such a run has no agent and receives no messages. */
  readonly tool?: string | undefined;
  /** Thinking level that the call asked for, in each round. */
  readonly thinking?: Thinking | undefined;
  /** The limits that the call named, for each round. */
  readonly limits?: NamedLimits | undefined;
  /** The only tools of its agent that the run has, in each round. */
  readonly onlyTools?: readonly string[] | undefined;
  /** The only files that the run may write, in each round. Present when the run is a part of a fan-out. */
  readonly scope?: WriteScope | undefined;
  /** With `worktree`, each round has its own worktree. */
  readonly isolation?: Isolation | undefined;
  /** Whether each round may or must work at a worker. Absent when it works here. */
  readonly where?: Exclude<Where, 'local'> | undefined;
}
