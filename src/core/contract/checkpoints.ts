/**
 * Checkpoints save files before an agent changes them, so that changes can be shown and undone. `tool-calls.ts` takes
 * them for all tools; `storage/` implements them. Runs in a worktree need none.
 */

/** The agent that changes something. `label` is its name in messages: `main`, or `[code] refactor auth`. */
export interface Writer {
  readonly agentId: string;
  readonly label: string;
}

/** Result of work with a checkpoint around it. */
export interface CheckpointedWork<T> {
  readonly value: T;
  /** Comes later than `value`, since the workspace is compared while the model reads the result. Never rejects. */
  readonly compared: Promise<ChangesOfWork>;
}

/** The files that changed while work ran, as absolute paths. */
export interface ChangesOfWork {
  readonly changed: readonly string[];
  /** Files of `changed` that another agent may have changed, because its command ran at the same time. */
  readonly shared?: readonly string[];
  /** Reason why `changed` is unknown: no checkpoint could be taken. */
  readonly uncounted?: string;
}

/** All paths are absolute, with links resolved. */
export interface Checkpoints {
  /**
   * Saves the file. The caller may change the file when this has resolved.
   * @throws MiniCcError when the file cannot be saved. The caller must then not change it.
   */
  beforeWrite(by: Writer, path: string): Promise<void>;
  /** Records the change. Call it once for each `beforeWrite` that resolved. Never rejects. */
  afterWrite(by: Writer, path: string): Promise<void>;
  /**
   * Saves the workspace before and after work whose writes are not known beforehand. Writes and other such work that
   * begin later wait until it is saved. Rejects only if `work` does.
   * @param work starts at once, but must not change a file before `saved` has resolved, which never rejects
   */
  around<T>(by: Writer, work: (saved: Promise<void>) => Promise<T>): Promise<CheckpointedWork<T>>;
  /**
   * Prepares, so that the next `around` begins its work sooner. Its time depends on the size of the workspace.
   * @param isNext whether that `around` is the next thing that may write. The workspace is then saved now, which counts
   *   for `around` if it comes soon.
   */
  prepare(isNext?: boolean): void;
}
