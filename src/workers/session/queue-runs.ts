/** Gives runs of a session to workers over BullMQ: jobs go into the queue, and their ends and changes come back. */
import {Job, Queue} from 'bullmq';
import type {Redis} from 'ioredis';
import type {RemoteEnd, RemoteRuns, RemoteTask, RemoteWatch} from '../../core/runs/remote-runs.ts';
import {NO_TOTALS, RunAborted} from '../../core/turn/run-ending.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {getText} from '../../core/util/messages.ts';
import type {ShippedTrees, TreeState} from '../../storage/worktrees/shipped-trees.ts';
import {formatAddress, Keys, type QueueAddress} from '../queue/address.ts';
import {Blobs} from '../queue/blobs.ts';
import {connect, describeFailure, getQueueName} from '../queue/connection.ts';
import {
  type BlobRef,
  fromRelative,
  type Job as JobBody,
  type JobControl,
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

interface CapturedTask extends RemoteTask {
  readonly captured: Promise<TreeState>;
}

interface Connected {
  readonly connection: Redis;
  readonly queue: Queue;
  readonly blobs: Blobs;
  readonly events: SessionEvents;
  readonly served: WorkerPresence;
}

export class QueueRuns implements Omit<RemoteRuns, 'isConfigured'> {
  readonly #keys: Keys;
  readonly #signatures: Signatures;
  #connected: Promise<Connected> | undefined;
  readonly #tidying = new Set<Promise<unknown>>();
  readonly #files: JobFiles;

  constructor(private readonly deps: QueueRunsDeps) {
    this.#keys = new Keys(deps.address.prefix);
    this.#signatures = new Signatures(deps.address.secret);
    this.#files = new JobFiles(deps.runFolder);
  }

  /** @throws MiniCcError when the queue cannot be reached */
  async isServed(): Promise<boolean> {
    return (await this.#connect()).served.isServed();
  }

  async run(task: RemoteTask, watch: RemoteWatch): Promise<RemoteEnd | undefined> {
    // The files are captured at once, while the connection is opened. Runs that are sent together share one capture.
    const captured = this.deps.trees.capture(watch.signal);
    captured.catch(() => undefined);
    const connected = await this.#connect();
    const stored = await this.#sendUnlessStopped({...task, captured}, watch.signal, connected);
    if (!stored) return stoppedEnd();
    this.#tidy(connected.served.notifyUnserved());
    return this.#follow(task.spec.runId, stored, watch, connected);
  }

  isPending(runId: string): boolean {
    return this.#files.read(runId) !== undefined;
  }

  async resume(runId: string, watch: RemoteWatch): Promise<RemoteEnd | undefined> {
    const stored = this.#files.read(runId);
    if (!stored) throw new MiniCcError('QUEUE', 'its job is not known any more');
    const connected = await this.#connect();
    if (stored.signer !== this.#signatures.signer) {
      const what = 'its job was signed with another secret, or by another version of mini-cc';
      throw new MiniCcError('QUEUE_AWAY', what);
    }
    const {events} = connected;
    this.#tidy(events.showPresence(this.deps.sessionId()).then(() => events.callBack([stored.jobId])));
    return this.#follow(runId, stored, watch, connected);
  }

  /** Closes the connection. Jobs continue. */
  async close(): Promise<void> {
    const connected = await this.#connected?.catch(() => undefined);
    await Promise.race([Promise.all(this.#tidying), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))]);
    connected?.events.close();
    await connected?.queue.close();
    connected?.connection.disconnect();
  }

  #connect(): Promise<Connected> {
    this.#connected ??= this.#open().catch((error: unknown) => {
      this.#connected = undefined;
      throw error instanceof MiniCcError
        ? new MiniCcError('QUEUE_AWAY', `subagents.queue: ${getErrorMessage(error)}`)
        : error;
    });
    return this.#connected;
  }

  async #open(): Promise<Connected> {
    const {url, prefix} = this.deps.address;
    const connection = await connect(url);
    const reader = await connect(url);
    const queue = new Queue(getQueueName(this.#signatures.signer), {connection, prefix, skipVersionCheck: true});
    queue.on('error', () => undefined);
    const events = new SessionEvents({
      connection,
      reader,
      queue,
      signatures: this.#signatures,
      keys: this.#keys,
    });
    events.start(this.deps.sessionId());
    const blobs = new Blobs(connection, prefix);
    const {signer} = this.#signatures;
    const served = new WorkerPresence(connection, {
      keys: this.#keys,
      signer,
      address: formatAddress(url),
      notify: this.deps.notify,
    });
    return {connection, queue, blobs, events, served};
  }

  /**
   * Sends a job, and waits while the queue cannot be reached. A job that was stopped in the meantime is removed again.
   */
  async #sendUnlessStopped(
    task: CapturedTask,
    signal: AbortSignal,
    connected: Connected,
  ): Promise<StoredJob | undefined> {
    const sending = this.#send(task, connected).catch((error: unknown) => {
      if (error instanceof MiniCcError || signal.aborted) throw error;
      throw new MiniCcError('QUEUE', `${formatAddress(this.deps.address.url)}: ${describeFailure(error)}`);
    });
    const stopped = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), {once: true});
    });
    try {
      const stored = await Promise.race([sending, stopped]);
      if (!stored) this.#tidy(sending.then((late) => this.#remove(task.spec.runId, late, connected)));
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

  async #send({captured, ...task}: CapturedTask, {queue, blobs, events}: Connected): Promise<StoredJob> {
    const {runId} = task.spec;
    const {round} = task;
    const jobId = `${runId}-${round}`;
    const tree = await captured;
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
      await events.showPresence(body.sessionId);
      await queue.add('run', signed, {
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

  /** Removes what applies only to this machine: its keys, and permissions, which the worker's settings decide there. */
  #describe(task: RemoteTask): RemoteTask {
    const {apiKeyEnv: _, permissionMode: _m, mcpServers: _s, hooks: _h, ...agent} = task.agent;
    return toRelative({...task, agent}, this.deps.root);
  }

  /** Waits for the end of a job, and brings its changes back. */
  async #follow(
    runId: string,
    stored: StoredJob,
    watch: RemoteWatch,
    connected: Connected,
  ): Promise<RemoteEnd | undefined> {
    const {jobId} = stored;
    const {events} = connected;
    const control = (message: JobControl) => this.#control(jobId, message, connected);
    watch.onMessage(({id, content}) => {
      control({type: 'send', id, text: getText(content)}).catch((error: unknown) =>
        this.deps.notify(`not sent: ${getErrorMessage(error)}`),
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
      else if (what.type === 'needs')
        sent.push(this.#sendPart(what.part, stored.tree, control, connected, over.signal));
    };
    const [over, sent] = [new AbortController(), [] as Promise<BlobRef | undefined>[]];
    const ended = await this.#waitForEnd(jobId, events, onEvent, watch.signal, control, connected);
    over.abort();
    // A worker that died did not remove these parts.
    for (const part of sent) this.#tidy(part.then((blob) => blob && connected.blobs.remove(blob)));
    if (ended === 'left') {
      this.deps.notify(`${watch.label} goes on ${at ? `at ${at}` : 'in the queue'}: --continue follows it`);
      return undefined;
    }
    if (ended === 'stopped') {
      this.#tidy(this.#remove(runId, stored, connected));
      return stoppedEnd();
    }
    if (ended.failed !== undefined) {
      this.#tidy(this.#remove(runId, stored, connected));
      throw new MiniCcError('WORKER', ended.failed);
    }
    const collecting = {...watch, begun: (worker: string) => (at === worker ? undefined : begun(worker))};
    return this.#collect(runId, stored, ended.job, collecting, connected);
  }

  async #waitForEnd(
    jobId: string,
    events: SessionEvents,
    onEvent: (event: JobEvent) => void,
    signal: AbortSignal,
    control: (message: JobControl) => Promise<void>,
    {queue}: Connected,
  ): Promise<'left' | 'stopped' | {readonly job: Job; readonly failed?: string}> {
    let giveUp: () => void = () => undefined;
    const stopping = new Promise<'left' | 'stopped'>((resolve) => {
      giveUp = () => {
        const {reason} = signal;
        if (reason instanceof RunAborted && reason.reason === 'close') resolve('left');
        else {
          // The server may be unreachable, so the run is given up after this time in any case.
          setTimeout(() => resolve('stopped'), STOP_MS).unref();
          const stopped = this.#stop(jobId, control, queue).then((isGone) => isGone && resolve('stopped'));
          inBackground(stopped, neverRejects);
        }
      };
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, {once: true});
    });
    const follower = events.follow(jobId, onEvent);
    try {
      const ended = await Promise.race([follower.ended, stopping]);
      if (ended === 'left' || ended === 'stopped') return ended;
      // The run was stopped before its files arrived at the worker.
      if (ended === 'failed' && signal.aborted) return 'stopped';
      const job = await Job.fromId(queue, jobId);
      if (!job) return {job: undefined as never, failed: 'its job is not in the queue any more'};
      return ended === 'failed' ? {job, failed: job.failedReason ?? 'no worker could end it'} : {job};
    } finally {
      signal.removeEventListener('abort', giveUp);
      follower.close();
    }
  }

  /** @returns true when no worker had the job yet */
  async #stop(jobId: string, control: (message: JobControl) => Promise<void>, queue: Queue): Promise<boolean> {
    // The message comes first, so that a worker that takes the job at this moment finds it.
    await control({type: 'stop'}).catch(() => undefined);
    try {
      return (await queue.remove(jobId)) === 1;
    } catch {
      return false;
    }
  }

  async #control(jobId: string, message: JobControl, {connection}: Connected): Promise<void> {
    const key = this.#keys.control(jobId);
    const signed = JSON.stringify(this.#signatures.sign('control', {jobId, message}, LIFE_MS));
    await connection.pipeline().xadd(key, '*', 'm', signed).pexpire(key, LIFE_MS).exec();
  }

  /** Never rejects. @returns the blob, which may be in the queue in part */
  async #sendPart(
    part: TreePart,
    tree: TreeState,
    control: (message: JobControl) => Promise<void>,
    {blobs}: Connected,
    signal: AbortSignal,
  ): Promise<BlobRef | undefined> {
    const {trees} = this.deps;
    let blob: BlobRef | undefined;
    try {
      const bytes = await (part === 'patch' ? trees.readPatch(tree) : trees.readBundle(tree));
      blob = blobs.describe(bytes);
      await control({type: 'part', part, blob});
      await blobs.stream(bytes, blob, signal);
    } catch (error) {
      if (!signal.aborted) this.deps.notify(`the files could not be sent to a worker: ${getErrorMessage(error)}`);
    }
    return blob;
  }

  async #collect(
    runId: string,
    stored: StoredJob,
    job: Job,
    watch: RemoteWatch,
    connected: Connected,
  ): Promise<RemoteEnd> {
    const {blobs} = connected;
    const results = new Results({blobs, signatures: this.#signatures, trees: this.deps.trees, files: this.#files});
    const {ref, outcome, worker} = await results.read(job).catch((error: unknown) => {
      // The result would be the same at the next attempt.
      this.#tidy(this.#remove(runId, stored, connected));
      throw new MiniCcError('WORKER', `its result cannot be taken: ${getErrorMessage(error)}`);
    });
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
        this.#tidy(this.#remove(runId, stored, connected));
      },
    };
  }

  async #remove(runId: string, {jobId, nonce}: StoredJob, {connection, queue}: Connected): Promise<void> {
    await connection.set(this.#keys.nonce(nonce), 'ended', 'PX', LIFE_MS);
    await queue.remove(jobId).catch(() => undefined);
    await connection.unlink(this.#keys.control(jobId), this.#keys.declined(jobId));
    // The run may be in its next round by then.
    if (this.#files.read(runId)?.jobId === jobId) await this.#files.remove(runId);
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
