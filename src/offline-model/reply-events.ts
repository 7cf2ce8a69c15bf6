/** Turns a reply into the stream events of the Messages API, in small pieces. */
import type {AssistantBlock, StopReason, StreamEvent, Usage} from '../core/contract/model.ts';

export interface Reply {
  readonly id: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: StopReason;
  /** Estimated numbers of tokens. */
  readonly usage: Usage;
}

const WORDS_PER_DELTA = 4;
const JSON_CHARS_PER_DELTA = 48;

export function* createEvents(reply: Reply & {readonly model: string}): Generator<StreamEvent> {
  const {id, model, content, stopReason, usage} = reply;
  const opening = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {...usage, output_tokens: content.length > 0 ? 1 : 0},
  };
  yield event({type: 'message_start', message: opening});
  for (const [index, block] of content.entries()) yield* blockEvents(block, index);
  yield event({type: 'message_delta', delta: {stop_reason: stopReason, stop_sequence: null}, usage});
  yield event({type: 'message_stop'});
}

function* blockEvents(block: AssistantBlock, index: number): Generator<StreamEvent> {
  if (block.type === 'text') {
    yield event({type: 'content_block_start', index, content_block: {type: 'text', text: '', citations: null}});
    for (const text of splitWords(block.text)) {
      yield event({type: 'content_block_delta', index, delta: {type: 'text_delta', text}});
    }
  } else if (block.type === 'tool_use') {
    yield event({type: 'content_block_start', index, content_block: {...block, input: {}}});
    for (const partial_json of splitJson(JSON.stringify(block.input))) {
      yield event({type: 'content_block_delta', index, delta: {type: 'input_json_delta', partial_json}});
    }
  }
  yield event({type: 'content_block_stop', index});
}

/** The SDK's event types require fields that only newer features of the hosted service fill. */
function event(fields: {readonly type: StreamEvent['type']} & Record<string, unknown>): StreamEvent {
  return fields as unknown as StreamEvent;
}

function* splitWords(text: string): Generator<string> {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text === '' ? [] : [text]);
  for (let at = 0; at < words.length; at += WORDS_PER_DELTA) yield words.slice(at, at + WORDS_PER_DELTA).join('');
}

function* splitJson(json: string): Generator<string> {
  // The JSON is split by code points, so that no delta ends within a surrogate pair.
  const chars = [...json];
  for (let at = 0; at < chars.length; at += JSON_CHARS_PER_DELTA) {
    yield chars.slice(at, at + JSON_CHARS_PER_DELTA).join('');
  }
}
