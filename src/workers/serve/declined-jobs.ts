/**
 * Records the jobs that a worker could not do, so that another one may. If none of the present workers can do a job, it
 * stays in the queue for a minute, in case a worker is repaired or added. After that it fails with the reasons of all
 * workers.
 */
import type {Redis} from 'ioredis';
import type {Keys} from '../queue/address.ts';
import {getServerTime, getServing, listWorkers} from '../queue/worker-list.ts';

const KEEP_TRYING_MS = 60_000;
/** Milliseconds after which a worker tries a job again, because its disk may have room by then. */
const AGAIN_MS = 20_000;

interface Declined {
  readonly worker: string;
  readonly why: string;
  /** Milliseconds of the server's clock. */
  readonly first: number;
  readonly last: number;
}

export class DeclinedJobs {
  constructor(
    private readonly connection: Redis,
    private readonly keys: Keys,
    private readonly worker: {readonly id: string; readonly name: string; readonly signer: string},
  ) {}

  /** Returns why this worker leaves the job to others at present; undefined when it may try. */
  async find(jobId: string): Promise<string | undefined> {
    const own = parse(await this.connection.hget(this.keys.declined(jobId), this.worker.id));
    return own && (await getServerTime(this.connection)) - own.last < AGAIN_MS ? own.why : undefined;
  }

  /** @returns whether the worker gave the same reason before */
  async add(jobId: string, why: string): Promise<boolean> {
    const key = this.keys.declined(jobId);
    const {id, name: worker} = this.worker;
    const [before, last] = [parse(await this.connection.hget(key, id)), await getServerTime(this.connection)];
    const declined: Declined = {worker, why, first: before?.first ?? last, last};
    await this.connection
      .pipeline()
      .hset(key, id, JSON.stringify(declined))
      .pexpire(key, 10 * KEEP_TRYING_MS)
      .exec();
    return before?.why === why;
  }

  /** Returns the reasons of all workers, once none of them could do the job for long enough; undefined before that. */
  async getFailure(jobId: string): Promise<string | undefined> {
    const [entries, workers, now] = await Promise.all([
      this.connection.hgetall(this.keys.declined(jobId)),
      listWorkers(this.connection, this.keys),
      getServerTime(this.connection),
    ]);
    const all = Object.values(entries).flatMap((text) => parse(text) ?? []);
    const isLong = all.some(({first}) => now - first > KEEP_TRYING_MS);
    const serving = getServing(workers, this.worker.signer);
    if (!isLong || !serving.every(({id}) => entries[id] !== undefined)) return undefined;
    return `no worker can do it: ${all.map(({worker, why}) => `${worker}: ${why}`).join('; ')}`;
  }
}

function parse(text: string | null): Declined | undefined {
  return text === null ? undefined : (JSON.parse(text) as Declined);
}
