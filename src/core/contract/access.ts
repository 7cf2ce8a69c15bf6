/** What a call touches, where an agent works, and how its processes are confined. */

/** What a call wants to touch, for permissions and for what may run side by side. */
export type Access =
  | {readonly kind: 'read'; readonly path: string}
  | {readonly kind: 'write'; readonly path: string; readonly preview?: string}
  | {
      readonly kind: 'run';
      readonly command: string;
      /** The call asks to run outside of the sandbox that otherwise confines the agent's commands. */
      readonly unconfined?: boolean;
    }
  /** A request to a server on the network; `host` is a name or an IP address, without port. */
  | {readonly kind: 'fetch'; readonly host: string; readonly url: string}
  | {readonly kind: 'dispatch'; readonly agent: string}
  /** Touches nothing outside the agent itself. */
  | {readonly kind: 'none'};

/**
 * How the operating system confines the processes that an agent starts.
 * `worktree`: they write only in the agent's own git worktree, in every mode.
 */
export type Confinement = 'none' | 'read-only' | 'workspace-write' | 'worktree';

/** Where an agent works. `cwd` moves with its `cd`. */
export interface Workspace {
  /** The directory that the session was started for, with links resolved. */
  readonly root: string;
  /** Further directories, by `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** Directories elsewhere that confined commands must be able to read, such as the git objects that a worktree uses. */
  readonly seen?: readonly string[];
  cwd: string;
  /** Changes with the mode: plan mode confines all agents. */
  readonly confinement: Confinement;
  /** The environment of processes, without keys. */
  readonly env: Readonly<Record<string, string>>;
}
