/**
 * Talks to servers of the Anthropic Messages API, and to clouds that serve it by their own protocols. For a cloud, the
 * SDK's own package changes the request and the stream. Each package is loaded when it is used.
 */
import Anthropic from '@anthropic-ai/sdk';
import type {ClientOptions as VertexOptions} from '@anthropic-ai/vertex-sdk';
import type {ModelRequest, StreamEvent} from '../../core/contract/model.ts';
import {getErrorMessage, type ModelError, UsageError} from '../../core/util/errors.ts';
import {withoutUndefined} from '../../core/util/objects.ts';
import {ASK_MS, askContextSize} from '../context-size.ts';
import {createFetch} from '../http-fetch.ts';
import {isRefusal, toCredentialsError, toModelError} from '../model-errors.ts';
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
import {RequestEncoder} from '../request-body.ts';
import {getThinkingStyle, type ThinkingStyle, toParams} from './params.ts';
import {readReplyEvents} from './reply-events.ts';

type Client = Pick<Anthropic, 'post' | 'get'> & {readonly messages: Pick<Anthropic['messages'], 'create'>};

/** @throws UsageError when the client cannot be created, e.g. without a region */
export async function createMessagesProtocol(server: ModelServer, words: ServerWords): Promise<Protocol> {
  if (server.api !== 'bedrock' && server.api !== 'vertex') {
    return new MessagesProtocol(createClient(server), words, false);
  }
  try {
    const client = await (server.api === 'bedrock' ? createBedrockClient(server) : createVertexClient(server));
    return new MessagesProtocol(client as unknown as Client, words, true);
  } catch (error) {
    throw new UsageError(`${words.address}: ${getErrorMessage(error).split('\n')[0]}`, {cause: error});
  }
}

function createClient(server: ModelServer): Anthropic {
  const {baseURL, apiKey, authToken, sendsKeyAs, takesCustomHeaders} = server;
  const defaultHeaders = {
    ...(takesCustomHeaders ? {} : withoutCustomHeaders(process.env.ANTHROPIC_CUSTOM_HEADERS)),
    ...(sendsKeyAs === 'x-api-key' && {'x-api-key': apiKey ?? null, authorization: null}),
  };
  return new Anthropic({
    ...CLIENT_OPTIONS,
    baseURL,
    // Without a key and a token, the SDK would search for keys of the user elsewhere.
    ...(authToken ? {authToken, apiKey: null} : {apiKey: apiKey ?? 'none', authToken: null}),
    openTelemetry: false,
    defaultHeaders,
    fetch: createFetch(),
  });
}

async function createBedrockClient({baseURL, apiKey, region}: ModelServer) {
  const {AnthropicBedrock} = await import('@anthropic-ai/bedrock-sdk');
  const defaultHeaders = withoutCustomHeaders(process.env.ANTHROPIC_CUSTOM_HEADERS);
  return new AnthropicBedrock({
    ...CLIENT_OPTIONS,
    ...withoutUndefined({baseURL: baseURL || undefined, awsRegion: region, apiKey}),
    defaultHeaders,
  });
}

/** Creates the parts of a client that the package needs when there is a token already. */
function createTokenClient(token: string, projectId: string | undefined): VertexOptions['authClient'] {
  const getRequestHeaders = async () => new Headers({authorization: `Bearer ${token}`});
  return {projectId, getRequestHeaders} as unknown as VertexOptions['authClient'];
}

async function createVertexClient({baseURL, apiKey, region, project}: ModelServer) {
  const {AnthropicVertex} = await import('@anthropic-ai/vertex-sdk');
  const defaultHeaders = withoutCustomHeaders(process.env.ANTHROPIC_CUSTOM_HEADERS);
  return new AnthropicVertex({
    ...CLIENT_OPTIONS,
    ...withoutUndefined({baseURL: baseURL || undefined, region, projectId: project}),
    defaultHeaders,
    // A token that the user names is sent unchanged. Without one, the package asks Google for it.
    ...(apiKey !== undefined && {authClient: createTokenClient(apiKey, project)}),
  });
}

class MessagesProtocol implements Protocol {
  /** Styles of thinking that the server accepts, by the name of the model. */
  readonly #styles = new Map<string, ThinkingStyle>();
  /** Models for which the server takes no schema of the answer. */
  readonly #unformatted = new Set<string>();
  readonly #limits = new OutputLimits();
  readonly #encoder = new RequestEncoder();

  /** @param isCloud true when the client changes requests and streams itself */
  constructor(
    private readonly client: Client,
    private readonly words: ServerWords,
    private readonly isCloud: boolean,
  ) {}

  async open(request: ModelRequest, options: CallOptions, watch: ReplyWatch): Promise<ReplyEvents> {
    for (;;) {
      const limited = this.#limits.apply(options);
      const style = this.#styles.get(options.id) ?? getThinkingStyle(options.id);
      const {answerSchema, ...plain} = request;
      const asked = this.#unformatted.has(options.id) ? plain : request;
      try {
        return await this.#open(asked, limited, style, watch);
      } catch (error) {
        if (!this.#limits.learn(error, limited) && !this.#learnParameters(asked, options, style, error)) throw error;
      }
    }
  }

  /** Learns from a refusal which parameter the server does not take. @returns true when it can be left out */
  #learnParameters({answerSchema}: ModelRequest, options: CallOptions, style: ThinkingStyle, error: unknown): boolean {
    const {id, thinking, thinkingTokens} = options;
    const isAsked = (thinking ?? thinkingTokens) !== undefined;
    const next = isAsked ? getNextStyle(style, !this.#styles.has(id), error) : undefined;
    if (next) this.#styles.set(id, next);
    const isFormat = !next && answerSchema !== undefined && isRefusal(error) && isUnknownParameter(error.message);
    if (isFormat) this.#unformatted.add(id);
    return next !== undefined || isFormat;
  }

  async #open(
    request: ModelRequest,
    options: CallOptions,
    style: ThinkingStyle,
    watch: ReplyWatch,
  ): Promise<ReplyEvents> {
    const body = toParams(request, options, style);
    const {signal} = watch;
    if (this.isCloud) return watchEvents(await this.client.messages.create(body, {signal}), watch);
    // `client.messages.create` does the same, but prints warnings about old models in the middle of the screen.
    const response = await this.client
      .post('/v1/messages', {...this.#encoder.encode(body, signal), stream: true})
      .asResponse();
    return readReplyEvents(watch.watchBytes(response));
  }

  toModelError(error: unknown): ModelError {
    if (this.isCloud && lacksCredentials(error)) return toCredentialsError(error, this.words);
    return toModelError(error, Anthropic, this.words);
  }

  /** `client.models` does the same, but bundling it would include all of its other endpoints. */
  async askContextWindow(id: string): Promise<number | undefined> {
    return this.isCloud ? undefined : askContextSize(this.client, `/v1/models/${encodeURIComponent(id)}`);
  }

  async listModels(): Promise<readonly string[]> {
    try {
      return readModelNames(await this.client.get('/v1/models', {query: {limit: 1000}, timeout: 2 * ASK_MS}));
    } catch (error) {
      throw this.toModelError(error);
    }
  }
}

/** Returns the next style when the server refuses this one. @param isFirst true when no other style was tried */
function getNextStyle(style: ThinkingStyle, isFirst: boolean, error: unknown): ThinkingStyle | undefined {
  if (style === 'none' || !isRefusal(error)) return undefined;
  const {message} = error;
  if (!REFUSES_THINKING.test(message) && !isUnknownParameter(message)) return undefined;
  if (!isFirst) return 'none';
  if (style === 'adaptive') return 'budget';
  return /adaptive/i.test(message) ? 'adaptive' : 'none';
}

const REFUSES_THINKING =
  /\badaptive|\beffort|budget_tokens|thinking\.type|support\w* (?:extended )?thinking|thinking\S* (?:is )?not support/i;

/**
 * Tells whether the server does not know a parameter of thinking or of the answer. What it says of a thinking block in a
 * message is no such error.
 */
function isUnknownParameter(text: string): boolean {
  return (
    /\b(?:thinking|output_config)\b/i.test(text) &&
    !/\bmessages\b|\bblocks?\b|\bsignature\b/i.test(text) &&
    /\b(?:extra|additional|un(?:known|supported|recogni[sz]ed|expected)|invalid|not)\b/i.test(text)
  );
}

/**
 * Tells whether the cloud's package found no credentials, so that nothing was sent. It throws this as an error of the
 * connection.
 */
function lacksCredentials(error: unknown): error is Error {
  return error instanceof Anthropic.APIConnectionError && /\bcredentials\b/i.test(error.message);
}

async function* watchEvents(stream: AsyncIterable<StreamEvent>, watch: ReplyWatch): ReplyEvents {
  for await (const event of stream) {
    watch.addBytes();
    if ((event as {type: string}).type !== 'ping') yield event;
  }
}
