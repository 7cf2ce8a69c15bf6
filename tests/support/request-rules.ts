/**
 * Rules of the Messages API for requests. The scripted server answers 400 to a request that breaks one, as the real
 * server does: so every test that talks to it also tests that what we send is valid.
 */
import type {MessagesBody, RequestBlock, RequestMessage} from './messages-server.ts';

const MAX_CACHE_MARKS = 4;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** What is wrong with the request, in the words of an API error. Undefined when it is valid. */
export function findBrokenRule(body: MessagesBody): string | undefined {
  const {messages} = body;
  if (!(body.max_tokens >= 1)) return `max_tokens: ${body.max_tokens} must be at least 1`;
  if (messages.length === 0) return 'messages: at least one message is required';
  if (messages[0]!.role !== 'user') return 'messages: the first message must have the role user';
  if (body.tool_choice !== undefined && (body.tools ?? []).length === 0) return 'tool_choice needs tools';
  const badTool = (body.tools ?? []).find(({name}) => !TOOL_NAME.test(name));
  if (badTool) return `tools: bad name ${badTool.name}`;
  const marks = JSON.stringify([body.system, body.tools, messages]).split('"cache_control"').length - 1;
  if (marks > MAX_CACHE_MARKS) return `${marks} blocks have cache_control, at most ${MAX_CACHE_MARKS} may`;
  for (const [index, message] of messages.entries()) {
    const problem = findInMessage(message, index === messages.length - 1) ?? findInCalls(messages, index);
    if (problem) return `messages.${index}: ${problem}`;
  }
  return undefined;
}

function findInMessage({role, content}: RequestMessage, isLast: boolean): string | undefined {
  const blocks: readonly RequestBlock[] = typeof content === 'string' ? [{type: 'text', text: content}] : content;
  if (blocks.length === 0) return 'content must not be empty';
  for (const block of blocks) {
    if (block.type === 'text' && (block.text ?? '').trim() === '')
      return 'text blocks must contain non-whitespace text';
    const isThought = block.type === 'thinking' || block.type === 'redacted_thinking';
    if (isThought && block.cache_control) return `cache_control cannot be set on ${block.type} blocks`;
    if (block.type === 'thinking' && !block.signature) return 'a thinking block needs its signature';
    if (isThought && role !== 'assistant') return `${block.type} blocks may only be in assistant messages`;
  }
  const last = blocks.at(-1)!;
  if (isLast && role === 'assistant' && last.type === 'text' && /\s$/.test(last.text ?? ''))
    return 'final assistant content cannot end with trailing whitespace';
  return undefined;
}

/** Each tool call has one result in the next message, and each result has its call in the message before. */
function findInCalls(messages: readonly RequestMessage[], index: number): string | undefined {
  const calls = idsIn(messages[index]!, 'tool_use');
  const results = idsIn(messages[index]!, 'tool_result');
  if (new Set(calls).size < calls.length) return 'tool_use ids must be unique';
  if (new Set(results).size < results.length) return 'each tool_use must have a single result';
  const answered = idsIn(messages[index + 1], 'tool_result');
  const open = calls.find((id) => !answered.includes(id));
  if (open !== undefined) return `tool_use ${open} has no tool_result immediately after it`;
  const asked = idsIn(messages[index - 1], 'tool_use');
  const stray = results.find((id) => !asked.includes(id));
  return stray === undefined ? undefined : `tool_result ${stray} has no tool_use in the message before it`;
}

function idsIn(message: RequestMessage | undefined, type: 'tool_use' | 'tool_result'): string[] {
  if (message === undefined || typeof message.content === 'string') return [];
  return message.content
    .filter((block) => block.type === type)
    .map((block) => (type === 'tool_use' ? block.id : block.tool_use_id) ?? '');
}
