/** The Messages API as far as the offline model speaks it: requests in; replies out, as JSON or server-sent events. */
import type {AssistantBlock, Message, StopReason, StreamEvent, ToolSpec} from '../core/contract/model.ts';

export interface OfflineRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  /** False when `tool_choice` is `none`: the answer must be text. */
  readonly mayCallTools: boolean;
  readonly stream: boolean;
  /** Names of the properties that a JSON answer must have, when the request asks for one. */
  readonly answerFields: readonly string[] | undefined;
}

/** The body is not a valid request; the message says why. */
export class BadRequest extends Error {}

/** @throws BadRequest */
export function parseRequest(body: string): OfflineRequest {
  const json = toFields(parseJson(body));
  if (!Array.isArray(json.messages) || json.messages.length === 0) {
    throw new BadRequest('messages: at least one message is required');
  }
  return {
    model: typeof json.model === 'string' ? json.model : 'offline',
    system: systemText(json.system),
    tools: Array.isArray(json.tools) ? (json.tools as ToolSpec[]) : [],
    messages: json.messages as Message[],
    mayCallTools: toFields(json.tool_choice).type !== 'none',
    stream: json.stream === true,
    answerFields: answerFields(json),
  };
}

/** The value if it is an object, otherwise an empty object. */
export function toFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadRequest(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function systemText(system: unknown): string {
  if (typeof system === 'string') return system;
  if (!Array.isArray(system)) return '';
  return system.map((block) => String(toFields(block).text ?? '')).join('\n\n');
}

/** Property names of the output schema, which different servers of this API take in different fields. */
function answerFields(json: Record<string, unknown>): readonly string[] | undefined {
  const formats = [toFields(json.output_config).format, json.output_format, json.response_format];
  for (const format of formats.map(toFields)) {
    const schema = format.schema ?? toFields(format.json_schema).schema;
    if (schema !== undefined) return Object.keys(toFields(toFields(schema).properties));
  }
  return undefined;
}

export interface Reply {
  readonly id: string;
  readonly model: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: StopReason;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const WORDS_PER_DELTA = 4;
const JSON_CHARS_PER_DELTA = 48;

/** The reply as one JSON message. Its usage is an estimate of four characters per token. */
export function createMessage(reply: Reply): Record<string, unknown> {
  return {
    id: reply.id,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: reply.content,
    stop_reason: reply.stopReason,
    stop_sequence: null,
    usage: createUsage(reply.inputTokens, reply.outputTokens),
  };
}

export function* createEvents(reply: Reply): Generator<StreamEvent> {
  const opening = {
    ...createMessage(reply),
    content: [],
    stop_reason: null,
    usage: createUsage(reply.inputTokens, reply.content.length > 0 ? 1 : 0),
  };
  yield event({type: 'message_start', message: opening});
  for (const [index, block] of reply.content.entries()) yield* blockEvents(block, index);
  yield event({
    type: 'message_delta',
    delta: {stop_reason: reply.stopReason, stop_sequence: null},
    usage: createUsage(reply.inputTokens, reply.outputTokens),
  });
  yield event({type: 'message_stop'});
}

export function frame(one: StreamEvent): string {
  return `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;
}

function* blockEvents(block: AssistantBlock, index: number): Generator<StreamEvent> {
  if (block.type === 'text') {
    yield event({type: 'content_block_start', index, content_block: {type: 'text', text: '', citations: null}});
    for (const text of splitWords(block.text)) {
      yield event({type: 'content_block_delta', index, delta: {type: 'text_delta', text}});
    }
  } else if (block.type === 'tool_use') {
    yield event({type: 'content_block_start', index, content_block: {...block, input: {}}});
    for (const partial_json of pieces(JSON.stringify(block.input), JSON_CHARS_PER_DELTA)) {
      yield event({type: 'content_block_delta', index, delta: {type: 'input_json_delta', partial_json}});
    }
  }
  yield event({type: 'content_block_stop', index});
}

/** The SDK's event types require fields that only newer features of the hosted service fill. */
function event(fields: {readonly type: StreamEvent['type']} & Record<string, unknown>): StreamEvent {
  return fields as unknown as StreamEvent;
}

function createUsage(input_tokens: number, output_tokens: number): Record<string, number> {
  return {input_tokens, output_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0};
}

function* splitWords(text: string): Generator<string> {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text === '' ? [] : [text]);
  for (let at = 0; at < words.length; at += WORDS_PER_DELTA) yield words.slice(at, at + WORDS_PER_DELTA).join('');
}

function* pieces(text: string, size: number): Generator<string> {
  // By code points: a delta must not end within a surrogate pair.
  const chars = [...text];
  for (let at = 0; at < chars.length; at += size) yield chars.slice(at, at + size).join('');
}
