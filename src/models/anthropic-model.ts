/** A model behind a server that speaks the Anthropic Messages API. */

import Anthropic from '@anthropic-ai/sdk';
import type {Model, ModelProgress, ModelReply, ModelRequest, StreamEvent} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {withCacheMarks} from './cache-marks.ts';
import {ContextSize} from './context-size.ts';
import {toModelError} from './model-errors.ts';
import {ReplyBuilder} from './reply-builder.ts';
import {readReplyEvents} from './reply-events.ts';
import {type ReplyLimits, ReplyWatch} from './reply-watch.ts';
import {type RequestBody, RequestBuffers} from './request-body.ts';
import {type Attempt, type RetryPolicy, withRetries} from './retry.ts';

export interface ModelServer {
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly authToken?: string;
  /** Takes the place of the network: the offline model. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface ModelSettings {
  /** Shown to the user. */
  readonly name: string;
  /** Sent to the server. */
  readonly id: string;
  readonly offline: boolean;
  readonly local: boolean;
  readonly maxOutputTokens: number;
  /** What the settings say of its context window. Tokens. */
  readonly contextWindow: number | undefined;
  readonly replyLimits: ReplyLimits;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** Removes keys from error texts: a server may repeat the key, and another model may read the error. */
  readonly redactor: Redactor;
}

/** A response ends so many milliseconds after its last event, or its connection is closed. */
const RELEASE_MS = 1_000;

export class AnthropicModel implements Model {
  readonly #client: Anthropic;
  readonly #contextSize: ContextSize;
  readonly #buffers = new RequestBuffers();

  constructor(
    private readonly server: ModelServer,
    private readonly settings: ModelSettings,
  ) {
    this.#client = new Anthropic({
      baseURL: server.baseURL,
      apiKey: server.apiKey ?? null,
      authToken: server.authToken ?? null,
      maxRetries: 0,
      // A whole reply may take long. The watch ends a call that is dead.
      timeout: 3_600_000,
      logLevel: 'off',
      openTelemetry: false,
      // A redirect must not take the key to another server.
      fetchOptions: {redirect: 'manual'},
      ...(server.fetch ? {fetch: server.fetch} : {}),
    });
    const {id, offline, contextWindow} = settings;
    this.#contextSize = new ContextSize(id, contextWindow, offline ? undefined : this.#client);
  }

  contextWindow(mayAsk: boolean): Promise<number | undefined> {
    return this.#contextSize.get(mayAsk);
  }

  get maxOutputTokens(): number {
    return this.settings.maxOutputTokens;
  }

  get name(): string {
    return this.settings.name;
  }

  get offline(): boolean {
    return this.settings.offline;
  }

  get local(): boolean {
    return this.settings.local;
  }

  async reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    const {retry: policy, clock} = this.settings;
    return withRetries({policy, clock, signal: request.signal, onProgress}, (attempt) =>
      this.#once(request, attempt, onProgress),
    );
  }

  async #once(
    request: ModelRequest,
    attempt: Attempt,
    onProgress: (progress: ModelProgress) => void,
  ): Promise<ModelReply> {
    const {replyLimits, clock, id} = this.settings;
    const watch = new ReplyWatch(replyLimits, clock, request.signal);
    const builder = new ReplyBuilder();
    try {
      const body = this.#buffers.create(this.#toParams(request));
      const response = await this.#post(body, watch.signal);
      const events = readReplyEvents(watch.watchBytes(response));
      for (;;) {
        const {done, value: event} = await events.next();
        if (done) break;
        builder.add(event);
        watch.addEvent(event);
        reportProgress(event, onProgress);
        if (event.type === 'message_start' || event.type === 'message_delta') {
          onProgress({type: 'usage', usage: builder.usage, model: id});
        }
        if (event.type === 'message_stop') {
          void releaseConnection(events, watch);
          body.release();
          break;
        }
      }
      return builder.finish(id);
    } catch (error) {
      watch.abort();
      request.signal.throwIfAborted();
      throw watch.failure ?? toModelError(error, new URL(this.server.baseURL).host, this.settings.redactor);
    } finally {
      watch.stop();
      attempt.begunAt = watch.begunAt;
    }
  }

  /** As `client.messages.create`, which makes one string of the body. */
  #post({stream, length}: RequestBody, signal: AbortSignal): Promise<Response> {
    const headers = {'content-type': 'application/json', 'content-length': String(length)};
    return this.#client.post('/v1/messages', {body: stream, stream: true, headers, signal}).asResponse();
  }

  #toParams(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
    return {
      model: this.settings.id,
      max_tokens: Math.max(
        1,
        Math.min(this.settings.maxOutputTokens, request.maxOutputTokens ?? Number.POSITIVE_INFINITY),
      ),
      stream: true,
      ...withCacheMarks(request),
      ...(request.answerSchema
        ? {output_config: {format: {type: 'json_schema' as const, schema: request.answerSchema}}}
        : {}),
      ...(request.mayCallTools || request.tools.length === 0 ? {} : {tool_choice: {type: 'none'}}),
    };
  }
}

/**
 * The reply is whole. A server that ends the response in time leaves the connection for the next request; one that does
 * not is cut off.
 */
async function releaseConnection(events: AsyncGenerator<StreamEvent>, watch: ReplyWatch): Promise<void> {
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
