/** Git worktrees for runs. `storage/worktrees/` implements them. */

/** `worktree`: the run works in a copy of the workspace, and its changes are brought back when it ends. */
export type Isolation = 'none' | 'worktree';

/** On which machine a run works. `auto`: at a worker when the pool of this one is full. */
export const WHERE = ['local', 'workers', 'auto'] as const;
export type Where = (typeof WHERE)[number];

/** The folder of a session that holds the worktrees of its runs. */
export const WORKTREES = 'worktrees';

/** The run that the worktree belongs to. */
export interface WorktreeOwner {
  readonly agentId: string;
  /** Its name in messages: `[code] refactor auth`. */
  readonly label: string;
}

/** All paths are absolute, with links resolved. */
export interface Worktree {
  /** The top folder of the copied repository. Nothing outside of it may be written. */
  readonly top: string;
  /** The session's folder within it: below `top` where mini-cc was started in a subdirectory. */
  readonly root: string;
  /** Git's object folders outside of the tree, which its git must be able to read. */
  readonly gitObjects: readonly string[];
  /** Lines for a person: what was not copied from the workspace, besides what git ignores. */
  readonly notes: readonly string[];
  /** The file of the workspace of which this file in the tree is a copy; undefined for a file that lies elsewhere. */
  inWorkspace(file: string): string | undefined;
  /**
   * Brings what was changed since it was opened back into the workspace, for every outcome of the run.
   * Nothing is dropped: what cannot be applied is saved as a patch, and what git ignores is named.
   * @param written files that the run's tools wrote, absolute: these are brought back even if git ignores them.
   * @throws Error when the changes could not even be saved, e.g. on a full disk: then the tree stays.
   */
  bringBack(written: readonly string[]): Promise<BroughtBack>;
  /** Removes the tree in the background. Call it only after `bringBack`. */
  discard(): void;
  /** Leaves the tree as it is. The next start of mini-cc saves its changes as a patch. */
  abandon(): void;
}

export interface BroughtBack {
  /** Files of the workspace that were changed, created or deleted, absolute. */
  readonly applied: readonly string[];
  /** Lines for a person about changes that were brought back in another way, or not. */
  readonly notes: readonly string[];
  readonly kept?: KeptChanges;
}

/** Changes that could not be applied to the workspace and were saved as a patch. */
export interface KeptChanges {
  readonly patch: string;
  /** The reason in a few words, for the receipt: `conflict in a.ts`. */
  readonly why: string;
  /** For the person who applies the patch: what stands in the way of each file, and the command to use. */
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
