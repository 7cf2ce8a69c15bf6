/**
 * Records the jobs that a worker could not do, so that another one may. If none of the present workers can do a job, it
 * stays in the queue for a minute, in case a worker is repaired or added. After that it fails with the reasons of all
 * workers.
 */
import type {Redis} from 'ioredis';
import {z} from 'zod';
import {tryOr} from '../../core/util/errors.ts';
import type {Keys} from '../queue/address.ts';
import {id, workerName} from '../queue/messages.ts';
import type {Signatures} from '../queue/signatures.ts';
import {getServerTime, getServing, listWorkers} from '../queue/worker-list.ts';

const KEEP_TRYING_MS = 60_000;
/** Milliseconds after which a worker tries a job again, because its disk may have room by then. */
const AGAIN_MS = 20_000;

/** Lives as long as the key in Redis. */
const LIFE_MS = 10 * KEEP_TRYING_MS;

const declinedSchema = z.object({
  jobId: id,
  /** Id of the worker's process. */
  id,
  worker: workerName,
  why: z.string().max(10_000),
  /** Milliseconds of the server's clock. */
  first: z.number(),
  last: z.number(),
});
type Declined = z.output<typeof declinedSchema>;

export class DeclinedJobs {
  constructor(
    private readonly connection: Redis,
    private readonly keys: Keys,
    private readonly worker: {readonly id: string; readonly name: string},
    private readonly signatures: Signatures,
  ) {}

  /** Returns why this worker leaves the job to others at present; undefined when it may try. */
  async find(jobId: string): Promise<string | undefined> {
    const own = this.#parse(
      jobId,
      this.worker.id,
      await this.connection.hget(this.keys.declined(jobId), this.worker.id),
    );
    return own && (await getServerTime(this.connection)) - own.last < AGAIN_MS ? own.why : undefined;
  }

  /** @returns whether the worker gave the same reason before */
  async add(jobId: string, why: string): Promise<boolean> {
    const key = this.keys.declined(jobId);
    const {id, name: worker} = this.worker;
    const before = this.#parse(jobId, id, await this.connection.hget(key, id));
    const last = await getServerTime(this.connection);
    const declined: Declined = {jobId, id, worker, why: why.slice(0, 10_000), first: before?.first ?? last, last};
    await this.connection
      .pipeline()
      .hset(key, id, JSON.stringify(this.signatures.sign('declined', declined, LIFE_MS)))
      .pexpire(key, LIFE_MS)
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
    const all = Object.entries(entries).flatMap(([worker, text]) => this.#parse(jobId, worker, text) ?? []);
    const isLong = all.some(({first}) => now - first > KEEP_TRYING_MS);
    const serving = getServing(workers, this.signatures.signer);
    if (!isLong || !serving.every((worker) => all.some((each) => each.id === worker.id))) return undefined;
    return `no worker can do it: ${all.map(({worker, why}) => `${worker}: ${why}`).join('; ')}`;
  }

  /** Leaves out entries without a signature, since any client that reaches the queue may have written them. */
  #parse(jobId: string, worker: string, text: string | null): Declined | undefined {
    return tryOr(() => {
      const {body} = this.signatures.verify('declined', JSON.parse(text ?? ''));
      const declined = declinedSchema.parse(body);
      return declined.jobId === jobId && declined.id === worker ? declined : undefined;
    }, undefined);
  }
}
