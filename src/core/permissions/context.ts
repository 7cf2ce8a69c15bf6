/** The context in which one access is judged: the agent that asks, and the rules, modes and paths that count for it. */
import type {PermissionMode} from '../contract/events.ts';
import type {Confinement, Workspace} from '../contract/permission.ts';
import type {ZonePaths} from './files/file-zone.ts';
import type {RuleBook} from './rules/rule-book.ts';

/** The permissions of one agent, beside those of the session. */
export interface AgentPermissions {
  /** The mode that its definition names. */
  readonly mode?: PermissionMode;
  /** The agent never asks: what is not allowed is refused. */
  readonly readOnly?: boolean;
  readonly sandbox: PermissionSandbox;
}

/** What permissions need to know of the sandbox. */
export interface PermissionSandbox {
  /** Whether one works here. */
  available(): Promise<boolean>;
  /** The user says that mini-cc runs in a container which confines it: it stands for a sandbox that does not work here. */
  readonly isContainer?: boolean;
  /**
   * Whether a confined command of this workspace finds at this path what is there outside.
   * @param place absolute, with links resolved
   */
  isVisible(place: string, workspace: Workspace): boolean;
  /** Whether a confined command gets this variable of the environment. */
  keepsVariable(name: string, value: string): boolean;
}

export interface PermissionContext {
  readonly tool: string;
  readonly workspace: Workspace;
  /** The agent's mode, from its definition and the mode of the session. */
  readonly mode: PermissionMode;
  /** From the workspace and from plan mode. */
  readonly confinement: Confinement;
  readonly neverAsks: boolean;
  readonly sandbox: PermissionSandbox;
  readonly rules: RuleBook;
  /** Whether the person allowed calls like this one for the session. */
  readonly isGranted: (grant: string) => boolean;
  readonly zonePaths: ZonePaths;
}
