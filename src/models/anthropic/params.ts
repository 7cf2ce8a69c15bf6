/** Creates the parameters of a request to the Messages API, with marks for the server's prompt cache. */
import type {Anthropic} from '@anthropic-ai/sdk';
import type {Message, ModelRequest, Thinking} from '../../core/contract/model.ts';
import type {CallOptions} from '../protocol.ts';

type Params = Anthropic.MessageCreateParamsStreaming;

/** How a server limits thinking: newer models by an effort, older ones by a budget of tokens. */
export type ThinkingStyle = 'adaptive' | 'budget' | 'none';

/** Name of the tool that the server runs by itself. */
const WEB_SEARCH = 'web_search';
const WEB_SEARCH_TOOL = {type: 'web_search_20250305', name: WEB_SEARCH, max_uses: 8} as const;

/** Minimal budget in tokens that servers accept. */
const MIN_BUDGET = 1024;
const BUDGETS: Readonly<Record<Exclude<Thinking, 'off'>, number>> = {low: 2048, medium: 8192, high: 24_576};
/** Maximal share of a reply's tokens for thinking. */
const MAX_SHARE = 0.75;

export function toParams(request: ModelRequest, options: CallOptions, style: ThinkingStyle): Params {
  const tools = request.tools.filter(({name}) => name !== WEB_SEARCH || options.searchesWeb);
  const {thinking, effort} = getThinking(request, options, style);
  const format = request.answerSchema && {type: 'json_schema' as const, schema: request.answerSchema};
  const config = {...(effort && {effort}), ...(format && {format})};
  const {messages, ...marked} = withCacheMarks({...request, tools: tools.map(toServerTool)});
  return {
    model: options.id,
    max_tokens: options.maxTokens,
    stream: true,
    ...marked,
    ...(thinking && {thinking}),
    ...(Object.keys(config).length > 0 && {output_config: config}),
    ...(request.mayCallTools || tools.length === 0 ? {} : {tool_choice: {type: 'none'}}),
    messages,
  };
}

function toServerTool(tool: ModelRequest['tools'][number]): ModelRequest['tools'][number] {
  return tool.name === WEB_SEARCH ? (WEB_SEARCH_TOOL as unknown as typeof tool) : tool;
}

/**
 * Returns the style of a model. Claude from 4.6 on decides by itself how much to think. Servers of other models know
 * only the budget.
 */
export function getThinkingStyle(id: string): ThinkingStyle {
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d+)[-.](\d{1,2})(?!\d)/.exec(id) ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6) ? 'adaptive' : 'budget';
}

function getThinking(
  {messages}: ModelRequest,
  {thinking: level, thinkingTokens, maxTokens}: CallOptions,
  style: ThinkingStyle,
): {thinking?: Params['thinking']; effort?: 'low' | 'medium' | 'high'} {
  if (style === 'none' || (level === undefined && thinkingTokens === undefined)) return {};
  if (thinkingTokens === 0 || (thinkingTokens === undefined && level === 'off')) return {thinking: {type: 'disabled'}};
  const wanted = thinkingTokens ?? (style === 'budget' ? BUDGETS[level as keyof typeof BUDGETS] : undefined);
  if (wanted === undefined) return {thinking: {type: 'adaptive'}, effort: level as 'low' | 'medium' | 'high'};
  const budget = Math.min(Math.max(wanted, MIN_BUDGET), Math.floor(maxTokens * MAX_SHARE));
  // Servers refuse a budget in the middle of a turn whose reply has no thinking.
  if (budget < MIN_BUDGET || isInUnthoughtTurn(messages)) return {};
  return {thinking: {type: 'enabled', budget_tokens: budget}};
}

/** Tells whether the last reply called tools and has no thinking, e.g. because another model wrote it. */
function isInUnthoughtTurn(messages: readonly Message[]): boolean {
  const {content = ''} = messages.at(-1) ?? {};
  const hasResults = typeof content !== 'string' && content.some(({type}) => type === 'tool_result');
  const reply = messages.findLast(({role}) => role === 'assistant');
  if (!hasResults || !reply) return false;
  return typeof reply.content === 'string' || !/thinking$/.test(reply.content[0]?.type ?? '');
}

const MARK = {cache_control: {type: 'ephemeral'}} as const;

/**
 * Returns the parts of the request with four marks, the maximum. The server stores the request up to each mark, and
 * searches about 20 blocks back from each mark for a stored part. A turn of many calls adds more blocks, so one mark is
 * where the previous request had its last one, and the history is read from the cache up to there.
 */
export function withCacheMarks({
  system,
  tools,
  messages,
}: Pick<ModelRequest, 'system' | 'tools' | 'messages'>): Pick<
  Anthropic.MessageCreateParams,
  'system' | 'tools' | 'messages'
> {
  const last = tools.at(-1);
  return {
    ...(system.trim() === '' ? {} : {system: [{type: 'text', text: system, ...MARK}]}),
    ...(last ? {tools: [...tools.slice(0, -1), {...last, ...MARK}]} : {}),
    messages: markMessages(messages, [findEndOfLastRequest(messages), messages.length - 1]),
  };
}

/** Returns the index of the message before the last reply, or -1 when there is no reply yet. */
function findEndOfLastRequest(messages: readonly Message[]): number {
  let at = messages.findLastIndex(({role}) => role === 'assistant');
  while (messages[at]?.role === 'assistant') at -= 1;
  return at;
}

function markMessages(messages: readonly Message[], at: readonly number[]): Message[] {
  const marked = [...messages];
  for (const index of new Set(at)) if (marked[index]) marked[index] = markMessage(marked[index]);
  return marked;
}

/** Marks the last block. Servers refuse a mark on a thinking block, but no message of a history ends with one. */
function markMessage(message: Message): Message {
  const {content} = message;
  const blocks = typeof content === 'string' ? [{type: 'text' as const, text: content}] : content;
  return {...message, content: [...blocks.slice(0, -1), {...blocks.at(-1), ...MARK}]} as Message;
}
