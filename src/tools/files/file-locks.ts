/** One writer at a time for each file, so that two agents which edit it side by side do not lose an update. */

export class FileLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all earlier work on `path` has ended, however it ended. @throws what `work` throws. */
  async hold<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(path);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(path, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(path) === mine) this.#last.delete(path);
    }
  }
}
