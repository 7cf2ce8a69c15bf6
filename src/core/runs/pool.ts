/**
 * Slots for runs: first in, first out, foreground before background, a free slot taken at once. When the model's
 * server says that it is too much (429, 529), half as many run; each run that ends well gives one slot back.
 */
import PQueue from 'p-queue';

const FOREGROUND = 1;
const BACKGROUND = 0;
/** Many runs hear of one overload at the same moment: it halves the slots once. Milliseconds. */
const ONE_OVERLOAD_MS = 1_000;

export interface Slot {
  readonly id: string;
  readonly background: boolean;
  readonly signal: AbortSignal;
}

export class Pool {
  readonly #queue: PQueue;
  #most: number;
  #halvedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param most runs at work at the same time.
   * @param now milliseconds that never jump.
   */
  constructor(
    most: number,
    private readonly now: () => number,
  ) {
    this.#most = most;
    this.#queue = new PQueue({concurrency: most});
  }

  /** Runs that may be at work now. */
  get slots(): number {
    return this.#queue.concurrency;
  }

  /** The next one will wait. */
  get isFull(): boolean {
    return this.#queue.pending >= this.#queue.concurrency;
  }

  /** A size that was not known when the pool was made. */
  resize(most: number): void {
    this.#most = most;
    this.#queue.concurrency = most;
  }

  /** Holds a slot for as long as `work` takes. What is aborted while it waits is begun without one: it ends at once. */
  run<T>({id, background, signal}: Slot, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let hasBegun = false;
      const begin = (): Promise<void> => {
        hasBegun = true;
        signal.removeEventListener('abort', begin);
        return work().then(resolve, reject);
      };
      signal.addEventListener('abort', begin, {once: true});
      this.#queue
        .add(() => (hasBegun ? undefined : begin()), {id, priority: background ? BACKGROUND : FOREGROUND})
        .catch(reject);
      if (signal.aborted && !hasBegun) void begin();
    });
  }

  /** A run that waits goes behind those of the foreground. Nothing happens to one at work. */
  toBackground(id: string): void {
    try {
      this.#queue.setPriority(id, BACKGROUND);
    } catch (error) {
      // It waits no more.
      if (!(error instanceof ReferenceError)) throw error;
    }
  }

  overloaded(): void {
    if (this.now() - this.#halvedAt < ONE_OVERLOAD_MS) return;
    this.#halvedAt = this.now();
    this.#queue.concurrency = Math.max(1, Math.floor(this.#queue.concurrency / 2));
  }

  endedWell(): void {
    if (this.#queue.concurrency < this.#most) this.#queue.concurrency += 1;
  }
}
