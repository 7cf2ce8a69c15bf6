/**
 * Rules of the Messages API for requests, in the API's words. The scripted server answers 400 `invalid_request_error` to
 * a request that breaks one, as the real server does: so every test that talks to it also tests that what mini-cc sends
 * is valid. Images are measured by a library, not by mini-cc's own code.
 */
import {createHash} from 'node:crypto';
import {imageSize} from 'image-size';
import type {MessagesBody, RequestBlock, RequestMessage} from './messages-server.ts';

const MAX_CACHE_MARKS = 4;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const MAX_IMAGE_PIXELS = 8_000;
/** Where a request has more than `MANY_IMAGES`. */
const MAX_PIXELS_OF_MANY = 2_000;
const MANY_IMAGES = 20;
const MAX_IMAGES = 100;
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
const CHARS_PER_TOKEN = 4;
const PIXELS_PER_TOKEN = 750;

/** What the server knows beside the request. */
export interface ServerFacts {
  /** Tokens of the largest prompt; default 200,000. */
  readonly contextWindow?: number;
  /** Of each reply that it sent: its thinking blocks, by `identifyThought`, in their order. */
  readonly sentThoughts?: readonly (readonly string[])[];
}

/** What is wrong with the request, in the words of an API error. Undefined when it is valid. */
export function findBrokenRule(body: MessagesBody, facts: ServerFacts = {}): string | undefined {
  const {messages} = body;
  if (!isWellFormed(body))
    return 'The request body is not valid JSON: no low surrogate in string: line 1 column 1 (char 0)';
  if (!(body.max_tokens >= 1)) return `max_tokens: ${body.max_tokens} must be greater than or equal to 1`;
  if (messages.length === 0) return 'messages: at least one message is required';
  if (messages[0]!.role !== 'user') return 'messages: first message must use the "user" role';
  return (
    findInTools(body) ??
    findInSystem(body) ??
    findInMarks(body) ??
    findInMessages(messages, facts.sentThoughts ?? []) ??
    findInImages(messages) ??
    findInSize(body, facts.contextWindow ?? 200_000)
  );
}

function findInTools({tools = [], tool_choice}: MessagesBody): string | undefined {
  if (tool_choice !== undefined && tools.length === 0) return 'tool_choice may only be specified while providing tools';
  const bad = tools.findIndex(({name}) => !TOOL_NAME.test(name));
  if (bad >= 0) return `tools.${bad}.custom.name: String should match pattern '${TOOL_NAME.source}'`;
  if (new Set(tools.map(({name}) => name)).size < tools.length) return 'tools: Tool names must be unique.';
  return undefined;
}

function findInSystem({system = []}: MessagesBody): string | undefined {
  const blocks = typeof system === 'string' ? [{type: 'text', text: system}] : system;
  return blocks.map((block) => findInText(block, 'system')).find((problem) => problem !== undefined);
}

function findInMarks({system, tools, messages}: MessagesBody): string | undefined {
  let marks = 0;
  JSON.stringify([system, tools, messages], (key, value: unknown) => {
    if (key === 'cache_control' && value !== null) marks += 1;
    return value;
  });
  if (marks <= MAX_CACHE_MARKS) return undefined;
  return `A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${marks}.`;
}

function findInMessages(
  messages: readonly RequestMessage[],
  sentThoughts: readonly (readonly string[])[],
): string | undefined {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    const problem =
      findInMessage(message, at, index === messages.length - 1) ??
      findInThoughts(message, at, sentThoughts) ??
      findInCalls(messages, index, seen);
    if (problem) return problem;
  }
  return undefined;
}

function findInMessage({role, content}: RequestMessage, at: string, isLast: boolean): string | undefined {
  if (role !== 'user' && role !== 'assistant') return `${at}.role: Input should be 'user' or 'assistant'`;
  const blocks = toBlocks(content);
  if (blocks.length === 0)
    return `${at}: all messages must have non-empty content except for the optional final assistant message`;
  for (const [index, block] of blocks.entries()) {
    const problem = findInBlock(block, `${at}.content.${index}`, role);
    if (problem) return problem;
  }
  const last = blocks.at(-1)!;
  if (isLast && role === 'assistant' && last.type === 'text' && /\s$/.test(last.text ?? ''))
    return 'messages: final assistant content cannot end with trailing whitespace';
  return undefined;
}

function findInBlock(block: RequestBlock, at: string, role: string): string | undefined {
  const owner = OWNERS[block.type];
  if (owner === undefined)
    return `${at}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`;
  if (owner !== 'both' && owner !== role)
    return `${at}: \`${block.type}\` blocks are not permitted in \`${role}\` messages`;
  if (block.type === 'text') return findInText(block, at);
  if (block.type === 'tool_use') {
    if (!CALL_ID.test(block.id ?? '')) return `${at}.tool_use.id: String should match pattern '${CALL_ID.source}'`;
    if (!TOOL_NAME.test(block.name ?? ''))
      return `${at}.tool_use.name: String should match pattern '${TOOL_NAME.source}'`;
    if (!isObject(block.input)) return `${at}.tool_use.input: Input should be a valid dictionary`;
  }
  if (block.type === 'tool_result') {
    // The API refuses this only of an error. Servers behind the same protocol refuse it of every result.
    if (block.content === undefined || block.content.length === 0) return `${at}.tool_result: content cannot be empty`;
    for (const [index, inner] of toBlocks(block.content).entries()) {
      if (inner.type !== 'text' && inner.type !== 'image')
        return `${at}.tool_result.content.${index}: Input tag '${inner.type}' does not match`;
      const problem = inner.type === 'text' ? findInText(inner, `${at}.tool_result.content.${index}`) : undefined;
      if (problem) return problem;
    }
  }
  return undefined;
}

const OWNERS: Readonly<Record<string, 'user' | 'assistant' | 'both'>> = {
  ...{text: 'both', image: 'user', tool_result: 'user'},
  ...{tool_use: 'assistant', thinking: 'assistant', redacted_thinking: 'assistant'},
  ...{server_tool_use: 'assistant', web_search_tool_result: 'assistant'},
};

function findInText({text, type}: RequestBlock, at: string): string | undefined {
  if (type !== 'text') return undefined;
  if (typeof text !== 'string') return `${at}.text: Input should be a valid string`;
  if (text === '') return `${at}: text content blocks must be non-empty`;
  return text.trim() === '' ? `${at}: text content blocks must contain non-whitespace text` : undefined;
}

/** A thought as the server recognises it: by its signature, or by its encrypted data. */
export function identifyThought(block: RequestBlock & {readonly data?: string}): string {
  return block.type === 'thinking' ? (block.signature ?? '') : (block.data ?? '');
}

/** The signature of a thought: it can be checked without knowing which server sent it. */
export function signThought(thinking: string): string {
  return createHash('sha256').update(`scripted ${thinking}`).digest('base64');
}

export function isThought({type}: RequestBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function findInThoughts(
  {content}: RequestMessage,
  at: string,
  sentThoughts: readonly (readonly string[])[],
): string | undefined {
  const blocks = toBlocks(content);
  for (const [index, block] of blocks.entries()) {
    if (!isThought(block)) continue;
    if (block.cache_control) return `${at}.content.${index}: cache_control cannot be set on ${block.type} blocks`;
    if (block.type === 'thinking' && !block.signature)
      return `${at}.content.${index}.thinking.signature: Field required`;
    if (block.type === 'thinking' && block.signature !== signThought(block.thinking ?? ''))
      return `${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
  }
  const thoughts = blocks.filter(isThought).map(identifyThought);
  if (thoughts.length === 0) return undefined;
  if (isThought(blocks.at(-1)!)) return `${at}: The final block in an assistant message cannot be \`thinking\`.`;
  const known = sentThoughts.some((sent) => sent.some((id) => thoughts.includes(id)));
  if (!known || sentThoughts.some((sent) => sent.join('\n') === thoughts.join('\n'))) return undefined;
  return `${at}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
}

/** Each tool call has one result in the next message, before any text; and each result has its call in the message before. */
function findInCalls(messages: readonly RequestMessage[], index: number, seen: Set<string>): string | undefined {
  const at = `messages.${index}`;
  const calls = idsIn(messages[index]!, 'tool_use');
  for (const id of calls) {
    if (seen.has(id)) return `${at}: \`tool_use\` ids must be unique`;
    seen.add(id);
  }
  const results = idsIn(messages[index]!, 'tool_result');
  const twice = results.find((id, first) => results.indexOf(id) !== first);
  if (twice)
    return `${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`;
  const asked = idsIn(messages[index - 1], 'tool_use');
  const stray = results.find((id) => !asked.includes(id));
  if (stray !== undefined)
    return `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  const answered = idsIn(messages[index + 1], 'tool_result');
  const isFirst = toBlocks(messages[index + 1]?.content ?? [])
    .slice(0, answered.length)
    .every(({type}) => type === 'tool_result');
  const open = calls.filter((id) => !answered.includes(id) || !isFirst);
  if (open.length === 0) return undefined;
  return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function idsIn(message: RequestMessage | undefined, type: 'tool_use' | 'tool_result'): string[] {
  return toBlocks(message?.content ?? [])
    .filter((block) => block.type === type)
    .map((block) => (type === 'tool_use' ? block.id : block.tool_use_id) ?? '');
}

function findInImages(messages: readonly RequestMessage[]): string | undefined {
  const images = messages.flatMap((message, index) => imagesIn(toBlocks(message.content), `messages.${index}.content`));
  if (images.length > MAX_IMAGES) return `messages: Too many images: ${images.length} > ${MAX_IMAGES}`;
  const isMany = images.length > MANY_IMAGES;
  return images.map(([at, block]) => findInImage(block, `${at}.image.source.base64`, isMany)).find(Boolean);
}

function imagesIn(blocks: readonly RequestBlock[], at: string): [string, RequestBlock][] {
  return blocks.flatMap((block, index): [string, RequestBlock][] => {
    if (block.type === 'image') return [[`${at}.${index}`, block]];
    return block.type === 'tool_result' ? imagesIn(toBlocks(block.content ?? []), `${at}.${index}.tool_result`) : [];
  });
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

function findInImage({source}: RequestBlock, at: string, isMany: boolean): string | undefined {
  const {type, data = '', media_type = ''} = source ?? {};
  if (type !== 'base64') return undefined;
  if (!Object.values(IMAGE_TYPES).includes(media_type))
    return `${at}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
  if (data === '') return `${at}: image cannot be empty`;
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return `${at}.data: Invalid base64 data`;
  if (data.length > MAX_IMAGE_BASE64)
    return `${at}: image exceeds 5 MB maximum: ${data.length} bytes > ${MAX_IMAGE_BASE64} bytes`;
  const size = measure(Buffer.from(data, 'base64'));
  if (!size) return 'Could not process image';
  if (size.type !== media_type)
    return `${at}.media_type: The image was specified using the ${media_type} media type, but the image appears to be a ${size.type} image`;
  const longest = Math.max(size.width, size.height);
  if (longest > MAX_IMAGE_PIXELS)
    return `${at}.data: At least one of the image dimensions exceed max allowed size: ${MAX_IMAGE_PIXELS} pixels`;
  if (isMany && longest > MAX_PIXELS_OF_MANY)
    return `${at}.data: At least one of the image dimensions exceed max allowed size for many-image requests: ${MAX_PIXELS_OF_MANY} pixels`;
  return undefined;
}

function measure(bytes: Buffer): {width: number; height: number; type: string} | undefined {
  try {
    const {width, height, type = ''} = imageSize(bytes);
    return {width, height, type: IMAGE_TYPES[type] ?? type};
  } catch {
    return undefined;
  }
}

function findInSize(body: MessagesBody, contextWindow: number): string | undefined {
  const tokens = estimateTokens(body);
  return tokens > contextWindow ? `prompt is too long: ${tokens} tokens > ${contextWindow} maximum` : undefined;
}

/** Four characters are a token; an image counts by its pixels. */
export function estimateTokens({system, tools, messages}: Pick<MessagesBody, 'system' | 'tools' | 'messages'>): number {
  let ofImages = 0;
  const text = JSON.stringify([system, tools, messages], (_, value: unknown) => {
    if (!isObject(value) || value.type !== 'image') return value;
    const size = measure(Buffer.from((value.source as {data?: string} | undefined)?.data ?? '', 'base64'));
    ofImages += size ? Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN) : 0;
    return undefined;
  });
  return Math.ceil(text.length / CHARS_PER_TOKEN) + ofImages;
}

function toBlocks(content: string | readonly RequestBlock[]): readonly RequestBlock[] {
  return typeof content === 'string' ? [{type: 'text', text: content}] : content;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}
