/** Writes go side by side; a snapshot goes alone, so that no write is seen half. First come, first served. */

export class Gate {
  /** Resolves when all that must come before a write has ended. */
  #exclusive: Promise<unknown> = Promise.resolve();
  readonly #writes = new Set<Promise<void>>();

  /**
   * @param isInside whoever asks has a write open already: to wait would be to wait for itself.
   * @returns what ends the write; it must be called.
   */
  async enter(isInside = false): Promise<() => void> {
    for (let before: Promise<unknown> | undefined; !isInside && before !== this.#exclusive; ) {
      before = this.#exclusive;
      await before;
    }
    let leave = (): void => undefined;
    const write = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#writes.add(write);
    return () => {
      this.#writes.delete(write);
      leave();
    };
  }

  /** @throws what `work` throws. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#exclusive;
    const mine = before.then(async () => {
      await Promise.all(this.#writes);
      return work();
    });
    // What failed was told to whoever asked for it.
    this.#exclusive = mine.catch(() => undefined);
    return mine;
  }
}
