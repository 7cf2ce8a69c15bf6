/** Turns a scripted reply into the events of a stream, or into one JSON message. */
import type {MessagesBody} from './messages-server.ts';
import type {PromptCache} from './prompt-cache.ts';
import type {MessageReply, ScriptedBlock, ScriptedUsage, ServerEvent} from './scripted-replies.ts';

const CHARS_PER_DELTA = 20;
const CHARS_PER_TOKEN = 4;

/** The events in the order and size in which the real server sends them. */
export function createEvents(
  reply: MessageReply,
  body: MessagesBody,
  index: number,
  usage: ScriptedUsage,
): ServerEvent[] {
  const started = {...createMessage(reply, body, index, usage), content: [], stop_reason: null, stop_details: null};
  return [
    {type: 'message_start', message: {...started, usage: {...usage, output_tokens: 1}}},
    ...reply.blocks.flatMap((block, at) => blockEvents(block, at, reply.charsPerDelta)),
    {
      type: 'message_delta',
      delta: {stop_reason: reply.stopReason, stop_sequence: null, stop_details: getStopDetails(reply)},
      usage: {output_tokens: usage.output_tokens},
    },
    {type: 'message_stop'},
  ];
}

export function createMessage(reply: MessageReply, body: MessagesBody, index: number, usage: ScriptedUsage) {
  return {
    id: `msg_scripted_${String(index + 1).padStart(4, '0')}`,
    type: 'message',
    role: 'assistant',
    model: reply.model ?? body.model,
    content: reply.blocks.map(wholeBlock),
    stop_reason: reply.stopReason,
    stop_sequence: null,
    stop_details: getStopDetails(reply),
    usage,
  };
}

function getStopDetails({stopDetails}: MessageReply) {
  return stopDetails ? {type: 'refusal', ...stopDetails} : null;
}

function wholeBlock(block: ScriptedBlock): Readonly<Record<string, unknown>> {
  if (block.type !== 'tool_use') return {...block};
  return {type: 'tool_use', id: block.id, name: block.name, input: block.input};
}

function blockEvents(block: ScriptedBlock, index: number, charsPerDelta = CHARS_PER_DELTA): ServerEvent[] {
  return [
    {type: 'content_block_start', index, content_block: emptyBlock(block)},
    ...createDeltas(block, charsPerDelta).map((delta) => ({type: 'content_block_delta', index, delta})),
    {type: 'content_block_stop', index},
  ];
}

function emptyBlock(block: ScriptedBlock): Readonly<Record<string, unknown>> {
  if (block.type === 'text') return {type: 'text', text: ''};
  if (block.type === 'thinking') return {type: 'thinking', thinking: '', signature: ''};
  if (block.type === 'redacted_thinking') return {...block};
  return {type: 'tool_use', id: block.id, name: block.name, input: {}};
}

function createDeltas(block: ScriptedBlock, size: number): Readonly<Record<string, string>>[] {
  if (block.type === 'text') return splitText(block.text, size).map((text) => ({type: 'text_delta', text}));
  if (block.type === 'thinking') {
    const thoughts = splitText(block.thinking, size).map((thinking) => ({type: 'thinking_delta', thinking}));
    return [...thoughts, {type: 'signature_delta', signature: block.signature}];
  }
  if (block.type === 'redacted_thinking') return [];
  const json = block.rawInput ?? JSON.stringify(block.input);
  return splitText(json, size).map((partial_json) => ({type: 'input_json_delta', partial_json}));
}

/** Splits by code points: no part ends within a surrogate pair. */
function splitText(text: string, size: number): string[] {
  const characters = [...text];
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at += size) {
    parts.push(characters.slice(at, at + size).join(''));
  }
  return parts;
}

/** What the reply cost: the prompt as the cache counts it, and four characters of the reply as a token. */
export function countUsage(reply: MessageReply, body: MessagesBody, cache: PromptCache): ScriptedUsage {
  const output_tokens = Math.max(1, Math.ceil(JSON.stringify(reply.blocks).length / CHARS_PER_TOKEN));
  return {...cache.count(body), output_tokens, ...reply.usage};
}
