/** What a call touches, where an agent works, and how its processes are confined. */

/** What a call wants to touch, for permissions and for what may run side by side. */
export type Access =
  | {readonly kind: 'read'; readonly path: string}
  | {readonly kind: 'write'; readonly path: string; readonly preview?: string}
  | {
      readonly kind: 'run';
      readonly command: string;
      /** Asks to run outside of the sandbox that otherwise holds the agent's commands. */
      readonly unconfined?: boolean;
    }
  /** Asks a server of the network; `host` is a name or an address, without port. */
  | {readonly kind: 'fetch'; readonly host: string; readonly url: string}
  | {readonly kind: 'dispatch'; readonly agent: string}
  /** Touches nothing outside the agent itself. */
  | {readonly kind: 'none'};

/**
 * How the operating system holds the processes that an agent starts, see `confinement.ts`.
 * `worktree`: writes stay in a git worktree of its own, in every mode.
 */
export type Confinement = 'none' | 'read-only' | 'workspace-write' | 'worktree';

/** Where an agent works. `cwd` moves with its `cd`. */
export interface Workspace {
  /** The directory that the session was started for, with links resolved. */
  readonly root: string;
  /** Further directories, by `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** Directories elsewhere that held commands must be able to read, such as what a worktree's git borrows from. */
  readonly seen?: readonly string[];
  cwd: string;
  /** Live: in plan mode everybody is held. */
  readonly confinement: Confinement;
  /** The environment of processes: without keys. */
  readonly env: Readonly<Record<string, string>>;
}
