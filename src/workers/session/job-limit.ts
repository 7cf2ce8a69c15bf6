/** Limits how many jobs a session has in the queue. Further runs wait here until one ends. */
import PQueue from 'p-queue';

export class JobLimit {
  readonly #queue: PQueue;
  #isNotified = false;

  /** @param notify called once when runs begin to wait */
  constructor(
    private readonly places: number,
    private readonly notify: (text: string) => void,
  ) {
    this.#queue = new PQueue({concurrency: places});
  }

  /** @param stopped returns the result of a run that is aborted while it waits */
  async run<T>(work: () => Promise<T>, signal: AbortSignal, stopped: () => T): Promise<T> {
    if (signal.aborted) return stopped();
    this.#tell();
    const waiting = new AbortController();
    const leave = () => waiting.abort();
    signal.addEventListener('abort', leave, {once: true});
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      signal.removeEventListener('abort', leave);
      return work();
    };
    try {
      return await this.#queue.add(begin, {signal: waiting.signal});
    } catch (error) {
      if (hasBegun) throw error;
      return stopped();
    }
  }

  #tell(): void {
    const isFull = this.#queue.pending + this.#queue.size >= this.places;
    if (isFull && !this.#isNotified) {
      const queued = this.places === 1 ? '1 job of this session is' : `${this.places} jobs of this session are`;
      this.notify(`${queued} in the queue (subagents.queue.maxJobs): further runs wait here until one ends`);
    }
    this.#isNotified = isFull;
  }
}
