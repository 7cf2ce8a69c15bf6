/** Ends a dead model call: one without bytes, without content, or with too little content. */
import type {StreamEvent} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {ModelError} from '../core/util/errors.ts';
import {watchTime} from './awake-time.ts';
import {watchChunks} from './http-fetch.ts';
import {countContentBytes} from './reply-content.ts';

/** Minimal bytes of content that a reply must bring within `CONTENT_SECONDS` after its content has begun. */
const MIN_CONTENT_BYTES = 120;
const CONTENT_SECONDS = 120;

export interface ReplyLimits {
  /** Seconds without a byte from the server after which a call fails; 0 for no limit. */
  readonly idleSeconds: number;
  /** Seconds without content while bytes still arrive, before the first content and between blocks; 0 for no limit. */
  readonly thinkingSeconds: number;
}

export class ReplyWatch {
  readonly #abort = new AbortController();
  readonly #onAbort = () => this.#abort.abort(this.outer.reason);
  readonly #stopTimer: () => void;
  #byteAt: number;
  #contentAt: number;
  /** Content of the block that is being streamed; undefined between blocks and before the first content. */
  #block: {bytes: number; since: number} | undefined;
  #failure: ModelError | undefined;
  #begunAt: number | undefined;

  /** @param outer signal that aborts the call, too */
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

  /** Signal that aborts the HTTP request. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The error with which the watch ended the call, if it did. */
  get failure(): ModelError | undefined {
    return this.#failure;
  }

  /** Time of the first content; undefined when there was none, or when the watch ended the call. */
  get begunAt(): number | undefined {
    return this.#failure === undefined ? this.#begunAt : undefined;
  }

  /** @returns the same response; each chunk of its body, even a ping, counts as a sign of life */
  watchBytes(response: Response): Response {
    this.addBytes();
    return watchChunks(response, () => this.addBytes());
  }

  /** Counts a sign of life of a stream whose bytes are not visible here. */
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

  abort(): void {
    this.#abort.abort();
  }

  /** Ends the watch when the call has ended. */
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

  /** Times by the clock at which each limit is reached if nothing more arrives. */
  get #dues(): {byteDue: number; contentDue: number} {
    const {idleSeconds, thinkingSeconds} = this.limits;
    const contentDue = this.#block
      ? this.#block.since + CONTENT_SECONDS * 1000
      : this.#contentAt + toLimit(thinkingSeconds);
    return {byteDue: this.#byteAt + toLimit(idleSeconds), contentDue};
  }

  /** Returns the milliseconds until the first limit is reached if nothing more arrives. */
  #dueMs(): number {
    const {byteDue, contentDue} = this.#dues;
    return Math.min(byteDue, contentDue) - this.clock.now();
  }

  /**
   * Returns an error for the limit that was reached first. Reading the clock again could find both limits reached, or
   * none.
   */
  #createFailure(): ModelError {
    const {idleSeconds, thinkingSeconds} = this.limits;
    const {byteDue, contentDue} = this.#dues;
    // Both times are limits of a run, and another attempt would allow them twice.
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
