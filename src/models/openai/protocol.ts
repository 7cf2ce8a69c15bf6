/** Talks to servers of the OpenAI chat completions protocol with the `openai` package. It is loaded when it is used. */
import OpenAI from 'openai';
import {Stream} from 'openai/core/streaming';
import type {ModelRequest} from '../../core/contract/model.ts';
import type {ModelError} from '../../core/util/errors.ts';
import {ASK_MS, askContextSize} from '../context-size.ts';
import {createFetch, readIfJson, watchChunks} from '../http-fetch.ts';
import {assertEventStream, isRefusal, toModelError} from '../model-errors.ts';
import {OutputLimits} from '../output-limits.ts';
import {
  type CallOptions,
  CLIENT_OPTIONS,
  type ModelServer,
  type Protocol,
  type ReplyEvents,
  readModelNames,
  type ServerWords,
  withoutCustomHeaders,
} from '../protocol.ts';
import type {ReplyWatch} from '../reply-watch.ts';
import {toChunk, toReplyEvents} from './reply-events.ts';
import {type Quirk, toChatParams} from './request.ts';

export function createChatProtocol({baseURL, apiKey, authToken}: ModelServer, words: ServerWords): Protocol {
  const client = new OpenAI({
    ...CLIENT_OPTIONS,
    baseURL,
    // The environment's variables for OpenAI's own server are not used.
    apiKey: apiKey ?? authToken ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: withoutCustomHeaders(process.env.OPENAI_CUSTOM_HEADERS),
    fetch: createFetch(),
  });
  return new ChatProtocol(client, words);
}

/** Matches OpenAI's own servers, whose models know only the newer name of the parameter. */
const NEWER = /(?:^|\.)openai\.(?:com|azure\.com)$/;

/** Matches the end of a stream with the mark that it is whole, which the client reads and does not pass on. */
const END_MARK = /(?:^|[\r\n])data: ?\[DONE\]\s*$/;
/** Bytes of a stream in which its mark is searched. */
const TAIL_BYTES = 64;

class ChatProtocol implements Protocol {
  readonly #quirks = new Set<Quirk>();
  readonly #limits = new OutputLimits();

  constructor(
    private readonly client: OpenAI,
    private readonly words: ServerWords,
  ) {
    if (NEWER.test(words.host)) this.#quirks.add('max_tokens');
  }

  async open(request: ModelRequest, options: CallOptions, watch: ReplyWatch): Promise<ReplyEvents> {
    for (;;) {
      const limited = this.#limits.apply(options);
      try {
        return await this.#open(request, limited, watch);
      } catch (error) {
        if (this.#limits.learn(error, limited)) continue;
        const quirk = this.#findQuirk(error);
        if (!quirk) throw error;
        this.#quirks.add(quirk);
      }
    }
  }

  async #open(request: ModelRequest, options: CallOptions, watch: ReplyWatch): Promise<ReplyEvents> {
    const params = toChatParams(request, options, this.#quirks);
    const {signal} = watch;
    const response = watch.watchBytes(await this.client.chat.completions.create(params, {signal}).asResponse());
    return toReplyEvents(this.#readChunks(response));
  }

  async *#readChunks(response: Response): AsyncGenerator<OpenAI.ChatCompletionChunk, boolean, undefined> {
    const body = await readIfJson(response);
    if (typeof body === 'string') {
      yield readWhole(body, response);
      return true;
    }
    let isEmpty = true;
    let tail = Buffer.of();
    const watched = watchChunks(body, (chunk) => {
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    });
    const abort = new AbortController();
    for await (const chunk of Stream.fromSSEResponse<OpenAI.ChatCompletionChunk>(watched, abort, this.client)) {
      isEmpty = false;
      yield chunk;
    }
    if (isEmpty) assertEventStream(response);
    return END_MARK.test(tail.toString('latin1'));
  }

  /** Returns the parameter that the server refuses, if it can be left out or has another name. */
  #findQuirk(error: unknown): Quirk | undefined {
    if (!(error instanceof OpenAI.APIError) || !isRefusal(error)) return undefined;
    const text = `${error.param ?? ''} ${error.message}`;
    const quirks: readonly Quirk[] = this.#quirks.has('max_tokens')
      ? ['max_completion_tokens', 'stream_options', 'reasoning_effort', 'response_format']
      : ['max_tokens', 'stream_options', 'reasoning_effort', 'response_format'];
    return quirks.find((quirk) => text.includes(quirk) && !this.#quirks.has(quirk));
  }

  toModelError(error: unknown): ModelError {
    return toModelError(error, OpenAI, this.words);
  }

  askContextWindow(id: string): Promise<number | undefined> {
    return askContextSize(this.client, `/models/${encodeURIComponent(id)}`);
  }

  async listModels(): Promise<readonly string[]> {
    try {
      return readModelNames(await this.client.get('/models', {timeout: 2 * ASK_MS}));
    } catch (error) {
      throw this.toModelError(error);
    }
  }
}

/** @throws APIError when an error came with status 200, SyntaxError when the answer is not a completion */
function readWhole(json: string, {headers}: Response): OpenAI.ChatCompletionChunk {
  const completion = JSON.parse(json) as OpenAI.ChatCompletion & {readonly error?: object};
  if (completion?.error) throw new OpenAI.APIError(undefined, completion.error, undefined, headers);
  if (!Array.isArray(completion?.choices)) throw new SyntaxError('no completion');
  return toChunk(completion);
}
