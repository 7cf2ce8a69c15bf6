/**
 * Lets many writes run at the same time, but a snapshot only alone, so that no snapshot sees half a write. Both start
 * in the order in which they were requested.
 */
export class SnapshotLock {
  /** Resolves when the last requested exclusive work has ended. */
  #exclusive: Promise<unknown> = Promise.resolve();
  readonly #writes = new Set<Promise<void>>();

  /**
   * Waits for exclusive work that was requested before, then starts a write.
   * @param isNested true when the caller already has an open write, because it would wait for itself
   * @returns a function that ends the write; it must be called
   */
  async startWrite(isNested: boolean): Promise<() => void> {
    for (let before: Promise<unknown> | undefined; !isNested && before !== this.#exclusive; ) {
      before = this.#exclusive;
      await before;
    }
    const {promise: write, resolve} = Promise.withResolvers<void>();
    this.#writes.add(write);
    return () => {
      this.#writes.delete(write);
      resolve();
    };
  }

  /** Runs work while no write and no other exclusive work runs. @throws the errors of `work` */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#exclusive.then(async () => {
      await Promise.all(this.#writes);
      return work();
    });
    // The caller gets the error. Others that wait here only need to know the end.
    this.#exclusive = done.catch(() => undefined);
    return done;
  }
}
