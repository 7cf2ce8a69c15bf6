/** What was asked of a run. Its record, the first line of its transcript, its start event and a queue job carry it whole. */
import type {WriteScope} from './fan-out.ts';
import type {Thinking} from './model.ts';
import type {NamedLimits} from './results.ts';
import type {Isolation, Where} from './worktree.ts';

type Cleanup = 'keep' | 'delete';

export interface RunSpec {
  readonly runId: string;
  /** The agent's name. */
  readonly agent: string;
  readonly description: string;
  /** The model's name. */
  readonly model: string;
  readonly background: boolean;
  readonly cleanup: Cleanup;
  readonly label?: string | undefined;
  /** The call that dispatched it. */
  readonly callId?: string | undefined;
  /** The tool whose call goes on in the background. Such a run has no agent and takes no messages. */
  readonly tool?: string | undefined;
  /** How much the call wants its model to think, in each round. */
  readonly thinking?: Thinking | undefined;
  /** The limits that the call named, for each round. */
  readonly limits?: NamedLimits | undefined;
  /** The run has only these of its agent's tools, in each round. */
  readonly onlyTools?: readonly string[] | undefined;
  /** The run is a part of a fan-out: it may write only these files, in each round. */
  readonly scope?: WriteScope | undefined;
  /** With `worktree`, each round has a worktree of its own. */
  readonly isolation?: Isolation | undefined;
  /** Each round may or must work at a worker. Absent: it works here. */
  readonly where?: Exclude<Where, 'local'> | undefined;
}
