/** Ends a model call that is dead: no byte comes, no content comes, or the content only drips. */
import type {StreamEvent} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {ModelError} from '../core/util/errors.ts';
import {watchTime} from './awake-time.ts';
import {createResponse} from './http-response.ts';

/** A reply that has begun brings at least so many bytes of content in this time. */
const MIN_CONTENT_BYTES = 120;
const CONTENT_SECONDS = 120;

export interface ReplyLimits {
  /** Seconds without a byte from the server after which a call fails; 0: no limit. */
  readonly idleSeconds: number;
  /** Seconds without content, before the first and between blocks, while bytes still come; 0: no limit. */
  readonly thinkingSeconds: number;
}

export class ReplyWatch {
  readonly #abort = new AbortController();
  readonly #onAbort = () => this.#abort.abort(this.outer.reason);
  readonly #stopTimer: () => void;
  #byteAt: number;
  #contentAt: number;
  /** The content of the block that is being streamed; undefined between blocks and before the content of the first. */
  #block: {bytes: number; since: number} | undefined;
  #failure: ModelError | undefined;
  #begunAt: number | undefined;

  /** @param outer aborts the call too. */
  constructor(
    private readonly limits: ReplyLimits,
    private readonly clock: Clock,
    private readonly outer: AbortSignal,
  ) {
    this.#byteAt = this.#contentAt = clock.now();
    if (outer.aborted) this.#onAbort();
    outer.addEventListener('abort', this.#onAbort, {once: true});
    this.#stopTimer = watchTime(clock, this.#dueMs(), (hasSlept) => this.#check(hasSlept));
  }

  /** Aborts the HTTP request. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the watch ended the call, if it did. */
  get failure(): ModelError | undefined {
    return this.#failure;
  }

  /** When the first content came; undefined when none came, and when it only dripped. */
  get begunAt(): number | undefined {
    return this.#failure === undefined ? this.#begunAt : undefined;
  }

  /** @returns the same response; each chunk of its body counts as a sign of life, also a ping. */
  watchBytes(response: Response): Response {
    this.#byteAt = this.clock.now();
    const {status, statusText, headers, url, body} = response;
    if (!body) return response;
    return createResponse({status, statusText, headers, url, body: this.#watchChunks(body)});
  }

  async *#watchChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      this.#byteAt = this.clock.now();
      yield chunk;
    }
  }

  /** A sign of life of a stream whose bytes are not seen here. */
  addBytes(): void {
    this.#byteAt = this.clock.now();
  }

  addEvent(event: StreamEvent): void {
    if (event.type === 'content_block_stop') this.#block = undefined;
    const bytes = countContentBytes(event);
    if (bytes === 0) return;
    const now = this.clock.now();
    this.#contentAt = now;
    this.#begunAt ??= now;
    this.#block ??= {bytes: 0, since: now};
    this.#block.bytes += bytes;
    if (this.#block.bytes >= MIN_CONTENT_BYTES) this.#block = {bytes: 0, since: now};
  }

  /** Closes the connection. */
  abort(): void {
    this.#abort.abort();
  }

  /** The call has ended. */
  stop(): void {
    this.#stopTimer();
    this.outer.removeEventListener('abort', this.#onAbort);
  }

  #check(hasSlept: boolean): number {
    const now = this.clock.now();
    if (hasSlept) {
      this.#byteAt = this.#contentAt = now;
      if (this.#block) this.#block.since = now;
    }
    const dueMs = this.#dueMs();
    if (dueMs <= 0) {
      this.#failure = this.#createFailure();
      this.stop();
      this.#abort.abort(this.#failure);
    }
    return dueMs;
  }

  /** When, by the clock, each limit is reached if nothing more comes. */
  get #dues(): {byteDue: number; contentDue: number} {
    const {idleSeconds, thinkingSeconds} = this.limits;
    const contentDue = this.#block
      ? this.#block.since + CONTENT_SECONDS * 1000
      : this.#contentAt + toLimit(thinkingSeconds);
    return {byteDue: this.#byteAt + toLimit(idleSeconds), contentDue};
  }

  /** Milliseconds until the first limit is reached if nothing more comes. */
  #dueMs(): number {
    const {byteDue, contentDue} = this.#dues;
    return Math.min(byteDue, contentDue) - this.clock.now();
  }

  /** The limit that was reached first says why: asking the clock once more could find both reached, or none. */
  #createFailure(): ModelError {
    const {idleSeconds, thinkingSeconds} = this.limits;
    const {byteDue, contentDue} = this.#dues;
    // Both times are limits of a run: another attempt would allow them twice.
    if (byteDue <= contentDue) {
      return new ModelError('idle', `no byte from the model for ${idleSeconds} s`, {retryable: false});
    }
    if (!this.#block) {
      return new ModelError('idle', `no content from the model for ${thinkingSeconds} s`, {retryable: false});
    }
    const message = `the stream brought less than ${MIN_CONTENT_BYTES} bytes in ${CONTENT_SECONDS} s`;
    return new ModelError('stream', message, {retryable: true});
  }
}

function toLimit(seconds: number): number {
  return seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
}

/** Bytes of text, thinking, signature and tool input. */
function countContentBytes(event: StreamEvent): number {
  const part: Readonly<Record<string, unknown>> =
    event.type === 'content_block_delta'
      ? {...event.delta}
      : event.type === 'content_block_start'
        ? {...event.content_block}
        : {};
  return ['text', 'thinking', 'signature', 'partial_json', 'data'].reduce((sum, key) => {
    const value = part[key];
    return typeof value === 'string' ? sum + Buffer.byteLength(value) : sum;
  }, 0);
}
