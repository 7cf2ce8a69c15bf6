/** A git worktree of a run's own, as the core sees it; `storage/worktrees/` makes it. */

/** `worktree`: a run works in a copy of the workspace, and what it changed comes back at its end. */
export type Isolation = 'none' | 'worktree';

/** The folder of a session that holds the worktrees of its runs. */
export const WORKTREES = 'worktrees';

/** Whose changes they are. */
export interface WorktreeOwner {
  readonly agentId: string;
  /** As messages name it: `[code] refactor auth`. */
  readonly label: string;
}

/** All paths are absolute, with links resolved. */
export interface Worktree {
  /** The top of the copied repository: nothing above it may be written. */
  readonly top: string;
  /** The session's folder within it: below `top` where mini-cc was started in a subdirectory. */
  readonly root: string;
  /** What its git borrows from, to be read only. */
  readonly seen: readonly string[];
  /** Lines for a person: what of the workspace is not there, beside what git ignores. */
  readonly notes: readonly string[];
  /** The file of the workspace of which this file in the tree is a copy; undefined for a file that lies elsewhere. */
  inWorkspace(file: string): string | undefined;
  /**
   * Brings what was changed since it was opened back into the workspace, for every outcome of the run.
   * Nothing is dropped: what cannot be applied is kept as a patch; what git ignores is named.
   * @param written by the run's tools, absolute: these come back though git ignores them.
   * @throws Error when the changes could not even be kept, e.g. on a full disk: then the tree stays.
   */
  bringBack(written: readonly string[]): Promise<BroughtBack>;
  /** Removes the tree in the background. Call it only after `bringBack`. */
  discard(): void;
  /** The tree stays as it is: the next mini-cc keeps its changes as a patch. */
  abandon(): void;
}

export interface BroughtBack {
  /** Files of the workspace that were changed, made or removed, absolute. */
  readonly applied: readonly string[];
  /** Lines about what came back in another way. */
  readonly notes: readonly string[];
  readonly kept?: KeptChanges;
}

/** Changes that are in no file of the workspace. */
export interface KeptChanges {
  readonly patch: string;
  /** In a few words, for the receipt: `conflict in a.ts`. */
  readonly why: string;
  /** For the person who applies the patch: what stands in the way of each file, and the command to use. */
  readonly explanation: string;
}

export interface Worktrees {
  /**
   * A tree with the workspace's files as they are now, uncommitted and untracked ones too; ignored ones are left out.
   * @throws MiniCcError `WORKTREE` when there can be none, and the reason of the signal when it was aborted.
   */
  open(owner: WorktreeOwner, signal: AbortSignal): Promise<Worktree>;
  /** Resolves when all discarded trees are removed. Never rejects. */
  settled(): Promise<void>;
}
