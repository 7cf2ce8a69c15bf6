/** What one access is judged by: who wants it, and which rules, modes and places count there. */
import type {Confinement, Workspace} from '../contract/access.ts';
import type {PermissionMode} from '../contract/events.ts';
import type {PermissionPlaces} from './files/file-zone.ts';
import type {RuleBook} from './rules/rule-book.ts';

/** The permissions of one agent, beside those of the session. */
export interface AgentPermissions {
  /** The mode that its definition names. */
  readonly mode?: PermissionMode;
  /** It never asks: what it may not do is refused. */
  readonly readOnly?: boolean;
  /** A sandbox works here. */
  readonly sandboxAvailable: () => Promise<boolean>;
}

export interface PermissionContext {
  readonly tool: string;
  readonly workspace: Workspace;
  /** The agent's mode as it counts now. */
  readonly mode: PermissionMode;
  /** From the workspace and from plan mode. */
  readonly confinement: Confinement;
  readonly neverAsks: boolean;
  readonly sandboxAvailable: () => Promise<boolean>;
  readonly rules: RuleBook;
  /** The person allowed calls like this one for the session. */
  readonly isGranted: (grant: string) => boolean;
  readonly places: PermissionPlaces;
}
