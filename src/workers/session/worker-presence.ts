/** Checks whether workers take the jobs of a session, and explains to the person why jobs wait. */
import type {Redis} from 'ioredis';
import type {Keys} from '../queue/redis-keys.ts';
import {describeMismatch, getServerTime, getServing, listWorkers} from '../queue/worker-list.ts';

/** Milliseconds between two checks of the list at least, when runs are sent. */
const LOOK_MS = 10_000;

interface WorkerPresenceDeps {
  readonly keys: Keys;
  readonly signer: string;
  /** Address of the queue, in the form for the screen. */
  readonly address: string;
  readonly notify: (text: string) => void;
}

export class WorkerPresence {
  /** Milliseconds of the server's clock. */
  #lookedAt = 0;
  #said: string | undefined;

  constructor(
    private readonly connection: Redis,
    private readonly deps: WorkerPresenceDeps,
  ) {}

  async isServed(): Promise<boolean> {
    const {keys, signer} = this.deps;
    return getServing(await listWorkers(this.connection, keys), signer).length > 0;
  }

  /** After a job was sent, notifies the person once if no worker takes it. */
  async notifyUnserved(): Promise<void> {
    const now = await getServerTime(this.connection);
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    const unserved = await this.#describeUnserved();
    if (unserved !== undefined && unserved !== this.#said) this.deps.notify(unserved);
    this.#said = unserved;
  }

  async #describeUnserved(): Promise<string | undefined> {
    const {keys, signer, address} = this.deps;
    const workers = await listWorkers(this.connection, keys);
    if (getServing(workers, signer).length > 0) return undefined;
    const others = workers.flatMap(({name, state, signer: other}) => {
      const why = describeMismatch(other, signer);
      return state === 'gone' || why === undefined ? [] : [`${name} ${why}`];
    });
    const why = others.length === 0 ? 'no worker is there' : `no worker takes its jobs (${others.join(', ')})`;
    return `${address}: ${why}; they wait in the queue for one. mini-cc workers lists them`;
  }
}
