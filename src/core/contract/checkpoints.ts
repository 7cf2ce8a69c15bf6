/**
 * Checkpoints save files before an agent changes them, so that changes can be shown and undone. `tool-calls.ts` takes
 * them for all tools; `storage/` implements them. Runs in a worktree need none.
 */

/** The agent that changes something. `label` is its name in messages: `main`, or `[code] refactor auth`. */
export interface Writer {
  readonly agentId: string;
  readonly label: string;
}

/** The result of work with a checkpoint around it, and the files that changed meanwhile, as absolute paths. */
export interface CheckpointedWork<T> {
  readonly value: T;
  readonly changed: readonly string[];
  /** The changed files that another agent may have changed, since its command ran at the same time. */
  readonly shared?: readonly string[];
  /** Why `changed` is unknown: no checkpoint could be taken. */
  readonly uncounted?: string;
}

/** All paths are absolute, with links resolved. */
export interface Checkpoints {
  /**
   * Saves the file. It may be changed when this has resolved.
   * @throws MiniCcError when it cannot be saved: then the file must not be changed.
   */
  beforeWrite(by: Writer, path: string): Promise<void>;
  /** Records the change. Call it once for each `beforeWrite` that resolved. Never rejects. */
  afterWrite(by: Writer, path: string): Promise<void>;
  /** Saves the workspace before and after work whose writes are not known beforehand. Rejects only if `work` does. */
  around<T>(by: Writer, work: () => Promise<T>): Promise<CheckpointedWork<T>>;
}
