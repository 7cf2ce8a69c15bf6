/** Git worktrees for runs. `storage/worktrees/` implements them. */

/** With `worktree` the run works in a copy of the workspace, and its changes are brought back when it ends. */
export type Isolation = 'none' | 'worktree';

/** The machine where a run works. `auto` means at a worker when the pool of this machine is full. */
export const WHERE = ['local', 'workers', 'auto'] as const;
export type Where = (typeof WHERE)[number];

/** Name of the folder of a session that holds the worktrees of its runs. */
export const WORKTREES = 'worktrees';

export interface WorktreeOwner {
  readonly agentId: string;
  /** Name of the run in messages: `[code] refactor auth`. */
  readonly label: string;
}

/** All paths are absolute, with links resolved. */
export interface Worktree {
  /** Top folder of the copied repository. Nothing outside it may be written. */
  readonly top: string;
  /** The session's folder in the copy. It is below `top` when mini-cc was started in a subdirectory. */
  readonly root: string;
  /** Git's object folders outside the tree. Git in the tree must be able to read them. */
  readonly gitObjects: readonly string[];
  /** Lines for a person: what was not copied from the workspace, besides what git ignores. */
  readonly notes: readonly string[];
  /** Returns the file of the workspace of which this file is a copy, or undefined for a file outside the tree. */
  inWorkspace(file: string): string | undefined;
  /**
   * Brings the changes since the tree was opened back into the workspace, for every outcome of the run. Nothing is
   * dropped: changes that cannot be applied are saved as a patch, and changed files that git ignores are named.
   * @param written absolute paths of files that the run's tools wrote. They are brought back even if git ignores them.
   * @throws Error when the changes could not even be saved, e.g. on a full disk. The tree then stays.
   */
  bringBack(written: readonly string[]): Promise<BroughtBack>;
  /** Removes the tree in the background. Call it only after `bringBack`. */
  discard(): void;
  /** Leaves the tree as it is. The next start of mini-cc saves its changes as a patch. */
  abandon(): void;
}

export interface BroughtBack {
  /** Files of the workspace that were changed, created or deleted, as absolute paths. */
  readonly applied: readonly string[];
  /** Lines for a person about changes that were brought back in another way, or not at all. */
  readonly notes: readonly string[];
  readonly kept?: KeptChanges;
}

/** Changes that could not be applied to the workspace and were saved as a patch. */
export interface KeptChanges {
  readonly patch: string;
  /** Reason in a few words, for the receipt: `conflict in a.ts`. */
  readonly why: string;
  /** For the person who applies the patch: what prevents the change of each file, and the command to use. */
  readonly explanation: string;
}

export interface Worktrees {
  /**
   * Creates a tree with the files of the workspace as they are now, also uncommitted and untracked ones, but not
   * ignored ones.
   * @throws MiniCcError `WORKTREE` when no tree can be made; the signal's reason when aborted.
   */
  open(owner: WorktreeOwner, signal: AbortSignal): Promise<Worktree>;
  /** Resolves when all discarded trees are removed. Never rejects. */
  settled(): Promise<void>;
}
