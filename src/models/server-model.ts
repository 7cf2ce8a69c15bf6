/**
 * Implements a model behind a server: one call with its retries, and the watch over the reply. The protocol is
 * separate.
 */

import type {
  Message,
  Model,
  ModelProgress,
  ModelReply,
  ModelRequest,
  ModelSource,
  StreamEvent,
  Thinking,
} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {hasThoughts, withoutServerBlocks, withoutThoughts} from '../core/turn/valid-messages.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import type {ContextSize} from './context-size.ts';
import type {PriceList} from './prices.ts';
import type {Protocol, ReplyEvents} from './protocol.ts';
import {ReplyBuilder} from './reply-builder.ts';
import {type ReplyLimits, ReplyWatch} from './reply-watch.ts';
import {type Attempt, withRetries} from './retry.ts';

export interface ModelSettings {
  /** Name for the user: `provider/id`, or the id alone for the default provider. */
  readonly name: string;
  /** Name for the server. */
  readonly id: string;
  readonly source?: ModelSource | undefined;
  readonly thinking?: Thinking | undefined;
  /** Tokens of `--max-thinking-tokens`. */
  readonly thinkingTokens?: number | undefined;
  /** True when the server searches the web by itself. */
  readonly searchesWeb?: boolean;
  readonly local: boolean;
  readonly maxOutputTokens: number;
  readonly prices: PriceList;
  readonly contextSize: ContextSize;
  readonly replyLimits: ReplyLimits;
  /** Seconds for which a failed call is tried again. */
  readonly maxWaitSeconds: number;
  readonly clock: Clock;
}

/** Milliseconds that a response may take to end after its last event. Then its connection is closed. */
const RELEASE_MS = 1_000;

export class ServerModel implements Model {
  readonly offline = false;
  /** Replies without parts that some server refuses. Each reply is checked once. */
  readonly #forAll = new WeakSet<Message>();

  /** @param protocol loads the protocol at the first call */
  constructor(
    private readonly settings: ModelSettings,
    private readonly protocol: () => Promise<Protocol>,
  ) {}

  contextWindow(mayAsk: boolean): Promise<number | undefined> {
    return this.settings.contextSize(mayAsk);
  }

  get maxOutputTokens(): number {
    return this.settings.maxOutputTokens;
  }

  get outputPrice(): number | undefined {
    return this.settings.prices.getOutputPrice(this.name);
  }

  get name(): string {
    return this.settings.name;
  }

  get local(): boolean {
    return this.settings.local;
  }

  get source(): ModelSource | undefined {
    return this.settings.source;
  }

  get thinking(): Thinking | undefined {
    return this.settings.thinking;
  }

  /** @param maxWaitSeconds replaces the limit of the settings when another model can answer, too */
  async reply(
    request: ModelRequest,
    onProgress: (progress: ModelProgress) => void,
    maxWaitSeconds = this.settings.maxWaitSeconds,
  ): Promise<ModelReply> {
    const {clock} = this.settings;
    const messages = this.#withoutForeignParts(request);
    return withRetries({maxWaitSeconds, clock, signal: request.signal, onProgress}, (attempt) =>
      this.#once({...request, messages}, attempt, onProgress),
    );
  }

  async #once(
    request: ModelRequest,
    attempt: Attempt,
    onProgress: (progress: ModelProgress) => void,
  ): Promise<ModelReply> {
    const {replyLimits, clock, name, prices} = this.settings;
    const protocol = await this.protocol();
    const watch = new ReplyWatch(replyLimits, clock, request.signal);
    const builder = new ReplyBuilder();
    try {
      const events = await protocol.open(request, this.#getOptions(request), watch);
      for (;;) {
        const {done, value: event} = await events.next();
        if (done) break;
        builder.add(event);
        watch.addEvent(event);
        reportProgress(event, onProgress);
        if (event.type === 'message_start' || event.type === 'message_delta') {
          onProgress({type: 'usage', usage: prices.addCost(builder.usage, name), model: name});
        }
        if (event.type === 'message_stop') {
          inBackground(releaseConnection(events, watch), neverRejects);
          break;
        }
      }
      const whole = builder.finish(this.settings.id);
      const model = this.#getFullName(whole.model);
      return {...whole, usage: prices.addCost(whole.usage, model, name), model, asked: name};
    } catch (error) {
      watch.abort();
      request.signal.throwIfAborted();
      throw watch.failure ?? protocol.toModelError(error);
    } finally {
      watch.stop();
      attempt.begunAt = watch.begunAt;
    }
  }

  #getOptions({maxOutputTokens = Number.POSITIVE_INFINITY}: ModelRequest) {
    const {id, thinking, thinkingTokens, searchesWeb = false} = this.settings;
    const maxTokens = Math.max(1, Math.min(this.settings.maxOutputTokens, maxOutputTokens));
    return {id, thinking, thinkingTokens, searchesWeb, maxTokens};
  }

  /** @param answered the server's name of the model that answered */
  #getFullName(answered: string): string {
    const {name, id} = this.settings;
    return name.endsWith(id) ? `${name.slice(0, name.length - id.length)}${answered}` : answered;
  }

  /** Tells whether the message has no parts that must be left out for some server. */
  #isForAll(message: Message): boolean {
    if (this.#forAll.has(message)) return true;
    if (hasThoughts(message) || withoutServerBlocks(message) !== message) return false;
    this.#forAll.add(message);
    return true;
  }

  /**
   * Removes parts that other models made. A signature is valid only for the model that made it: other models refuse the
   * block, or would read thoughts that are not theirs. Blocks of web searches stay only for servers that search.
   */
  #withoutForeignParts({messages, thinkerOf}: ModelRequest): readonly Message[] {
    const {name, searchesWeb = false} = this.settings;
    return messages.flatMap((message) => {
      if (message.role !== 'assistant' || this.#isForAll(message)) return message;
      const own = thinkerOf ? withoutThoughts(message, (seal) => (thinkerOf(seal) ?? name) !== name) : message;
      return (searchesWeb || !own ? own : withoutServerBlocks(own)) ?? [];
    });
  }
}

/**
 * Frees the connection after a complete reply. A server that ends the response in time leaves the connection for the
 * next request. Otherwise the connection is closed.
 */
async function releaseConnection(events: ReplyEvents, watch: ReplyWatch): Promise<void> {
  const timer = setTimeout(() => watch.abort(), RELEASE_MS);
  timer.unref();
  try {
    while (!(await events.next()).done);
  } catch {
    // An error after the end of a reply does not concern the reply.
    watch.abort();
  } finally {
    clearTimeout(timer);
  }
}

function reportProgress(event: StreamEvent, onProgress: (progress: ModelProgress) => void): void {
  onProgress({type: 'raw', event});
  if (event.type === 'content_block_start') {
    const block = event.content_block;
    if (block.type === 'text' && block.text !== '') onProgress({type: 'text', text: block.text});
    if (block.type === 'thinking' && block.thinking !== '') onProgress({type: 'thinking', text: block.thinking});
  }
  if (event.type !== 'content_block_delta') return;
  if (event.delta.type === 'text_delta') onProgress({type: 'text', text: event.delta.text});
  if (event.delta.type === 'thinking_delta') onProgress({type: 'thinking', text: event.delta.thinking});
}
