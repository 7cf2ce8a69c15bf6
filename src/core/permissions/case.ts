/** One access to be judged: who wants it, and what holds there. */

import type {Confinement, Workspace} from '../contract/access.ts';
import type {PermissionMode} from '../contract/events.ts';
import type {PermissionPlaces} from './files/file-zone.ts';
import type {RuleBook} from './rules/rule-book.ts';

/** How an agent stands in the session. */
export interface Standing {
  /** Its definition's own mode. */
  readonly mode?: PermissionMode;
  /** It never asks: what it may not do is refused. */
  readonly readOnly?: boolean;
  /** Commands can be held by the operating system here. */
  readonly sandboxAvailable: () => Promise<boolean>;
}

export interface Case {
  readonly tool: string;
  readonly workspace: Workspace;
  /** The agent's, as it counts now. */
  readonly mode: PermissionMode;
  /** Of the workspace, and of plan mode. */
  readonly confinement: Confinement;
  readonly neverAsks: boolean;
  readonly sandboxAvailable: () => Promise<boolean>;
  readonly rules: RuleBook;
  /** Something like this was granted for the session. */
  readonly isGranted: (grant: string) => boolean;
  readonly places: PermissionPlaces;
}
