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
  Usage,
} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {hasThoughts, withoutServerBlocks, withoutThoughts} from '../core/turn/valid-messages.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {NO_USAGE} from '../core/util/messages.ts';
import type {ContextSize} from './context-size.ts';
import type {PriceList} from './prices.ts';
import type {CallOptions, Protocol, ReplyEvents} from './protocol.ts';
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

type OnProgress = (progress: ModelProgress) => void;
type GetProtocol = () => Promise<Protocol>;

export interface ServerModel extends Model {
  /** @param maxWaitSeconds replaces the limit of the settings when another model can answer, too */
  reply(request: ModelRequest, onProgress: OnProgress, maxWaitSeconds?: number): Promise<ModelReply>;
}

/** @param getProtocol loads the protocol at the first call */
export function createServerModel(settings: ModelSettings, getProtocol: GetProtocol): ServerModel {
  const {name, local, source, thinking, maxOutputTokens, clock} = settings;
  const withoutForeignParts = createPartFilter(settings);
  let hasSaidOdd = false;
  const onWhole = ({countProblem}: ReplyBuilder, onProgress: OnProgress) => {
    if (countProblem === undefined || hasSaidOdd) return;
    hasSaidOdd = true;
    const text = `The server of ${name} reported ${countProblem}: what is missing is estimated, and so is the cost.`;
    onProgress({type: 'warning', text});
  };
  return {
    name,
    local,
    source,
    thinking,
    maxOutputTokens,
    offline: false,
    ...settings.prices.getHighest(name),
    contextWindow: settings.contextSize,
    async reply(request, onProgress, maxWaitSeconds = settings.maxWaitSeconds) {
      const messages = withoutForeignParts(request);
      return withRetries({maxWaitSeconds, clock, signal: request.signal, onProgress}, (attempt) =>
        callOnce(settings, getProtocol, {...request, messages}, attempt, {onProgress, onWhole}),
      );
    },
  };
}

interface CallListeners {
  readonly onProgress: OnProgress;
  /** Called when the reply is complete. */
  readonly onWhole: (builder: ReplyBuilder, onProgress: OnProgress) => void;
}

async function callOnce(
  settings: ModelSettings,
  getProtocol: GetProtocol,
  request: ModelRequest,
  attempt: Attempt,
  {onProgress, onWhole}: CallListeners,
): Promise<ModelReply> {
  const {replyLimits, clock, name, id, prices} = settings;
  const protocol = await getProtocol();
  const watch = new ReplyWatch(replyLimits, clock, request.signal);
  const builder = new ReplyBuilder(request.inputTokens);
  const report = (usage: Usage = builder.usageSoFar) => {
    onProgress({type: 'usage', usage: prices.addCost(usage, name), model: name, isCounted: builder.isInputCounted});
  };
  let hasOpened = false;
  try {
    const opened = protocol.open(request, getCallOptions(settings, request), watch);
    report();
    const events = await opened;
    hasOpened = true;
    for (;;) {
      const {done, value: event} = await events.next();
      if (done) break;
      builder.add(event);
      watch.addEvent(event);
      reportProgress(event, onProgress);
      report();
      if (event.type === 'message_stop') {
        inBackground(releaseConnection(events, watch), neverRejects);
        break;
      }
    }
    const whole = builder.finish(id);
    onWhole(builder, onProgress);
    const model = name.endsWith(id) ? `${name.slice(0, name.length - id.length)}${whole.model}` : whole.model;
    return {...whole, usage: prices.addCost(whole.usage, model, name), model, asked: name};
  } catch (error) {
    // A request that was refused or did not arrive costs nothing.
    if (!hasOpened && !watch.signal.aborted) report(NO_USAGE);
    watch.abort();
    request.signal.throwIfAborted();
    throw watch.failure ?? protocol.toModelError(error);
  } finally {
    watch.stop();
    attempt.begunAt = watch.begunAt;
  }
}

function getCallOptions(
  {id, thinking, thinkingTokens, searchesWeb = false, maxOutputTokens}: ModelSettings,
  {maxOutputTokens: limit = Number.POSITIVE_INFINITY}: ModelRequest,
): CallOptions {
  return {id, thinking, thinkingTokens, searchesWeb, maxTokens: Math.max(1, Math.min(maxOutputTokens, limit))};
}

/**
 * Creates a function that removes parts that other models made. A signature is valid only for the model that made it:
 * other models refuse the block, or would read thoughts that are not theirs. Blocks of web searches stay only for servers
 * that search.
 */
function createPartFilter({name, searchesWeb = false}: ModelSettings) {
  // Replies without parts that some server refuses. Each reply is checked once.
  const forAll = new WeakSet<Message>();
  const isForAll = (message: Message) => {
    if (forAll.has(message)) return true;
    if (hasThoughts(message) || withoutServerBlocks(message) !== message) return false;
    forAll.add(message);
    return true;
  };
  return ({messages, thinkerOf}: ModelRequest): readonly Message[] =>
    messages.flatMap((message) => {
      if (message.role !== 'assistant' || isForAll(message)) return message;
      const own = thinkerOf ? withoutThoughts(message, (seal) => (thinkerOf(seal) ?? name) !== name) : message;
      return (searchesWeb || !own ? own : withoutServerBlocks(own)) ?? [];
    });
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
