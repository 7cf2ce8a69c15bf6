/**
 * Builders for what the scripted server answers: replies as a model writes them, and all kinds of failures.
 * `reply-stream.ts` turns a reply into bytes; `messages-server.ts` is the server.
 */

import {signThought} from './request-rules.ts';

export type ScriptedBlock =
  | {readonly type: 'text'; readonly text: string}
  | {readonly type: 'thinking'; readonly thinking: string; readonly signature: string}
  | {readonly type: 'redacted_thinking'; readonly data: string}
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      /** Sent instead of the JSON of the input. */
      readonly rawInput?: string;
      /** Of the Responses API alone. */
      readonly namespace?: string;
    };

export type ScriptedStop =
  | ('end_turn' | 'tool_use' | 'max_tokens' | 'refusal' | 'pause_turn' | 'stop_sequence')
  | 'model_context_window_exceeded';

/** What happens to the stream after this number of events. */
export type StreamFault =
  | {readonly type: 'cut'; readonly afterEvents: number}
  | {readonly type: 'stall'; readonly afterEvents: number}
  /** The response ends as if it were complete. */
  | {readonly type: 'end'; readonly afterEvents: number}
  /** Pings come without an end. */
  | {readonly type: 'pings'; readonly afterEvents: number; readonly msPerPing: number}
  /** Half an event comes, and the response ends. */
  | {readonly type: 'garbled'; readonly afterEvents: number}
  | {readonly type: 'error'; readonly afterEvents: number; readonly errorType: string; readonly message: string};

export interface MessageReply {
  readonly type: 'message';
  readonly blocks: readonly ScriptedBlock[];
  readonly stopReason: ScriptedStop;
  /** The model named in the reply; default: the one in the request. */
  readonly model?: string;
  readonly usage?: Partial<ScriptedUsage>;
  readonly msPerEvent?: number;
  /** Default: 20. */
  readonly charsPerDelta?: number;
  /** Why the model refused. */
  readonly stopDetails?: {readonly category: string | null; readonly explanation: string | null};
  /** In place of a stream with `event:` lines: one JSON message, or a stream of `data:` lines alone. */
  readonly format?: 'json' | 'data lines';
  readonly fault?: StreamFault;
}

export interface ScriptedUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

export interface StatusReply {
  readonly type: 'status';
  readonly status: number;
  readonly errorType: string;
  readonly message: string;
  /** The `Retry-After` header: seconds, or a date. */
  readonly retryAfter?: number | string;
  /** The `retry-after-ms` header. */
  readonly retryAfterMs?: number;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One event of a stream, as the server sends it. */
export type ServerEvent = {readonly type: string} & Readonly<Record<string, unknown>>;

export type Reply =
  | MessageReply
  | StatusReply
  /** A stream of exactly these events, valid or not. */
  | {readonly type: 'events'; readonly events: readonly ServerEvent[]}
  /** Status 200, the headers of a stream, and not one event. */
  | {readonly type: 'empty'}
  /** The connection stays open and nothing comes, not even headers. */
  | {readonly type: 'hang'}
  /** The connection is closed before any answer. */
  | {readonly type: 'reset'};

/** The model writes this text and ends its turn. */
export function say(text: string): MessageReply {
  return {type: 'message', blocks: [{type: 'text', text}], stopReason: 'end_turn'};
}

export interface ScriptedCall {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string;
  readonly namespace?: string;
}

/** One tool call, with the text `before` in front of it. */
export function callTool(name: string, input: unknown, id?: string, before?: string): MessageReply {
  return callTools([id === undefined ? {name, input} : {name, input, id}], before);
}

/** Several tool calls in one reply. Calls without an id get one that is unique in the process. */
export function callTools(calls: readonly ScriptedCall[], before?: string): MessageReply {
  const blocks: ScriptedBlock[] = before === undefined ? [] : [{type: 'text', text: before}];
  for (const {id, ...call} of calls) blocks.push({type: 'tool_use', id: id ?? newCallId(), ...call});
  return {type: 'message', blocks, stopReason: 'tool_use'};
}

/** Puts a thinking block in front of the reply. */
export function thinkingThen(thinking: string, reply: MessageReply): MessageReply {
  return {...reply, blocks: [{type: 'thinking', thinking, signature: signThought(thinking)}, ...reply.blocks]};
}

/** The model refuses: a text, and the stop reason `refusal`. */
export function refuse(text = '', stopDetails?: MessageReply['stopDetails']): MessageReply {
  const reply = {...say(text), blocks: text === '' ? [] : [{type: 'text', text} as const]};
  return {...reply, stopReason: 'refusal', ...(stopDetails ? {stopDetails: {...stopDetails}} : {})};
}

/** The model thinks, and ends its turn without a word. */
export function thinkOnly(thinking = 'What shall I say?'): MessageReply {
  return {...say(''), blocks: [{type: 'thinking', thinking, signature: signThought(thinking)}]};
}

/** The answer is cut off by the limit of output tokens. */
export function maxTokens(text: string): MessageReply {
  return {...say(text), stopReason: 'max_tokens'};
}

/** The server pauses a long turn: the client sends the conversation again as it is. */
export function pauseTurn(text = 'Still at it.'): MessageReply {
  return {...say(text), stopReason: 'pause_turn'};
}

/** A tool call whose input is not valid JSON. */
export function garbledJson(name: string, rawInput = '{"path": "src/', id = newCallId()): MessageReply {
  return {type: 'message', blocks: [{type: 'tool_use', id, name, input: {}, rawInput}], stopReason: 'tool_use'};
}

/** The reply with these numbers in its usage. */
export function withUsage(reply: MessageReply, usage: Partial<ScriptedUsage>): MessageReply {
  return {...reply, usage};
}

/** The reply from another model than the one in the request. */
export function fromModel(reply: MessageReply, model: string): MessageReply {
  return {...reply, model};
}

/** The reply with a pause before each event of its stream. */
export function slow(reply: MessageReply, msPerEvent: number): MessageReply {
  return {...reply, msPerEvent};
}

const LONG_ENOUGH = say('This sentence is long enough to be sent in several deltas before the fault comes.');

/** The connection breaks after this number of events, Infinity: after the last. Event 1 is `message_start`, 2 `content_block_start`, then deltas. */
export function cut(afterEvents: number, reply: MessageReply = LONG_ENOUGH): MessageReply {
  return {...reply, fault: {type: 'cut', afterEvents}};
}

/** After this number of events nothing more comes, and the connection stays open. Infinity: after the last event. */
export function stall(afterEvents: number, reply: MessageReply = LONG_ENOUGH): MessageReply {
  return {...reply, fault: {type: 'stall', afterEvents}};
}

/** After this number of events an `error` event comes, and the stream ends. */
export function errorEvent(
  errorType = 'overloaded_error',
  afterEvents = 3,
  reply: MessageReply = LONG_ENOUGH,
): MessageReply {
  return {...reply, fault: {type: 'error', afterEvents, errorType, message: messageFor(errorType)}};
}

/** After this number of events the response ends as if it were complete. */
export function endEarly(afterEvents: number, reply: MessageReply = LONG_ENOUGH): MessageReply {
  return {...reply, fault: {type: 'end', afterEvents}};
}

/** After this number of events pings come without an end. */
export function pings(afterEvents: number, msPerPing: number, reply: MessageReply = LONG_ENOUGH): MessageReply {
  return {...reply, fault: {type: 'pings', afterEvents, msPerPing}};
}

/** After this number of events half an event comes, and the response ends. */
export function garbledEvent(afterEvents: number, reply: MessageReply = LONG_ENOUGH): MessageReply {
  return {...reply, fault: {type: 'garbled', afterEvents}};
}

/** The text comes one character at a time. */
export function drip(msPerCharacter: number, reply: MessageReply = LONG_ENOUGH): MessageReply {
  return {...reply, msPerEvent: msPerCharacter, charsPerDelta: 1};
}

/** A stream of exactly these events, for streams that the other builders do not make. */
export function rawEvents(...events: readonly ServerEvent[]): Reply {
  return {type: 'events', events};
}

export function emptyStream(): Reply {
  return {type: 'empty'};
}

export function hangBeforeHeaders(): Reply {
  return {type: 'hang'};
}

export function resetConnection(): Reply {
  return {type: 'reset'};
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** An HTTP error as the API words it. The error type follows from the code, unless it is given. */
export function status(
  code: number,
  given: Partial<Pick<StatusReply, 'errorType' | 'message' | 'retryAfter' | 'retryAfterMs' | 'headers'>> = {},
): StatusReply {
  const errorType = given.errorType ?? ERROR_TYPES[code] ?? (code >= 500 ? 'api_error' : 'invalid_request_error');
  return {type: 'status', status: code, message: messageFor(errorType), ...given, errorType};
}

function messageFor(errorType: string): string {
  if (errorType === 'authentication_error') return 'invalid x-api-key';
  const words = errorType.replace(/_error$/, '').replaceAll('_', ' ');
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

let callsSoFar = 0;

function newCallId(): string {
  callsSoFar += 1;
  return `toolu_scripted_${String(callsSoFar).padStart(4, '0')}`;
}
