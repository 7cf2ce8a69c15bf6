/**
 * What was there before an agent changed it. The caller of tools keeps it, once for all tools; `storage/` knows how.
 * Not used for runs in a worktree of their own.
 */

/** The agent that changes something. `label` is how people know it: `main`, or `[code] refactor auth`. */
export interface Writer {
  readonly agentId: string;
  readonly label: string;
}

export interface Observed<T> {
  readonly value: T;
  /** Files that changed meanwhile, and that the work may have changed: absolute paths. */
  readonly changed: readonly string[];
  /** Those of them that another agent may have changed, whose command was at work at the same time. */
  readonly shared?: readonly string[];
  /** Why `changed` says nothing: no checkpoint could be taken. */
  readonly uncounted?: string;
}

/** Paths are absolute, their links resolved. */
export interface Checkpoints {
  /**
   * Keeps what is at `path` until `afterWrite`; the file may be changed once this has resolved.
   * @throws MiniCcError when it cannot be kept: then the file must not be changed.
   */
  beforeWrite(by: Writer, path: string): Promise<void>;
  /** Notes what came of it. To be called once for each `beforeWrite` that resolved. Never rejects. */
  afterWrite(by: Writer, path: string): Promise<void>;
  /** Keeps the workspace around work whose writes are not known beforehand. Rejects only with what `work` rejects. */
  around<T>(by: Writer, work: () => Promise<T>): Promise<Observed<T>>;
}

/** Keeps nothing, and says so. */
export const NO_CHECKPOINTS: Checkpoints = {
  beforeWrite: async () => undefined,
  afterWrite: async () => undefined,
  around: async (_by, work) => ({value: await work(), changed: [], uncounted: 'no checkpoints are kept here'}),
};
