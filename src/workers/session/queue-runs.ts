/** Gives runs of a session to workers over BullMQ: jobs go into the queue, and their ends and changes come back. */
import {Job, Queue} from 'bullmq';
import type {Redis} from 'ioredis';
import type {CallSize} from '../../core/contract/tool.ts';
import type {RemoteEnd, RemoteRuns, RemoteTask, RemoteWatch} from '../../core/runs/remote-runs.ts';
import {NO_TOTALS, RunAborted} from '../../core/turn/run-ending.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {getText} from '../../core/util/messages.ts';
import type {ShippedTrees} from '../../storage/worktrees/shipped-trees.ts';
import {formatAddress, Keys, type QueueAddress} from '../queue/address.ts';
import {Blobs} from '../queue/blobs.ts';
import type {JobControl} from '../queue/checked-contents.ts';
import {connect, describeFailure, getQueueName} from '../queue/connection.ts';
import {
  type BlobRef,
  fromRelative,
  type Job as JobBody,
  type JobEvent,
  LIFE_MS,
  MAX_INLINE_BYTES,
  type TreePart,
  toRelative,
} from '../queue/messages.ts';
import {Signatures} from '../queue/signatures.ts';
import {WorkerPresence} from '../queue/worker-list.ts';
import {JobFiles, Results, type StoredJob} from './job-files.ts';
import {SessionEvents} from './session-events.ts';

export interface QueueRunsDeps {
  readonly address: QueueAddress;
  /** Root of the workspace, with links resolved. */
  readonly root: string;
  readonly sessionId: () => string;
  /** Returns the folder of a run, which has its transcript. */
  readonly runFolder: (runId: string) => string;
  readonly trees: ShippedTrees;
  /** Returns the traceparent of the span that the run belongs to. */
  readonly traceparent: (runId: string) => string | undefined;
  readonly notify: (text: string) => void;
  readonly redact: <T>(value: T) => T;
}

/** Milliseconds after which a run is given up when its worker does not answer a stop. */
const STOP_MS = 8_000;
/** Milliseconds that removals from the queue may take when the session ends. */
const CLOSE_MS = 2_000;

/** The queue's own words about a failure are not signed, so neither the person nor the model sees them. */
const FAILED = 'the queue says that it failed, in words that no worker signed: what the worker printed says why';

export class QueueRuns implements Omit<RemoteRuns, 'isConfigured' | 'isPending'> {
  readonly #keys: Keys;
  readonly #signatures: Signatures;
  readonly #blobs: Blobs;
  readonly #queue: Queue;
  readonly #events: SessionEvents;
  readonly #presence: WorkerPresence;
  readonly #tidying = new Set<Promise<unknown>>();
  readonly #files: JobFiles;

  private constructor(
    private readonly deps: QueueRunsDeps,
    private readonly connection: Redis,
    reader: Redis,
  ) {
    const {address, notify} = deps;
    const {url, prefix} = address;
    const keys = new Keys(prefix);
    const signatures = new Signatures(address.secret);
    const {signer} = signatures;
    this.#keys = keys;
    this.#signatures = signatures;
    this.#files = new JobFiles(deps.runFolder);
    this.#blobs = new Blobs(connection, prefix);
    this.#queue = new Queue(getQueueName(signer), {connection, prefix, skipVersionCheck: true});
    this.#queue.on('error', () => undefined);
    this.#events = new SessionEvents({connection, reader, queue: this.#queue, signatures, keys});
    this.#events.start(deps.sessionId());
    this.#presence = new WorkerPresence(connection, {keys, signer, address: formatAddress(url), notify});
  }

  /** @throws MiniCcError `QUEUE_AWAY` when the queue cannot be reached */
  static async open(deps: QueueRunsDeps): Promise<QueueRuns> {
    const {url} = deps.address;
    try {
      const connection = await connect(url);
      return new QueueRuns(deps, connection, await connect(url));
    } catch (error) {
      if (!(error instanceof MiniCcError)) throw error;
      throw new MiniCcError('QUEUE_AWAY', `subagents.queue: ${getErrorMessage(error)}`);
    }
  }

  isServed(): Promise<boolean> {
    return this.#presence.isServed();
  }

  async run(task: RemoteTask, watch: RemoteWatch): Promise<RemoteEnd | undefined> {
    const stored = await this.#sendUnlessStopped(task, watch.signal);
    if (!stored) return stoppedEnd();
    this.#tidy(this.#presence.notifyUnserved());
    return inOwnWords(this.#follow(task.spec.runId, stored, watch));
  }

  async resume(runId: string, watch: RemoteWatch): Promise<RemoteEnd | undefined> {
    const stored = this.#files.read(runId);
    if (!stored) throw new MiniCcError('QUEUE', 'its job is not known any more');
    if (stored.signer !== this.#signatures.signer) {
      const what = 'its job was signed with another secret, or by another version of mini-cc';
      throw new MiniCcError('QUEUE_AWAY', what);
    }
    const present = this.#events.showPresence(this.deps.sessionId());
    this.#tidy(present.then(() => this.#events.callBack([stored.jobId])));
    return inOwnWords(this.#follow(runId, stored, watch));
  }

  /** Closes the connection. Jobs continue. */
  async close(): Promise<void> {
    await Promise.race([Promise.all(this.#tidying), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))]);
    this.#events.close();
    await this.#queue.close();
    this.connection.disconnect();
  }

  /**
   * Sends a job, and waits while the queue cannot be reached. A job that was stopped in the meantime is removed again.
   */
  async #sendUnlessStopped(task: RemoteTask, signal: AbortSignal): Promise<StoredJob | undefined> {
    const sending = this.#send(task, signal).catch((error: unknown) => {
      if (error instanceof MiniCcError || signal.aborted) throw error;
      throw new MiniCcError('QUEUE', `${formatAddress(this.deps.address.url)}: ${describeFailure(error)}`);
    });
    const stopped = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), {once: true});
    });
    try {
      const stored = await Promise.race([sending, stopped]);
      if (!stored) this.#tidy(sending.then((late) => this.#remove(task.spec.runId, late)));
      return stored;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Starts work that no run waits for, because the server may be unreachable. */
  #tidy(work: Promise<unknown>): void {
    const tidied: Promise<unknown> = work.catch(() => undefined).finally(() => this.#tidying.delete(tidied));
    this.#tidying.add(tidied);
  }

  async #send(task: RemoteTask, signal: AbortSignal): Promise<StoredJob> {
    const blobs = this.#blobs;
    const {runId} = task.spec;
    const {round} = task;
    const jobId = `${runId}-${round}`;
    // Runs that are sent together share one capture.
    const tree = await this.deps.trees.capture(signal);
    const work = JSON.stringify(this.deps.redact(this.#describe(task)));
    const inline = Buffer.byteLength(work) <= MAX_INLINE_BYTES;
    const ref = inline ? undefined : blobs.describe(Buffer.from(work));
    if (ref) await blobs.put(Buffer.from(work), ref);
    const traceparent = this.deps.traceparent(runId);
    const body: JobBody = {
      jobId,
      sessionId: this.deps.sessionId(),
      runId,
      round,
      tree,
      work: ref ?? work,
      ...(traceparent !== undefined && {traceparent}),
    };
    const signed = this.#signatures.sign('job', body, LIFE_MS);
    const stored: StoredJob = {jobId, nonce: signed.nonce, signer: this.#signatures.signer, tree};
    await this.#files.write(runId, stored);
    try {
      await this.#events.showPresence(body.sessionId);
      await this.#queue.add('run', signed, {
        jobId,
        attempts: 1,
        removeOnComplete: {age: LIFE_MS / 1000},
        removeOnFail: {age: LIFE_MS / 1000},
      });
    } catch (error) {
      await this.#files.remove(runId);
      throw error;
    }
    return stored;
  }

  /**
   * Removes the fields that apply only to this machine: its keys, and permissions, which the worker's settings decide
   * there.
   */
  #describe(task: RemoteTask): RemoteTask {
    const {apiKeyEnv: _, permissionMode: _m, mcpServers: _s, hooks: _h, ...agent} = task.agent;
    return toRelative({...task, agent}, this.deps.root);
  }

  /** Waits for the end of a job, and brings its changes back. */
  async #follow(runId: string, stored: StoredJob, watch: RemoteWatch): Promise<RemoteEnd | undefined> {
    const {jobId} = stored;
    watch.onMessage(({id, content}) => {
      this.#control(jobId, {type: 'send', id, text: getText(content)}).catch((error: unknown) =>
        this.deps.notify(`not sent: ${describeFailure(error)}`),
      );
    });
    let current = 0;
    let at: string | undefined;
    const begun = (worker: string) => {
      at = worker;
      watch.begun(worker);
    };
    const onEvent = ({what, worker, attempt}: JobEvent) => {
      // The event is from a worker that has since lost the job.
      if (attempt < current) return;
      current = attempt;
      // An earlier process may have received the event that the job began.
      if (what.type === 'begun' || at !== worker) begun(worker);
      if (what.type === 'event') watch.event(what.event);
      else if (what.type === 'delivered') watch.delivered(what.id);
      else if (what.type === 'given_back') this.deps.notify(`${watch.label}: ${worker} gave it back: ${what.why}`);
      else if (what.type === 'reserve') this.#tidy(this.#reserve(jobId, what.id, what.call, watch));
      else if (what.type === 'release') watch.release(what.id, what.used);
      else if (what.type === 'needs') sent.push(this.#sendPart(what.part, stored, over.signal));
    };
    const [over, sent] = [new AbortController(), [] as Promise<BlobRef | undefined>[]];
    const ended = await this.#waitForEnd(jobId, onEvent, watch.signal);
    over.abort();
    // A worker that died did not remove these parts.
    for (const part of sent) this.#tidy(part.then((blob) => blob && this.#blobs.remove(blob)));
    if (ended === 'left') {
      this.deps.notify(`${watch.label} goes on ${at ? `at ${at}` : 'in the queue'}: --continue follows it`);
      return undefined;
    }
    if (ended === 'stopped') {
      this.#tidy(this.#remove(runId, stored));
      return stoppedEnd();
    }
    if ('failed' in ended) throw this.#giveUp(runId, stored, ended.failed);
    const collecting = {...watch, begun: (worker: string) => (at === worker ? undefined : begun(worker))};
    return this.#collect(runId, stored, ended.job, collecting);
  }

  async #waitForEnd(
    jobId: string,
    onEvent: (event: JobEvent) => void,
    signal: AbortSignal,
  ): Promise<'left' | 'stopped' | {readonly job: Job} | {readonly failed: string}> {
    let giveUp: () => void = () => undefined;
    const stopping = new Promise<'left' | 'stopped'>((resolve) => {
      giveUp = () => {
        const {reason} = signal;
        if (reason instanceof RunAborted && reason.reason === 'close') resolve('left');
        else {
          // The server may be unreachable, so the run is given up after this time in any case.
          setTimeout(() => resolve('stopped'), STOP_MS).unref();
          const stopped = this.#stop(jobId).then((isGone) => isGone && resolve('stopped'));
          inBackground(stopped, neverRejects);
        }
      };
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, {once: true});
    });
    const follower = this.#events.follow(jobId, onEvent);
    try {
      const ended = await Promise.race([follower.ended, stopping]);
      if (ended === 'left' || ended === 'stopped') return ended;
      // The run was stopped before its files arrived at the worker.
      if (ended === 'failed' && signal.aborted) return 'stopped';
      const job = await Job.fromId(this.#queue, jobId);
      if (!job) return {failed: 'its job is not in the queue any more'};
      return ended === 'failed' ? {failed: FAILED} : {job};
    } finally {
      signal.removeEventListener('abort', giveUp);
      follower.close();
    }
  }

  /** @returns true when no worker had the job yet */
  async #stop(jobId: string): Promise<boolean> {
    // The message comes first, so that a worker that takes the job at this moment finds it.
    await this.#control(jobId, {type: 'stop'}).catch(() => undefined);
    try {
      return (await this.#queue.remove(jobId)) === 1;
    } catch {
      return false;
    }
  }

  async #control(jobId: string, message: JobControl): Promise<void> {
    const key = this.#keys.control(jobId);
    const signed = JSON.stringify(this.#signatures.sign('control', {jobId, message}, LIFE_MS));
    await this.connection.pipeline().xadd(key, '*', 'm', signed).pexpire(key, LIFE_MS).exec();
  }

  async #reserve(jobId: string, id: string, call: CallSize, watch: RemoteWatch): Promise<void> {
    const found = await watch.reserve(id, call);
    if (!found) return;
    const reserved =
      'limit' in found ? found : {inputTokens: found.inputTokens, maxOutputTokens: found.maxOutputTokens};
    await this.#control(jobId, {type: 'reserved', id, reserved});
  }

  /** Never rejects. @returns the blob, which may be in the queue in part */
  async #sendPart(part: TreePart, {jobId, tree}: StoredJob, signal: AbortSignal): Promise<BlobRef | undefined> {
    const blobs = this.#blobs;
    const {trees} = this.deps;
    let blob: BlobRef | undefined;
    try {
      const bytes = await (part === 'patch' ? trees.readPatch(tree) : trees.readBundle(tree));
      blob = blobs.describe(bytes);
      await blobs.put(bytes, blob);
      await this.#control(jobId, {type: 'part', part, blob});
    } catch (error) {
      if (!signal.aborted) this.deps.notify(`the files could not be sent to a worker: ${describeFailure(error)}`);
    }
    return blob;
  }

  async #collect(runId: string, stored: StoredJob, job: Job, watch: RemoteWatch): Promise<RemoteEnd> {
    const blobs = this.#blobs;
    const results = new Results({blobs, signatures: this.#signatures, trees: this.deps.trees, files: this.#files});
    const read = await results.read(job).catch((error: unknown) => {
      throw this.#giveUp(runId, stored, `its result cannot be taken: ${describeFailure(error)}`);
    });
    if (read.failed !== undefined) throw this.#giveUp(runId, stored, read.failed);
    const {ref, outcome, worker} = read;
    watch.begun(worker);
    const {root} = this.deps;
    const result = fromRelative(outcome.result, root);
    const brought = await results.bringBack(runId, stored, outcome, watch.label);
    return {
      result,
      entries: outcome.entries,
      brought: {...brought, notes: [...brought.notes, ...outcome.notes]},
      // The end is in the transcript, so the queue's copy is removed.
      acknowledge: async () => {
        if (typeof ref !== 'string') this.#tidy(blobs.remove(ref));
        this.#tidy(this.#remove(runId, stored));
      },
    };
  }

  /** Removes a job whose result would be the same at the next attempt. @returns the error to throw */
  #giveUp(runId: string, stored: StoredJob, why: string): MiniCcError {
    this.#tidy(this.#remove(runId, stored));
    return new MiniCcError('WORKER', why);
  }

  async #remove(runId: string, {jobId, nonce}: StoredJob): Promise<void> {
    await this.connection.set(this.#keys.nonce(nonce), 'ended', 'PX', LIFE_MS);
    await this.#queue.remove(jobId).catch(() => undefined);
    await this.connection.unlink(this.#keys.control(jobId), this.#keys.declined(jobId));
    // The run may be in its next round by then.
    if (this.#files.read(runId)?.jobId === jobId) await this.#files.remove(runId);
  }
}

/** Replaces the words of the server, because any client that reaches the server may have written them. */
async function inOwnWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if ((error as Error).name !== 'ReplyError') throw error;
    throw new MiniCcError('QUEUE', describeFailure(error));
  }
}

function stoppedEnd(): RemoteEnd {
  return {
    result: {outcome: 'stopped', ...NO_TOTALS},
    entries: [],
    brought: {applied: [], notes: []},
    acknowledge: async () => undefined,
  };
}
