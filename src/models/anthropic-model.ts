/** A model behind a server that speaks the Anthropic Messages API. */

import Anthropic from '@anthropic-ai/sdk';
import type {Message, Model, ModelProgress, ModelReply, ModelRequest, StreamEvent} from '../core/contract/model.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {ModelError} from '../core/util/errors.ts';
import {toModelError} from './model-errors.ts';
import {ReplyBuilder} from './reply-builder.ts';
import {type RetryPolicy, withRetries} from './retry.ts';

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
  /** Seconds without a byte from the server after which a call fails; 0: no limit. */
  readonly idleSeconds: number;
  readonly retry: RetryPolicy;
  /** Removes keys from error texts: a server may repeat the key, and another model may read the error. */
  readonly redactor: Redactor;
}

const CACHED = {type: 'ephemeral'} as const;

export class AnthropicModel implements Model {
  readonly #client: Anthropic;

  constructor(
    private readonly server: ModelServer,
    private readonly settings: ModelSettings,
  ) {
    this.#client = new Anthropic({
      baseURL: server.baseURL,
      apiKey: server.apiKey ?? null,
      authToken: server.authToken ?? null,
      maxRetries: 0,
      // A whole reply may take long. The idle watch below ends a call that is dead.
      timeout: 3_600_000,
      logLevel: 'off',
      openTelemetry: false,
      ...(server.fetch ? {fetch: server.fetch} : {}),
    });
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
    return withRetries(this.settings.retry, request.signal, onProgress, () => this.#once(request, onProgress));
  }

  async #once(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    const watch = new IdleWatch(this.settings.idleSeconds, request.signal);
    const builder = new ReplyBuilder();
    try {
      const stream = await this.#client.messages.create(this.#body(request), {
        signal: watch.signal,
        // Every byte resets the watch, also those of pings, which the SDK does not pass on.
        middleware: [async (httpRequest, next) => watch.watch(await next(httpRequest))],
      });
      for await (const event of stream) {
        builder.add(event);
        reportProgress(event, onProgress);
        if (event.type === 'message_start' || event.type === 'message_delta') {
          onProgress({type: 'usage', usage: builder.usage, model: this.settings.id});
        }
      }
      // After an abort the SDK's stream ends as if it were complete.
      watch.signal.throwIfAborted();
      return builder.finish(this.settings.id);
    } catch (error) {
      request.signal.throwIfAborted();
      if (watch.wasIdle) {
        const message = `no byte from the model for ${this.settings.idleSeconds} s`;
        // The idle time is a limit: another attempt would allow it twice.
        throw new ModelError('idle', message, {retryable: false}, {cause: error});
      }
      throw toModelError(error, new URL(this.server.baseURL).host, this.settings.redactor);
    } finally {
      watch.stop();
    }
  }

  #body(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
    return {
      model: this.settings.id,
      max_tokens: Math.max(
        1,
        Math.min(this.settings.maxOutputTokens, request.maxOutputTokens ?? Number.POSITIVE_INFINITY),
      ),
      stream: true,
      system: [{type: 'text', text: request.system, cache_control: CACHED}],
      messages: withCacheMark(request.messages),
      ...(request.answerSchema
        ? {output_config: {format: {type: 'json_schema' as const, schema: request.answerSchema}}}
        : {}),
      ...(request.tools.length > 0 ? {tools: [...request.tools]} : {}),
      ...(request.mayCallTools || request.tools.length === 0 ? {} : {tool_choice: {type: 'none'}}),
    };
  }
}

function reportProgress(event: StreamEvent, onProgress: (progress: ModelProgress) => void): void {
  onProgress({type: 'raw', event});
  if (event.type === 'content_block_start' && event.content_block.type === 'text' && event.content_block.text !== '') {
    onProgress({type: 'text', text: event.content_block.text});
  }
  if (event.type !== 'content_block_delta') return;
  if (event.delta.type === 'text_delta') onProgress({type: 'text', text: event.delta.text});
  if (event.delta.type === 'thinking_delta') onProgress({type: 'thinking', text: event.delta.thinking});
}

/**
 * Marks the last block for the prompt cache: the server then reads the next turn's request from its cache up to there.
 * Servers refuse the mark on thinking blocks. The given messages are not changed.
 */
function withCacheMark(messages: readonly Message[]): Message[] {
  const last = messages.at(-1);
  if (!last) return [];
  const blocks = typeof last.content === 'string' ? [{type: 'text' as const, text: last.content}] : last.content;
  const end = blocks.at(-1);
  if (!end || end.type === 'thinking' || end.type === 'redacted_thinking') return [...messages];
  return [
    ...messages.slice(0, -1),
    {...last, content: [...blocks.slice(0, -1), {...end, cache_control: CACHED}]} as Message,
  ];
}

/** Aborts a call when no byte has come from the server for some seconds. */
class IdleWatch {
  readonly #abort = new AbortController();
  readonly #onAbort: () => void;
  #timer: NodeJS.Timeout | undefined;
  wasIdle = false;

  constructor(
    private readonly seconds: number,
    private readonly outer: AbortSignal,
  ) {
    this.#onAbort = () => this.#abort.abort(outer.reason);
    if (outer.aborted) this.#onAbort();
    outer.addEventListener('abort', this.#onAbort, {once: true});
    this.#reset();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** @returns the same response; each chunk of its body resets the timer. */
  watch(response: Response): Response {
    this.#reset();
    if (!response.body) return response;
    const reset = () => this.#reset();
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          reset();
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, {status: response.status, statusText: response.statusText, headers: response.headers});
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.outer.removeEventListener('abort', this.#onAbort);
  }

  #reset(): void {
    if (this.seconds <= 0) return;
    if (this.#timer) {
      this.#timer.refresh();
      return;
    }
    this.#timer = setTimeout(() => {
      this.wasIdle = true;
      this.#abort.abort();
    }, this.seconds * 1000);
  }
}
