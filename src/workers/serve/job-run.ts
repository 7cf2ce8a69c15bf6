/** Carries out one job at a worker: opens its tree, runs the agent and packs the result. */
import {randomUUID} from 'node:crypto';
import {gzipSync} from 'node:zlib';
import type {Redis} from 'ioredis';
import type {AgentEventBody} from '../../core/contract/events.ts';
import type {Usage} from '../../core/contract/model.ts';
import type {RunResult} from '../../core/contract/results.ts';
import type {CallSize, Reservation, ReserveAbove} from '../../core/contract/tool.ts';
import type {TranscriptEntry, UsedSoFar} from '../../core/contract/transcript.ts';
import type {RemoteReservation, RemoteTask} from '../../core/runs/remote-runs.ts';
import {BudgetReached} from '../../core/turn/budget.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError, tryOr} from '../../core/util/errors.ts';
import {withoutUndefined} from '../../core/util/objects.ts';
import {type CachedTree, RefusedTree, type TreeCache} from '../../storage/worktrees/tree-cache.ts';
import type {Keys} from '../queue/address.ts';
import type {Blobs} from '../queue/blobs.ts';
import {checkControl, checkScope, checkTask, type JobControl} from '../queue/checked-contents.ts';
import {describeFailure} from '../queue/connection.ts';
import {
  type BlobRef,
  CHUNK_BYTES,
  fromRelative,
  type Job,
  type JobEvent,
  LIFE_MS,
  MAX_INLINE_BYTES,
  MAX_OUTCOME_BYTES,
  MAX_TASK_BYTES,
  type RemoteOutcome,
  type TreePart,
  toRelative,
} from '../queue/messages.ts';
import {RefusedMessage, type Signatures} from '../queue/signatures.ts';

/** Function that carries out the run of a job. `compose/` builds it from a session. */
export type Execute = (work: RemoteTask, place: ExecutePlace) => Promise<Executed>;

export interface ExecutePlace {
  readonly runId: string;
  /** Checkout of the workspace on this machine. */
  readonly tree: CachedTree;
  readonly traceparent: string | undefined;
  /** An abort stops the run, which then returns what it has. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: AgentEventBody) => void;
  /** Present when the session has budgets. */
  readonly reserveAbove?: ReserveAbove;
  readonly onDelivered: (id: string) => void;
  /** Calls the listener with each message that was sent to the run. */
  readonly onMessage: (listener: (id: string, text: string) => void) => void;
}

export interface Executed {
  readonly result: RunResult;
  readonly entries: readonly TranscriptEntry[];
  readonly patch?: Buffer | undefined;
  /** Bundle of the commits that the run made. */
  readonly commits?: Buffer | undefined;
}

export interface JobRunDeps {
  readonly connection: Redis;
  readonly keys: Keys;
  readonly blobs: Blobs;
  readonly signatures: Signatures;
  readonly trees: TreeCache;
  readonly worker: string;
  readonly execute: Execute;
  /** Whether this worker still holds the job. */
  isHeld(): Promise<boolean>;
}

/** Thrown when the job cannot be done at present and goes back to the queue. */
export class GiveBack extends MiniCcError {
  /** @param isOwn whether only this worker cannot do the job, so that another one may */
  constructor(
    text: string,
    readonly isOwn = true,
  ) {
    super('GIVE_BACK', text);
  }
}

/** Milliseconds within which a session that is present answers a request for a part of the tree. */
const PART_MS = 10 * 60_000;
/** Milliseconds between two checks whether the session is still present, while a worker waits for it. */
const LOOK_MS = 2_000;
/** Milliseconds between two reads of the session's messages to a run. */
const POLL_MS = 500;
/** The same, while a call waits for its reservation. */
const RESERVATION_POLL_MS = 50;
/** Number of events that are stored for a session that does not read them. */
const MAX_EVENTS = 5_000;
/** Bytes. The content of larger messages is sent only with the result. */
const MAX_EVENT_BYTES = 4_096;
/** Compressed results that are larger than this leave out the transcript and the commits. */
const MAX_RESULT_BYTES = 16 * CHUNK_BYTES;
/** Only these events are sent to the session while the run is at work. */
const PUBLISHED = new Set(['tool_start', 'tool_end', 'message', 'retry', 'notice', 'run_note']);

export class JobRun {
  readonly #abort = new AbortController();
  readonly #messages: {id: string; text: string}[] = [];
  #onMessage: (id: string, text: string) => void = (id, text) => this.#messages.push({id, text});
  readonly #parts = new Map<TreePart, (blob: BlobRef) => void>();
  /** Nonces of the control messages that were handled. A copy of one counts for nothing. */
  readonly #nonces = new Set<string>();
  /** Calls that wait for their reservation. */
  readonly #reservations = new Map<string, (reserved: RemoteReservation) => void>();
  #isStopped = false;
  #isOver = false;

  constructor(
    private readonly job: Job,
    private readonly attempt: number,
    private readonly deps: JobRunDeps,
  ) {}

  /** Whether the session stopped the run, rather than this worker. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Whether the run was ended without a result, so that it is not over. */
  get isAborted(): boolean {
    return this.#abort.signal.aborted && !this.#isStopped;
  }

  /** Ends the run without a result. */
  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  /** @returns the result to sign. @throws GiveBack; RefusedMessage when no worker may do what the job asks for */
  async work(): Promise<string | BlobRef> {
    const {deps, job} = this;
    await this.publish({type: 'begun'});
    inBackground(this.#readControls(), neverRejects);
    try {
      const work = await this.#readWork();
      const tree = await this.#openTree();
      const task = fromRelative(work, tree.root);
      checkScope(task, tree.root);
      const executed = await deps.execute(task, {
        runId: job.runId,
        tree,
        traceparent: job.traceparent,
        signal: this.#abort.signal,
        onEvent: (event) => this.#publishEvent(event),
        ...(task.isBudgeted && {reserveAbove: (call, signal) => this.#reserve(call, signal)}),
        // If the queue cannot be reached, the session counts the message as not delivered.
        onDelivered: (id) => inBackground(this.publish({type: 'delivered', id}), () => undefined),
        onMessage: (listener) => {
          this.#onMessage = listener;
          for (const {id, text} of this.#messages) listener(id, text);
        },
      });
      if (this.isAborted) throw this.#abort.signal.reason;
      return await this.#pack(executed, tree.root);
    } finally {
      this.#isOver = true;
    }
  }

  /**
   * @throws GiveBack for any failure but an abort and a tree that is refused: for example, this disk may be full, and
   * that of another worker is not
   */
  async #openTree(): Promise<CachedTree> {
    try {
      return await this.deps.trees.open(this.job.tree, {
        readPatch: () => this.#askForPart('patch'),
        readBundle: () => this.#askForPart('bundle'),
      });
    } catch (error) {
      const isDecided = error instanceof GiveBack || error instanceof RefusedTree;
      if (isDecided || this.#abort.signal.aborted) throw error;
      throw new GiveBack(`it cannot lay out the files: ${getErrorMessage(error)}`);
    }
  }

  async publish(what: JobEvent['what']): Promise<void> {
    const {connection, keys, signatures, worker} = this.deps;
    const {jobId, sessionId} = this.job;
    const event: JobEvent = {jobId, attempt: this.attempt, worker, what};
    const key = keys.events(sessionId);
    const text = JSON.stringify(signatures.sign('event', event, LIFE_MS));
    await connection.pipeline().xadd(key, 'MAXLEN', '~', MAX_EVENTS, '*', 'm', text).pexpire(key, LIFE_MS).exec();
  }

  /** An event of progress may be lost, because the result has the same facts. */
  #publishEvent(event: AgentEventBody): void {
    if (!PUBLISHED.has(event.type)) return;
    if (event.type === 'message' && event.role === 'user') return;
    const isLarge = JSON.stringify(event).length > MAX_EVENT_BYTES;
    const small = isLarge && event.type === 'message' && event.role === 'assistant' ? {...event, content: []} : event;
    if (isLarge && small === event) return;
    inBackground(this.publish({type: 'event', event: small}), () => undefined);
  }

  async #readWork(): Promise<RemoteTask> {
    const {work} = this.job;
    if (typeof work !== 'string' && work.bytes > MAX_TASK_BYTES) {
      throw new RefusedMessage('format', `its task is larger than ${formatMegabytes(MAX_TASK_BYTES)}`);
    }
    const text = typeof work === 'string' ? work : (await this.deps.blobs.read(work)).toString();
    return checkTask(
      tryOr(() => JSON.parse(text) as unknown, undefined),
      this.job,
    );
  }

  async #isSessionAway(): Promise<boolean> {
    const {connection, keys} = this.deps;
    return (await connection.exists(keys.presence(this.job.sessionId))) === 0;
  }

  /** @throws GiveBack when the session is absent or does not send the part, so that it does not occupy this worker */
  async #askForPart(part: TreePart): Promise<Buffer> {
    const {blobs} = this.deps;
    const over = new AbortController();
    const giveUp = (why: string) => over.abort(new GiveBack(`only its session has its files, and that ${why}`, false));
    const look = async () => {
      if (await this.#isSessionAway()) giveUp('is away');
    };
    const timers = [
      // A failed check is ignored, because the next one follows.
      setInterval(() => inBackground(look(), () => undefined), LOOK_MS),
      setTimeout(() => giveUp('does not send them'), PART_MS),
    ];
    const signal = AbortSignal.any([this.#abort.signal, over.signal]);
    try {
      await look();
      signal.throwIfAborted();
      const answered = new Promise<BlobRef>((resolve, reject) => {
        this.#parts.set(part, resolve);
        signal.addEventListener('abort', () => reject(signal.reason as Error), {once: true});
      });
      // While the queue cannot be reached, `publish` itself waits. The limits apply to that wait too.
      const [ref] = await Promise.all([answered, this.publish({type: 'needs', part})]);
      const bytes = await blobs.read(ref);
      await blobs.remove(ref);
      return bytes;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new GiveBack(`its files did not come: ${describeFailure(error)}`, false);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /**
   * Reserves what a call can cost in the session's budgets. While the session is away, the run goes on by its own
   * limits.
   * @throws BudgetReached when the call does not fit; the signal's reason
   */
  async #reserve(call: CallSize, signal: AbortSignal): Promise<Reservation> {
    const {model, ...size} = call;
    const id = randomUUID();
    const used: UsedSoFar[] = [];
    const {promise, resolve, reject} = Promise.withResolvers<RemoteReservation>();
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, {once: true});
    const look = async () => {
      if (await this.#isSessionAway()) resolve(call);
    };
    const timer = setInterval(() => inBackground(look(), () => undefined), LOOK_MS);
    this.#reservations.set(id, resolve);
    const release = () => inBackground(this.publish({type: 'release', id, used}), () => undefined);
    try {
      const {name, inputPrice, outputPrice} = model;
      const prices = withoutUndefined({inputPrice, outputPrice});
      await this.publish({type: 'reserve', id, call: {...size, model: {name, ...prices}}});
      const found = await promise;
      if ('limit' in found) throw new BudgetReached(found.limit);
      const {inputTokens, maxOutputTokens} = found;
      const spend = (usage: Usage, by: string) => {
        used.push({usage, model: by});
      };
      return {inputTokens, maxOutputTokens, uncovered: undefined, count: () => undefined, spend, release};
    } catch (error) {
      if (!(error instanceof BudgetReached)) release();
      throw error;
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
      this.#reservations.delete(id);
    }
  }

  /** Reads the session's messages from the first one on, because another worker may have had the job before. */
  async #readControls(): Promise<void> {
    const {connection, keys} = this.deps;
    for (let last = '0'; !this.#isOver; ) {
      // When the connection is lost, it comes back by itself.
      const read = await connection.xread('STREAMS', keys.control(this.job.jobId), last).catch(() => null);
      for (const [id, [, text = '']] of read?.[0]?.[1] ?? []) {
        last = id;
        this.#handle(text);
      }
      const pollMs = this.#reservations.size > 0 ? RESERVATION_POLL_MS : POLL_MS;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  #handle(text: string): void {
    let message: JobControl;
    try {
      const {body, nonce} = this.deps.signatures.verify('control', JSON.parse(text));
      const control = checkControl(body);
      if (control.jobId !== this.job.jobId || this.#nonces.has(nonce)) return;
      this.#nonces.add(nonce);
      message = control.message;
    } catch (error) {
      if (error instanceof RefusedMessage || error instanceof SyntaxError) return;
      throw error;
    }
    if (message.type === 'send') this.#onMessage(message.id, message.text);
    else if (message.type === 'reserved') this.#reservations.get(message.id)?.(message.reserved);
    else if (message.type === 'part') this.#parts.get(message.part)?.(message.blob);
    else {
      this.#isStopped = true;
      this.#abort.abort(new MiniCcError('STOPPED', 'stopped'));
    }
  }

  async #pack({result, entries, patch, commits}: Executed, root: string): Promise<string | BlobRef> {
    const outcome: RemoteOutcome = {
      ...toRelative({result, entries}, root),
      notes: [],
      ...(patch && {patch: patch.toString('base64')}),
      ...(commits && {commits: commits.toString('base64')}),
    };
    const {blobs} = this.deps;
    const bytes = compress(outcome);
    if (bytes.length <= MAX_INLINE_BYTES) return bytes.toString('base64');
    const ref = blobs.describe(bytes);
    try {
      // If another worker has the job by then, no session would remove this result from the queue.
      if (!(await this.deps.isHeld())) throw new MiniCcError('WORKER', 'another worker has taken it over');
      await blobs.put(bytes, ref);
    } catch (error) {
      if (error instanceof MiniCcError) throw error;
      await blobs.remove(ref).catch(() => undefined);
      throw new GiveBack(`its result cannot be written: ${describeFailure(error)}`, false);
    }
    return ref;
  }
}

/** @throws MiniCcError when the changes alone are larger than a result may be */
function compress(outcome: RemoteOutcome): Buffer {
  const text = JSON.stringify(outcome);
  const whole = gzipSync(text);
  if (whole.length <= MAX_RESULT_BYTES && text.length <= MAX_OUTCOME_BYTES) return whole;
  const note = `Its transcript and commits are too large for the queue (${formatMegabytes(whole.length)}): they stayed at the worker.`;
  const {commits: _, ...rest} = outcome;
  const small = gzipSync(JSON.stringify({...rest, entries: [], notes: [...outcome.notes, note]}));
  if (small.length <= MAX_RESULT_BYTES) return small;
  const most = formatMegabytes(MAX_RESULT_BYTES);
  throw new MiniCcError('WORKER', `its changes are ${formatMegabytes(small.length)}, and a result has at most ${most}`);
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / CHUNK_BYTES).toFixed(1)} MB`;
}
