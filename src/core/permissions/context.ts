/**
 * Defines the context in which one access is judged: the agent that asks, and the rules, modes and paths that apply to
 * it.
 */
import type {PermissionMode} from '../contract/events.ts';
import type {Confinement, Workspace} from '../contract/permission.ts';
import type {ZonePaths} from './files/file-zone.ts';
import type {RuleBook} from './rules/rule-book.ts';

export interface AgentPermissions {
  /** Mode that the agent's definition names. */
  readonly mode?: PermissionMode | undefined;
  /** When true, the agent never asks: calls that are not allowed are refused. */
  readonly readOnly?: boolean | undefined;
  readonly sandbox: PermissionSandbox;
}

/** What permissions need to know of the sandbox. */
export interface PermissionSandbox {
  /** Whether a sandbox works here. */
  available(): Promise<boolean>;
  /**
   * The user states that mini-cc runs in a container that confines it. The container counts as a sandbox where none
   * works.
   */
  readonly isContainer?: boolean;
  /**
   * Returns whether a confined command of this workspace sees the same file at a path as an unconfined one. What it sees is
   * found once, for all paths of one command.
   */
  visibleIn(workspace: Workspace): Visibility;
  /** Whether a confined command receives this environment variable. */
  keepsVariable(name: string, value: string): boolean;
}

/** @param place absolute, with links resolved */
type Visibility = (place: string) => boolean;

export interface PermissionContext {
  readonly tool: string;
  readonly workspace: Workspace;
  /** Mode of the agent, derived from its definition and the mode of the session. */
  readonly mode: PermissionMode;
  /** Derived from the workspace and from plan mode. */
  readonly confinement: Confinement;
  readonly neverAsks: boolean;
  readonly sandbox: PermissionSandbox;
  readonly rules: RuleBook;
  /** Whether the person allowed calls like this one for the session. */
  readonly isGranted: (grant: string) => boolean;
  readonly zonePaths: ZonePaths;
}
