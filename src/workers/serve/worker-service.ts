/**
 * Runs a worker: takes jobs from the queue, checks them, runs them and reports the state of the worker. BullMQ ensures
 * that the job of a silent worker goes to another one, and that only the worker that holds a job can end it.
 */
import {randomUUID} from 'node:crypto';
import os from 'node:os';
import {DelayedError, type Job, UnrecoverableError, WaitingError, Worker} from 'bullmq';
import type {Redis} from 'ioredis';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {showControls} from '../../core/util/text.ts';
import {RefusedTree, type TreeCache} from '../../storage/worktrees/tree-cache.ts';
import {formatAddress, Keys, type QueueAddress} from '../queue/address.ts';
import {Blobs} from '../queue/blobs.ts';
import {check} from '../queue/checked-contents.ts';
import {connect, describeFailure, getQueueName} from '../queue/connection.ts';
import {type JobResult, jobSchema, LIFE_MS} from '../queue/messages.ts';
import {RefusedMessage, Signatures} from '../queue/signatures.ts';
import {getServerTime, HEARTBEAT_MS, takeName, type WorkerEntry} from '../queue/worker-list.ts';
import {DeclinedJobs} from './declined-jobs.ts';
import type {EndedJobs} from './ended-jobs.ts';
import {type Execute, GiveBack, JobRun} from './job-run.ts';

interface WorkerOptions {
  readonly address: QueueAddress;
  readonly concurrency: number;
  readonly labels: readonly string[];
  /** Serves one job and ends. */
  readonly once: boolean;
  readonly trees: TreeCache;
  readonly ended: EndedJobs;
  readonly execute: Execute;
  /** Prints one line for the person who started the worker. */
  readonly say: (text: string) => void;
}

/** Milliseconds. A worker that is silent for this long loses its jobs. */
const LOCK_MS = 15_000;
/**
 * Milliseconds between two renewals of the worker's locks. They are short enough to notice a lost connection before a
 * lock expires.
 */
const RENEW_MS = 3_000;
/**
 * Milliseconds between two searches for jobs of silent workers. A job is taken over at the second search at the latest,
 * so within `LOCK_MS` and two of these.
 */
const STALLED_MS = 2_500;
/** Number of times that a job is taken over at most. */
const MAX_TAKEOVERS = 2;
/** Milliseconds that runs have when the worker leaves. After that they go back to the queue. */
const LEAVE_MS = 10_000;
/** Milliseconds that the last commands of a leaving worker have to reach the server. */
const AWAY_MS = 1_500;
/** Milliseconds after which a job that this worker cannot do is offered again, to any worker. */
const PAUSE_MS = 5_000;
/** Milliseconds of the pause after a job that this worker has declined before. */
const LEAVE_TO_OTHERS_MS = 1_000;
/** Milliseconds. The pause grows with each attempt up to this length; a session that comes back ends it. */
const MAX_PAUSE_MS = 10 * 60_000;

/** Characters of the reason why a job failed. */
const MAX_WHY = 10_000;

/** BullMQ's messages about a job that this worker no longer holds. */
const LOST_JOB = /(?:could not renew lock|Lock mismatch|Missing (?:lock|key)) for job ([\w-]+)/;

export class WorkerService {
  readonly #runs = new Map<string, JobRun>();
  readonly #signatures: Signatures;
  readonly #keys: Keys;
  readonly #done: Promise<void>;
  #finish: () => void = () => undefined;
  #isLeaving = false;
  /** Set when the worker is removed from the list, since a later heartbeat would add it again. */
  #hasLeft = false;
  #served = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Lines about the connection that were printed since the last heartbeat. */
  readonly #faults = new Set<string>();
  /** Printed lines about lost jobs, so that each is printed once. */
  readonly #lost = new Set<string>();
  readonly #declined: DeclinedJobs;

  private constructor(
    private readonly options: WorkerOptions,
    private readonly connection: Redis,
    /** Name in `mini-cc workers` and in progress lines. */
    readonly name: string,
    private readonly id: string,
  ) {
    this.#signatures = new Signatures(options.address.secret);
    this.#keys = new Keys(options.address.prefix);
    this.#declined = new DeclinedJobs(connection, this.#keys, {id, name}, this.#signatures);
    this.#done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** @throws MiniCcError `QUEUE` when the queue cannot be reached */
  static async open(options: WorkerOptions): Promise<WorkerService> {
    const {url, prefix, secret} = options.address;
    const connection = await connect(url);
    const id = randomUUID();
    const base =
      os
        .hostname()
        .split('.')[0]!
        .replace(/[^\p{L}\p{N}_-]|^[_-]+/gu, '')
        .slice(0, 60) || 'worker';
    const {labels, concurrency, trees} = options;
    const seen = {labels: [...labels], cached: [...trees.list()], state: 'idle' as const};
    const entry = {id, signer: new Signatures(secret).signer, running: 0, concurrency, ...seen};
    const name = await takeName(connection, new Keys(prefix), base, entry).catch((error: unknown) => {
      connection.disconnect();
      throw error;
    });
    return new WorkerService(options, connection, name, id);
  }

  /** Serves until the worker is asked to leave, or has served its only job. */
  async serve(): Promise<void> {
    const {address, concurrency} = this.options;
    const worker = new Worker<unknown, unknown>(
      getQueueName(this.#signatures.signer),
      (job, token) => this.#process(job, token!),
      {
        connection: this.connection as never,
        prefix: address.prefix,
        concurrency: this.options.once ? 1 : concurrency,
        lockDuration: LOCK_MS,
        lockRenewTime: RENEW_MS,
        stalledInterval: STALLED_MS,
        maxStalledCount: MAX_TAKEOVERS,
        skipVersionCheck: true,
      },
    );
    this.#worker = worker;
    worker.on('error', (error) => this.#sayError(error));
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) this.#runs.get(id)?.abort(new Error('another worker has taken it over'));
    });
    worker.on('completed', (job) => inBackground(this.#ended(job.id!), neverRejects));
    worker.on('failed', (job) => job && inBackground(this.#ended(job.id!), neverRejects));
    this.#plan();
    await this.#done;
  }

  #worker: Worker<unknown, unknown> | undefined;
  /** Work to do at the end of each job, such as publishing the end, by the id of the job. */
  readonly #ending = new Map<string, () => Promise<void>>();

  /** Takes no more jobs. Runs at work end within ten seconds, or go back to the queue. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    const worker = this.#worker;
    inBackground(this.#beat(), neverRejects);
    const paused = worker?.pause(true);
    const timer = setTimeout(() => {
      for (const run of this.#runs.values()) run.abort(new GiveBack('its worker leaves', false));
    }, LEAVE_MS);
    await unlessAway(paused);
    const until = performance.now() + LEAVE_MS + AWAY_MS;
    // Without the server no job can be given back. The server then notices by itself that this worker is gone.
    const waits = () => this.connection.status === 'ready' || performance.now() < until;
    while (this.#runs.size > 0 && waits()) await new Promise((resolve) => setTimeout(resolve, 50));
    clearTimeout(timer);
    clearTimeout(this.#timer);
    // A result may still be on its way.
    await unlessAway(worker?.close(), this.connection.status === 'ready' ? LEAVE_MS : AWAY_MS);
    await unlessAway(Promise.all([...this.#saying]));
    this.#hasLeft = true;
    await unlessAway(this.connection.hdel(this.#keys.workers, this.name));
    this.connection.disconnect();
    this.#finish();
  }

  readonly #saying = new Set<Promise<void>>();

  async #process(job: Job<unknown>, token: string): Promise<unknown> {
    const {body, nonce, expires} = await this.#check(job);
    const attempt = job.attemptsStarted;
    const sign = (outcome: JobResult['outcome']) => {
      const result: JobResult = {jobId: body.jobId, attempt, worker: this.name, outcome};
      return this.#signatures.sign('result', result, LIFE_MS);
    };
    const hopeless = attempt > 1 ? await this.#leaveToOthers(job, token) : undefined;
    if (hopeless !== undefined) return sign({failed: hopeless});
    const {address, trees, execute} = this.options;
    const {connection} = this;
    const blobs = new Blobs(connection, address.prefix);
    const isHeld = async () => (await job.extendLock(token, LOCK_MS)) === 1;
    const deps = {
      connection,
      keys: this.#keys,
      blobs,
      signatures: this.#signatures,
      trees,
      worker: this.name,
      execute,
      isHeld,
    };
    const run = new JobRun(body, attempt, deps);
    this.#runs.set(body.jobId, run);
    this.#ending.set(body.jobId, async () => {
      this.options.ended.add(nonce, expires);
      await connection.set(this.#keys.nonce(nonce), 'ended', 'PX', LIFE_MS);
      await run.publish({type: 'ended'});
    });
    inBackground(this.#beat(), neverRejects);
    try {
      return sign(await run.work());
    } catch (error) {
      if (error instanceof GiveBack) {
        const isNotified = error.isOwn && (await this.#declined.add(body.jobId, error.message).catch(() => false));
        if (!isNotified) await run.publish({type: 'given_back', why: error.message}).catch(() => undefined);
        return sign({failed: await this.#giveBack(job, token, error, this.#isLeaving)});
      }
      // Another worker has the job by then.
      if (run.isAborted) throw error;
      // The queue's own record of a failure is not signed, so that no session believes it.
      const isRefused = error instanceof RefusedMessage || error instanceof RefusedTree;
      const why = isRefused ? this.#refuse(job, error) : describeFailure(error);
      return sign({failed: why.slice(0, MAX_WHY)});
    } finally {
      // The job may have come back to this worker in the meantime, after the worker lost the network.
      if (this.#runs.get(body.jobId) === run) this.#runs.delete(body.jobId);
      this.#served += 1;
      inBackground(this.#beat(), neverRejects);
      if (this.options.once) setImmediate(() => inBackground(this.leave(), neverRejects));
    }
  }

  /** Accepts only jobs that are signed, are not too old, and did not run before. */
  async #check(job: Job<unknown>) {
    try {
      const {body, nonce, expires} = this.#signatures.verify('job', job.data);
      const parsed = check('job', jobSchema, body);
      if (parsed.jobId !== job.id) throw new RefusedMessage('replayed', 'it is a copy of another job');
      const key = this.#keys.nonce(nonce);
      await this.connection.set(key, parsed.jobId, 'PX', LIFE_MS, 'NX');
      const used = await this.connection.get(key);
      if (used !== parsed.jobId || this.options.ended.has(nonce))
        throw new RefusedMessage('replayed', 'it has run before');
      return {body: parsed, nonce, expires};
    } catch (error) {
      throw new UnrecoverableError(this.#refuse(job, error));
    }
  }

  /** Says that a job is refused. @returns the words */
  #refuse(job: Job<unknown>, error: unknown): string {
    const why = `${this.name} refused job ${job.id}: ${describeFailure(error)}`;
    this.options.say(showControls(why));
    return why;
  }

  /** @returns why no worker can do the job @throws BullMQ's signal that the job is in the queue again */
  async #giveBack(job: Job<unknown>, token: string, error: GiveBack, atOnce: boolean): Promise<string> {
    const hopeless = error.isOwn ? await this.#declined.getFailure(job.id!) : undefined;
    if (hopeless !== undefined) return hopeless;
    if (atOnce) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const pause = error.isOwn ? PAUSE_MS : Math.min(MAX_PAUSE_MS, PAUSE_MS * job.attemptsStarted);
    await job.moveToDelayed(Date.now() + pause, token);
    throw new DelayedError();
  }

  /**
   * @returns why no worker can do the job; undefined when this one may try
   * @throws BullMQ's signal when this worker could not do the job a moment ago
   */
  async #leaveToOthers(job: Job<unknown>, token: string): Promise<string | undefined> {
    if ((await this.#declined.find(job.id!)) === undefined) return undefined;
    const hopeless = await this.#declined.getFailure(job.id!);
    if (hopeless !== undefined) return hopeless;
    await job.moveToDelayed(Date.now() + LEAVE_TO_OTHERS_MS, token);
    throw new DelayedError();
  }

  /** Reports the end of a job to its session at once. The session also checks by itself. */
  async #ended(jobId: string): Promise<void> {
    const said = this.#ending
      .get(jobId)?.()
      .catch(() => undefined);
    this.#ending.delete(jobId);
    if (!said) return;
    this.#saying.add(said);
    await said;
    this.#saying.delete(said);
  }

  #plan(): void {
    const next = () => this.#beat().finally(() => this.#isLeaving || this.#plan());
    this.#timer = setTimeout(() => inBackground(next(), neverRejects), HEARTBEAT_MS);
  }

  async #beat(): Promise<void> {
    const {labels, concurrency, trees} = this.options;
    const running = this.#runs.size;
    const state = this.#isLeaving ? 'leaving' : running > 0 ? 'busy' : 'idle';
    try {
      const at = await getServerTime(this.connection);
      const cached = [...trees.list()];
      const entry: WorkerEntry = {
        name: this.name,
        id: this.id,
        signer: this.#signatures.signer,
        labels: [...labels],
        state,
        running,
        concurrency,
        cached,
        at,
      };
      if (this.#hasLeft) return;
      await this.connection.hset(this.#keys.workers, this.name, JSON.stringify(entry));
      this.#faults.clear();
    } catch (error) {
      this.#sayError(error);
    }
  }

  #sayError(error: unknown): void {
    const [, lost] = LOST_JOB.exec(getErrorMessage(error)) ?? [];
    const text =
      lost === undefined
        ? `${formatAddress(this.options.address.url)}: ${describeFailure(error)}`
        : `lost job ${lost}: for too long the queue did not hear from this worker. Another one has it, or its session`;
    const said = lost === undefined ? this.#faults : this.#lost;
    if (!said.has(text)) this.options.say(text);
    said.add(text);
  }
}

/** Waits for work, but at most `ms` milliseconds, because the server may be unreachable. */
async function unlessAway(work: Promise<unknown> | undefined, ms = AWAY_MS): Promise<void> {
  await Promise.race([work?.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, ms))]);
}
