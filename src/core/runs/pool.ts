/**
 * Slots for runs: first in, first out, foreground before background, and a free slot is taken at once. When the model's
 * server is overloaded (429, 529), the number of slots is halved; each run that ends well adds one again.
 */
import PQueue from 'p-queue';
import type {Model} from '../contract/model.ts';
import {inBackground, neverRejects} from '../util/background.ts';

const FOREGROUND = 1;
const BACKGROUND = 0;
/** One overload reaches many runs at the same moment: within this time it halves the slots once. Milliseconds. */
const ONE_OVERLOAD_MS = 1_000;

interface Slot {
  readonly id: string;
  readonly background: boolean;
  readonly signal: AbortSignal;
}

export class Pool {
  readonly #queue: PQueue;
  #size: number;
  #halvedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param size runs at work at the same time.
   * @param now milliseconds of a clock that never jumps.
   */
  constructor(
    size: number,
    private readonly now: () => number,
  ) {
    this.#size = size;
    this.#queue = new PQueue({concurrency: size});
  }

  /** Runs that may be at work now. */
  get slots(): number {
    return this.#queue.concurrency;
  }

  /** The next run has to wait. */
  get isFull(): boolean {
    return this.#queue.pending >= this.#queue.concurrency;
  }

  /** Sets the size that was not known when the pool was made. */
  resize(size: number): void {
    this.#size = size;
    this.#queue.concurrency = size;
  }

  /** Runs `work` in a slot. A run that is aborted while it waits begins without a slot, and ends at once. */
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
      if (signal.aborted && !hasBegun) inBackground(begin(), neverRejects);
    });
  }

  /** A waiting run moves behind those of the foreground. A run at work is not affected. */
  toBackground(id: string): void {
    try {
      this.#queue.setPriority(id, BACKGROUND);
    } catch (error) {
      // The run has left the queue.
      if (!(error instanceof ReferenceError)) throw error;
    }
  }

  overloaded(): void {
    if (this.now() - this.#halvedAt < ONE_OVERLOAD_MS) return;
    this.#halvedAt = this.now();
    this.#queue.concurrency = Math.max(1, Math.floor(this.#queue.concurrency / 2));
  }

  endedWell(): void {
    if (this.#queue.concurrency < this.#size) this.#queue.concurrency += 1;
  }
}

/** How many runs may be at work at the server of a model. */
interface ServerSize {
  /** Models with the same one share a pool. */
  readonly server: string;
  /** A function is called at the first run, and never rejects. */
  readonly size: number | (() => Promise<number>);
}

/** A number holds for all servers together. */
export type PoolSizes = number | ((model: Model) => ServerSize);

interface ServerPool {
  readonly pool: Pool;
  /** Resolves when the size is known; undefined where it always was. */
  readonly sized?: Promise<void>;
}

/** One pool for each model server: what a server on this machine can take does not bind runs at another one. */
export class ServerPools {
  readonly #pools = new Map<string, ServerPool>();

  /** @param now milliseconds of a clock that never jumps */
  constructor(
    private readonly sizes: PoolSizes,
    private readonly now: () => number,
  ) {}

  /** The pool for runs of this model. */
  get(model: Model): ServerPool {
    const {server, size} = typeof this.sizes === 'number' ? {server: '', size: this.sizes} : this.sizes(model);
    const known = this.#pools.get(server);
    if (known) return known;
    // 1 until its size is found out.
    const pool = new Pool(typeof size === 'number' ? size : 1, this.now);
    const made = {pool, ...(typeof size === 'function' && {sized: size().then((found) => pool.resize(found))})};
    this.#pools.set(server, made);
    return made;
  }

  /** A waiting run moves behind those of the foreground. */
  toBackground(runId: string): void {
    for (const {pool} of this.#pools.values()) pool.toBackground(runId);
  }
}
