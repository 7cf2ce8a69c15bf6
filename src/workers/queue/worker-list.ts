/**
 * Lists the workers by the entries that they write every few seconds, for sessions and `mini-cc workers`. Explains to
 * the person of a session why its jobs wait.
 */
import type {Redis} from 'ioredis';
import {z} from 'zod';
import {tryOr} from '../../core/util/errors.ts';
import type {Keys} from './address.ts';
import {id, workerName} from './messages.ts';

export const HEARTBEAT_MS = 2_000;
/** Milliseconds without a heartbeat after which a worker counts as gone. */
const GONE_MS = 15_000;
/** Milliseconds for which a worker that is gone stays in the list. */
const FORGET_MS = 24 * 60 * 60 * 1000;

/**
 * Any client that reaches the queue may write an entry. So the texts of an entry must be short, and a name must be no
 * sentence.
 */
const label = z.string().max(200);
const entrySchema = z.object({
  name: workerName,
  /** Id of the worker's process. Another process may have the same name later. */
  id,
  /** `Signatures.signer` of the worker. It gets only jobs of this signer. */
  signer: label.default(''),
  labels: z.array(label).max(100),
  state: z.enum(['idle', 'busy', 'leaving']),
  running: z.int(),
  concurrency: z.int(),
  cached: z.array(z.string().max(400)).max(10_000),
  /** Milliseconds since the epoch, of the server's clock. */
  at: z.number(),
});
export type WorkerEntry = z.output<typeof entrySchema>;

export interface ListedWorker extends Omit<WorkerEntry, 'state' | 'concurrency' | 'at'> {
  readonly state: WorkerEntry['state'] | 'gone';
}

/**
 * Returns the time of the server's clock in milliseconds since the epoch, because the clocks of several machines
 * differ.
 */
export async function getServerTime(connection: Redis): Promise<number> {
  const [seconds, micros] = await connection.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Lists the workers by name. A worker that is gone for a day is removed. */
export async function listWorkers(connection: Redis, keys: Keys): Promise<readonly ListedWorker[]> {
  const [entries, now] = await Promise.all([connection.hgetall(keys.workers), getServerTime(connection)]);
  const found: ListedWorker[] = [];
  for (const [field, text] of Object.entries(entries)) {
    const entry = parseEntry(text);
    if (!entry || now - entry.at > FORGET_MS) {
      await connection.hdel(keys.workers, field);
      continue;
    }
    const {at, concurrency: _, ...shown} = entry;
    found.push(now - at > GONE_MS ? {...shown, state: 'gone', running: 0} : shown);
  }
  return found.sort((a, b) => a.name.localeCompare(b.name, 'en', {numeric: true}));
}

/** Returns the workers that take jobs of this signer at present. */
export function getServing(workers: readonly ListedWorker[], signer: string): readonly ListedWorker[] {
  return workers.filter((worker) => worker.signer === signer && (worker.state === 'idle' || worker.state === 'busy'));
}

/** Returns why one side does not work for the other; undefined when it does. */
export function describeMismatch(signer: string, own: string): string | undefined {
  if (signer === own) return undefined;
  const [format] = own.split('-');
  return signer.split('-')[0] === format ? 'has another secret' : 'has another version of mini-cc';
}

function parseEntry(text: string): WorkerEntry | undefined {
  return tryOr(() => entrySchema.parse(JSON.parse(text)), undefined);
}

/** Reserves the first name that no living worker has: `build`, `build-2`, … @returns the name */
export async function takeName(connection: Redis, keys: Keys, base: string, entry: Omit<WorkerEntry, 'name' | 'at'>) {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    const at = await getServerTime(connection);
    const text = JSON.stringify({...entry, name, at});
    if ((await connection.hsetnx(keys.workers, name, text)) === 1) return name;
    const other = parseEntry((await connection.hget(keys.workers, name)) ?? '');
    if (other && at - other.at <= GONE_MS) continue;
    await connection.hset(keys.workers, name, text);
    return name;
  }
}

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
