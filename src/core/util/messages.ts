/** Reads and joins messages; sums token usage, and formats what it costs. */
import type {Message, PromptContent, ToolResultBlock, ToolUse, Usage, UsageEntry} from '../contract/model.ts';

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  const isPriced = a.cost_usd !== undefined || b.cost_usd !== undefined;
  return {
    ...sumTokens(a, b, 1),
    ...(isPriced && {cost_usd: (a.cost_usd ?? 0) + (b.cost_usd ?? 0)}),
    ...(isPriced && !(isCostKnown(a) && isCostKnown(b)) && {cost_unknown: true as const}),
    ...((a.cost_estimated ?? b.cost_estimated) && {cost_estimated: true as const}),
  };
}

/**
 * Returns the tokens that were added since `before`, without their cost. @param before earlier state of the same sum
 */
export function subtractUsage(now: Usage, before: Usage): Usage {
  return sumTokens(now, before, -1);
}

function sumTokens(a: Usage, b: Usage, sign: 1 | -1): Usage {
  const sum = (field: Exclude<keyof Usage, 'cost_unknown' | 'cost_estimated'>) =>
    (a[field] ?? 0) + sign * (b[field] ?? 0);
  const [hour, searches] = [sum('cache_creation_1h_input_tokens'), sum('web_search_requests')];
  return {
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cache_read_input_tokens: sum('cache_read_input_tokens'),
    cache_creation_input_tokens: sum('cache_creation_input_tokens'),
    ...(hour > 0 && {cache_creation_1h_input_tokens: hour}),
    ...(searches > 0 && {web_search_requests: searches}),
  };
}

/** Messages in a transcript that mark a reply that was cut short. The model reads them too. */
export const INTERRUPTED = '[Interrupted by the user]';
export const CUT_OFF = '[Cut off here: mini-cc ended before this reply did]';

/** Whether `cost_usd` is the whole cost. Usage without tokens has a known cost of nothing. */
export function isCostKnown(usage: Usage): boolean {
  return usage.cost_unknown !== true && (usage.cost_usd !== undefined || countTokens(usage) === 0);
}

/** Returns the cost in US dollars; null when a price is unknown. */
export function toCost(usage: Usage): number | null {
  return isCostKnown(usage) ? (usage.cost_usd ?? 0) : null;
}

/** Counts all tokens of a model call: input and output, read from the cache and written to it. */
export function countTokens(usage: Usage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

/** Counts the tokens of a request, including those that the cache read and wrote. */
export function countInputTokens(usage: Usage): number {
  return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

export function addUsageTo(
  sums: Readonly<Record<string, Usage>>,
  name: string,
  usage: Usage,
): Readonly<Record<string, Usage>> {
  return {...sums, [name]: addUsage(sums[name] ?? NO_USAGE, usage)};
}

/** Adds up what was used by each model. */
export function addUsageByModel(
  a: Readonly<Record<string, Usage>>,
  b: Readonly<Record<string, Usage>>,
): Readonly<Record<string, Usage>> {
  return Object.entries(b).reduce((sums, [model, usage]) => addUsageTo(sums, model, usage), a);
}

/** Sums entries by agent and model, in the order in which they first occur. Entries without tokens are left out. */
export function sumEntries(entries: readonly UsageEntry[]): readonly UsageEntry[] {
  const sums = new Map<string, UsageEntry>();
  for (const {agent, model, usage} of entries) {
    if (countTokens(usage) === 0) continue;
    const key = JSON.stringify([agent, model]);
    sums.set(key, {agent, model, usage: addUsage(sums.get(key)?.usage ?? NO_USAGE, usage)});
  }
  return [...sums.values()];
}

/** Returns the text blocks of a message, joined by blank lines; other blocks are left out. */
export function getText(content: Content): string {
  if (typeof content === 'string') return content;
  return content
    .filter((block): block is {type: 'text'; text: string} => block.type === 'text')
    .map((block) => block.text)
    .join('\n\n')
    .trim();
}

type Content = string | readonly {readonly type: string}[];

/** Returns the calls in the content of a message. */
export function getCalls(content: Content): readonly ToolUse[] {
  return typeof content === 'string' ? [] : content.filter((block): block is ToolUse => block.type === 'tool_use');
}

/** Returns the results of calls in the content of a message. */
export function getResults(content: Content): readonly ToolResultBlock[] {
  if (typeof content === 'string') return [];
  return content.filter((block): block is ToolResultBlock => block.type === 'tool_result');
}

/** Joins the texts of several replies. One that is blank, or was there before, is left out. */
export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text, index) => text !== '' && texts.indexOf(text) === index).join('\n\n');
}

/** Creates the message of a prompt. The content is copied. */
export function toUserMessage(content: PromptContent): Message {
  return {role: 'user', content: typeof content === 'string' ? content : [...content]};
}

/** Joins several prompts into one, texts by blank lines. With images, the content is a list of blocks. */
export function joinContents(contents: readonly PromptContent[]): PromptContent {
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n');
  return contents.flatMap((content) =>
    typeof content === 'string' ? [{type: 'text' as const, text: content}] : content,
  );
}

/** Returns the message with other texts for some of its tool results. @param texts texts by the id of the call */
export function withResultTexts(message: Message, texts: ReadonlyMap<string, string>): Message {
  const {content} = message;
  if (message.role !== 'user' || typeof content === 'string') return message;
  const getNew = (block: {readonly type: string}) =>
    block.type === 'tool_result' ? texts.get((block as ToolResultBlock).tool_use_id) : undefined;
  if (!content.some((block) => getNew(block) !== undefined)) return message;
  const blocks = content.map((block) => {
    const text = getNew(block);
    return text === undefined ? block : ({...block, content: text} as ToolResultBlock);
  });
  return {...message, content: blocks};
}

/** Formats `$1.25`; small amounts have more digits: `$0.0042`, `<$0.0001`. */
export function formatUsd(usd: number, digits?: number): string {
  if (digits !== undefined && usd >= 10 ** -digits) return `$${usd.toFixed(digits)}`;
  if (usd === 0 || usd >= 0.01) return `$${usd.toFixed(2)}`;
  return usd < 0.0001 ? '<$0.0001' : `$${usd.toFixed(4)}`;
}

/**
 * Formats `$0.02`; `~$0.02` if a part is estimated; `n/a` if no price is known, and `$0.02 + n/a` if some tokens have
 * none.
 */
export function formatCost(usage: Usage, digits?: number): string {
  const known = `${usage.cost_estimated ? '~' : ''}${formatUsd(usage.cost_usd ?? 0, digits)}`;
  if (isCostKnown(usage)) return known;
  return usage.cost_usd === undefined ? 'n/a' : `${known} + n/a`;
}

/** Formats the limit as runs that it ended name it: `budget of $0.50`. */
export function formatBudget(usd: number): string {
  return `budget of ${formatUsd(usd)}`;
}

/** Returns true when a run ended at a limit of money. */
export function isBudget(limit: string): boolean {
  return limit.startsWith('budget of ');
}
