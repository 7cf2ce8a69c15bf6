/**
 * Gives out slots for runs: first in, first out, foreground before background. When the model's server is overloaded
 * (429, 529), the number of slots is halved; each run that ends well adds one slot until the full size is reached.
 */
import PQueue from 'p-queue';
import type {Model} from '../contract/model.ts';
import {inBackground, neverRejects} from '../util/background.ts';

const FOREGROUND = 1;
const BACKGROUND = 0;
/**
 * Milliseconds. One overload reaches many runs at the same moment, so within this time the slots are halved only once.
 */
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
   * @param size number of runs that may be at work at the same time
   * @param now milliseconds of a clock that never jumps
   */
  constructor(
    size: number,
    private readonly now: () => number,
  ) {
    this.#size = size;
    this.#queue = new PQueue({concurrency: size});
  }

  /** Number of runs that may be at work at present. */
  get slots(): number {
    return this.#queue.concurrency;
  }

  /** Whether the next run has to wait. */
  get isFull(): boolean {
    return this.#queue.pending >= this.#queue.concurrency;
  }

  /** Sets the size if it was not known when the pool was created. */
  resize(size: number): void {
    this.#size = size;
    this.#queue.concurrency = size;
  }

  /** Runs `work` in a slot. A run that is aborted while it waits begins without a slot, so that it ends at once. */
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

  /** Moves a waiting run behind those of the foreground. A run at work is not affected. */
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

/** Number of runs that may be at work at the server of a model. */
interface ServerSize {
  /** Key of the server. Models with the same key share a pool. */
  readonly server: string;
  /** A function is called at the first run, and never rejects. */
  readonly size: number | (() => Promise<number>);
}

/** A single number is the limit for all servers together. */
export type PoolSizes = number | ((model: Model) => ServerSize);

interface ServerPool {
  readonly pool: Pool;
  /** Resolves when the size is known; undefined if it was known from the start. */
  readonly sized?: Promise<void>;
}

/** Has one pool for each model server, so that a slow server on this machine does not limit runs at another one. */
export class ServerPools {
  readonly #pools = new Map<string, ServerPool>();

  /** @param now milliseconds of a clock that never jumps */
  constructor(
    private readonly sizes: PoolSizes,
    private readonly now: () => number,
  ) {}

  get(model: Model): ServerPool {
    const {server, size} = typeof this.sizes === 'number' ? {server: '', size: this.sizes} : this.sizes(model);
    const known = this.#pools.get(server);
    if (known) return known;
    // The size is 1 until the function has found the real one.
    const pool = new Pool(typeof size === 'number' ? size : 1, this.now);
    const made = {pool, ...(typeof size === 'function' && {sized: size().then((found) => pool.resize(found))})};
    this.#pools.set(server, made);
    return made;
  }

  toBackground(runId: string): void {
    for (const {pool} of this.#pools.values()) pool.toBackground(runId);
  }
}
