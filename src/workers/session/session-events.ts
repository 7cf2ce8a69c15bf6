/**
 * Reads the events of workers about a session's jobs from its stream, and removes them from it. It also checks every
 * few seconds whether jobs have ended, because a worker that dies between two writes sends no event.
 */
import {Job, type Queue} from 'bullmq';
import type {Redis} from 'ioredis';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import type {Keys} from '../queue/address.ts';
import {checkEvent} from '../queue/checked-contents.ts';
import type {JobEvent} from '../queue/messages.ts';
import {RefusedMessage, type Signatures} from '../queue/signatures.ts';

interface SessionEventsDeps {
  readonly connection: Redis;
  /** Separate connection, because it blocks until the next event. */
  readonly reader: Redis;
  readonly queue: Queue;
  readonly signatures: Signatures;
  readonly keys: Keys;
}

type End = 'completed' | 'failed' | 'missing';

interface Follower {
  readonly onEvent: (event: JobEvent) => void;
  /** Nonces of the events that were handled. A copy of one counts for nothing. */
  readonly nonces: Set<string>;
  readonly end: (end: End) => void;
}

const BLOCK_MS = 2_000;
const LOOK_UP_MS = 2_000;
/** Milliseconds without a sign of life after which the session counts as absent. */
const AWAY_MS = 10_000;
const PAUSE_MS = 200;

export class SessionEvents {
  readonly #followers = new Map<string, Follower>();
  /** Id of the last event that was read, for each session of this process. `/clear` begins another session. */
  readonly #sessions = new Map<string, string>();
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  /** Time when workers last saw the session, in milliseconds of `performance.now()`. */
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: SessionEventsDeps) {}

  start(sessionId: string): void {
    this.#sessions.set(sessionId, '0');
    inBackground(this.#read(), neverRejects);
    this.#plan();
  }

  /**
   * Calls `onEvent` for the job's events until it is closed. `ended` resolves at the end of the job, and never rejects.
   */
  follow(jobId: string, onEvent: (event: JobEvent) => void) {
    let end: (end: End) => void = () => undefined;
    const ended = new Promise<End>((resolve) => {
      end = resolve;
    });
    this.#followers.set(jobId, {onEvent, end, nonces: new Set()});
    return {ended, close: () => this.#followers.delete(jobId)};
  }

  /**
   * Shows workers that the session is present, so that they ask it for files. After an absence it calls its jobs back.
   */
  async showPresence(sessionId: string): Promise<void> {
    if (!this.#sessions.has(sessionId)) {
      this.#sessions.set(sessionId, '0');
      this.#shownAt = Number.NEGATIVE_INFINITY;
    }
    await this.#showAll();
  }

  async #showAll(): Promise<void> {
    const {connection, keys} = this.deps;
    const now = performance.now();
    if (now - this.#shownAt < LOOK_UP_MS) return;
    const show = (id: string) => connection.set(keys.presence(id), '1', 'PX', AWAY_MS, 'GET');
    const before = await Promise.all([...this.#sessions.keys()].map(show));
    this.#shownAt = now;
    if (before.includes(null)) await this.callBack([...this.#followers.keys()]);
  }

  /** Lets delayed jobs begin at once. Workers that found no session had put them aside for a while. */
  async callBack(jobIds: readonly string[]): Promise<void> {
    const promote = async (jobId: string) => (await Job.fromId(this.deps.queue, jobId))?.promote();
    // A job that is not delayed is refused, which is no error.
    await Promise.allSettled(jobIds.map(promote));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.deps.reader.disconnect();
    // The call does not wait for the server, which may be unreachable: the keys expire by themselves.
    const {connection, keys} = this.deps;
    connection.unlink(...[...this.#sessions.keys()].map((id) => keys.presence(id))).catch(() => undefined);
  }

  async #read(): Promise<void> {
    const {reader, connection, keys} = this.deps;
    while (!this.#isClosed) {
      try {
        const sessions = [...this.#sessions.keys()];
        const from = [...sessions.map((id) => keys.events(id)), ...this.#sessions.values()];
        const read = await reader.xread('COUNT', 200, 'BLOCK', BLOCK_MS, 'STREAMS', ...from);
        for (const [stream, entries] of read ?? []) {
          for (const [, [, text = '']] of entries) this.#handle(text);
          const last = entries.at(-1)![0];
          this.#sessions.set(sessions.find((id) => keys.events(id) === stream)!, last);
          await connection.xtrim(stream, 'MINID', nextId(last));
        }
      } catch {
        // The connection is lost, and comes back by itself.
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  #handle(text: string): void {
    try {
      const {body, nonce} = this.deps.signatures.verify('event', JSON.parse(text));
      const event = checkEvent(body);
      const follower = this.#followers.get(event.jobId);
      if (!follower || follower.nonces.has(nonce)) return;
      follower.nonces.add(nonce);
      if (event.what.type === 'ended') this.#lookUp([event.jobId]).catch(() => undefined);
      else follower.onEvent(event);
    } catch (error) {
      // Others may write into the stream. Messages that are not signed are ignored.
      if (!(error instanceof RefusedMessage || error instanceof SyntaxError)) throw error;
    }
  }

  #plan(): void {
    this.#timer = setTimeout(() => {
      const jobIds = [...this.#followers.keys()];
      const looked = Promise.all([this.#lookUp(jobIds), jobIds.length > 0 && this.#showAll()]);
      const planned = looked.finally(() => this.#isClosed || this.#plan());
      // The connection is lost, and comes back by itself.
      inBackground(planned, () => undefined);
    }, LOOK_UP_MS);
    this.#timer.unref();
  }

  /** Finds the jobs that have ended. */
  async #lookUp(jobIds: readonly string[]): Promise<void> {
    const {connection, queue} = this.deps;
    if (jobIds.length === 0) return;
    const asked = connection.pipeline();
    // The job itself comes first, so that one that ends in the meantime is found in its set.
    for (const id of jobIds) asked.exists(queue.toKey(id));
    for (const type of ['completed', 'failed']) asked.zmscore(queue.toKey(type), ...jobIds);
    const answers = ((await asked.exec()) ?? []).map(([, answer]) => answer);
    const [completed, failed] = answers.slice(jobIds.length) as (string | null)[][];
    for (const [index, id] of jobIds.entries()) {
      const follower = this.#followers.get(id);
      if (completed?.[index]) follower?.end('completed');
      else if (failed?.[index]) follower?.end('failed');
      else if (answers[index] === 0) follower?.end('missing');
    }
  }
}

/** Returns the id after this one, so that trimming removes all entries up to this one. */
function nextId(id: string): string {
  const [time, count = '0'] = id.split('-');
  return `${time}-${Number(count) + 1}`;
}
