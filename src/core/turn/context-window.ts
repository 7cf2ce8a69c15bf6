/**
 * Measures how much of the model's context window a conversation uses, and chooses old results that can be cleared. The
 * window is what a request and its reply may have together. Shares are of the window without the tokens set aside for
 * the reply.
 */
import type {Message, Model, ToolResultBlock, ToolSpec, ToolUse, Usage} from '../contract/model.ts';
import {countInputTokens, getCalls, getResults} from '../util/messages.ts';
import {cutEnd} from '../util/text.ts';

/**
 * At this share older results are cleared until `CLEAR_TO` is reached. One large step changes the server's cache only
 * once.
 */
const CLEAR_AT = 0.8;
const CLEAR_TO = 0.6;
const COMPACT_AT = 0.9;
/** A step that frees less than this share is not worth a new cache. */
const MIN_FREED = 0.1;
/** Results of this many last messages are never cleared, because the model works with them. */
const KEPT_RESULTS = 2;
/** Tokens. Shorter results stay, because the line that replaces them would not be shorter. */
const MIN_CLEARED = 60;
/** Largest share of a window that is set aside for the reply. */
const MAX_RESERVE = 0.25;

/** UTF-8 bytes of text for one token, until a server has counted. */
export const BYTES_PER_TOKEN = 4;
/** Tokens of an image: about the most that servers count, since the real number depends on its pixels. */
const IMAGE_TOKENS = 1600;

export interface WindowSize {
  /** Tokens of a request and its reply together. */
  readonly window: number;
  /** Tokens that are set aside for the reply. */
  readonly reserve: number;
  /** Tokens that a request may have: the rest. */
  readonly limit: number;
}

interface WindowContent {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
}

/** Tokens of a request that fits into every window, so that no server is asked for the size. */
const SMALL_REQUEST = 4_500;

/**
 * @param contextTokens smaller window for a run
 * @param used tokens of the next request
 * @returns undefined when the size is unknown and does not matter yet
 */
export async function getWindowSize(
  model: Model,
  contextTokens: number | undefined,
  used = Number.POSITIVE_INFINITY,
): Promise<WindowSize | undefined> {
  const own = await model.contextWindow(used > SMALL_REQUEST);
  if (own === undefined && contextTokens === undefined) return undefined;
  const window = Math.min(own ?? Number.POSITIVE_INFINITY, contextTokens ?? Number.POSITIVE_INFINITY);
  const reserve = Math.min(model.maxOutputTokens, Math.floor(window * MAX_RESERVE));
  return {window, reserve, limit: window - reserve};
}

/** Estimates the tokens of one conversation. What the server counted for the last request corrects the estimate. */
export class ContextWindow {
  /** Tokens counted by the server for one estimated token. */
  #ratio = 1;
  #isCounted = false;
  /** Estimated tokens of messages and of lists of tools, which do not change. */
  readonly #estimates = new WeakMap<object, number>();

  /** True until a server has counted. */
  get isEstimate(): boolean {
    return !this.#isCounted;
  }

  /** Records that the server counted this request. Servers that do not count report 0. */
  record(usage: Usage, content: WindowContent): void {
    const counted = countInputTokens(usage);
    if (counted === 0) return;
    this.#isCounted = true;
    this.#ratio = counted / this.#estimate(content);
  }

  /**
   * Records that the server refused this request as too long.
   * @param counted tokens as the server named them. Undefined when it did not: the request then counts as a little over
   *   the limit.
   */
  recordOverflow(content: WindowContent, {limit}: WindowSize, counted = 0): void {
    this.#ratio = Math.max(this.#ratio, counted / this.#estimate(content), (1.05 * limit) / this.#estimate(content));
  }

  /** Records that the reply ended because the window was full, so that the next request is shortened first. */
  recordFull(): void {
    this.#ratio *= 1 / COMPACT_AT;
  }

  /** Converts tokens to bytes of text, with a margin for a wrong count. */
  toBytes(tokens: number): number {
    return Math.max(0, Math.floor((tokens * BYTES_PER_TOKEN * 0.8) / Math.max(1, this.#ratio)));
  }

  /** Estimates the tokens of a request with this content. */
  count(content: WindowContent): number {
    return Math.ceil(this.#estimate(content) * this.#ratio);
  }

  countMessages(messages: readonly Message[]): number {
    return Math.ceil(this.#estimateMessages(messages) * this.#ratio);
  }

  /** Estimates for each message the tokens from it to the last one. */
  countFromEach(messages: readonly Message[]): readonly number[] {
    const counts = new Array<number>(messages.length);
    let sum = 0;
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      sum += this.#estimateMessage(messages[index]!);
      counts[index] = Math.ceil(sum * this.#ratio);
    }
    return counts;
  }

  /** Says what to do before a request with this content is sent. */
  getDueStep(content: WindowContent, {limit}: WindowSize): 'none' | 'clear' | 'compact' {
    const used = this.count(content);
    if (used >= COMPACT_AT * limit) return 'compact';
    return used >= CLEAR_AT * limit ? 'clear' : 'none';
  }

  /**
   * Chooses older results to clear, and the lines that replace them, by the id of their call. Empty when that frees too
   * little.
   * @param atLeast tokens that must be freed to be worth it. Default: a tenth of the limit.
   */
  chooseCleared(content: WindowContent, {limit}: WindowSize, atLeast = MIN_FREED * limit): ReadonlyMap<string, string> {
    const cleared = new Map<string, string>();
    const calls = new Map(content.messages.flatMap((each) => getCalls(each.content)).map((call) => [call.id, call]));
    let left = this.count(content);
    const before = left;
    for (const message of content.messages.slice(0, this.#getKeptFrom(content.messages))) {
      for (const block of getResults(message.content)) {
        if (left <= CLEAR_TO * limit) break;
        const tokens = Math.ceil(estimateBlock(block) * this.#ratio);
        const call = calls.get(block.tool_use_id);
        if (tokens < MIN_CLEARED || !call) continue;
        const line = formatCleared(call);
        cleared.set(block.tool_use_id, line);
        left -= tokens - Math.ceil(estimateText(line) * this.#ratio);
      }
    }
    return before - left >= atLeast ? cleared : new Map();
  }

  /**
   * Cuts results in their middle, each to the same share, so that the messages fit. The map is by the id of the call.
   */
  chooseCut(messages: readonly Message[], maxTokens: number): ReadonlyMap<string, string> {
    const excess = this.countMessages(messages) - maxTokens;
    const results = messages
      .flatMap(({content}) => getResults(content))
      .filter((block) => getResultText(block) !== undefined);
    const total = results.reduce((sum, block) => sum + estimateBlock(block), 0) * this.#ratio;
    if (excess <= 0 || total === 0) return new Map();
    const share = Math.max(0, 1 - excess / total);
    const cut = results.flatMap((block): [string, string][] => {
      const text = getResultText(block)!;
      const length = Math.max(Math.floor(text.length * share), MIN_CUT / 2);
      return text.length > MIN_CUT ? [[block.tool_use_id, cutMiddle(text, length)]] : [];
    });
    return new Map(cut);
  }

  /** Finds the first message whose results stay. */
  #getKeptFrom(messages: readonly Message[]): number {
    const withResults = messages.flatMap(({content}, index) => (getResults(content).length > 0 ? [index] : []));
    return withResults.at(-KEPT_RESULTS) ?? 0;
  }

  #estimate({system, tools, messages}: WindowContent): number {
    const toolTokens = this.#estimateOnce(tools, () => estimateText(JSON.stringify(tools)));
    return estimateText(system) + toolTokens + this.#estimateMessages(messages);
  }

  #estimateMessages(messages: readonly Message[]): number {
    return messages.reduce((sum, message) => sum + this.#estimateMessage(message), 0);
  }

  #estimateMessage(message: Message): number {
    const {content} = message;
    return this.#estimateOnce(message, () => {
      const isText = typeof content === 'string';
      // Each message has about four tokens for its role and the marks around it.
      return 4 + (isText ? estimateText(content) : content.reduce((sum, block) => sum + estimateBlock(block), 0));
    });
  }

  #estimateOnce(part: object, estimate: () => number): number {
    const tokens = this.#estimates.get(part) ?? estimate();
    this.#estimates.set(part, tokens);
    return tokens;
  }
}

/** Characters. Shorter results are not cut. */
const MIN_CUT = 400;

type Block = Exclude<Message['content'], string>[number];

/** Returns the text of a result, or undefined for a result with images. */
export function getResultText({content}: ToolResultBlock): string | undefined {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((block) => (block.type === 'text' ? block.text : undefined));
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined;
}

/** Describes a call by its tool and its first text input: `read_file src/a.ts`, `bash npm test`. */
export function describeCall({name, input}: ToolUse): string {
  const fields = Object.values((input ?? {}) as Record<string, unknown>);
  const first = fields.find((value) => typeof value === 'string' && value !== '') as string | undefined;
  return `${name} ${cutEnd(first?.split('\n')[0] ?? '', 120)}`.trim().toWellFormed();
}

function formatCleared(call: ToolUse): string {
  const again = call.name === 'read_file' ? 'Read the file again' : 'Make the call again';
  return `(The result of ${describeCall(call)} was cleared to save space. ${again} if you need it.)`;
}

/** Returns head and tail of a text, with a line between them that says how much is missing. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, Math.ceil(length * 0.6)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(length * 0.4)).toWellFormed();
  return `${head}\n(… ${text.length - length} characters cut to fit the context window: ask for a smaller part …)\n${tail}`;
}

function estimateBlock(block: {readonly type: string}): number {
  const known = block as Block;
  switch (known.type) {
    case 'text':
      return estimateText(known.text);
    case 'thinking':
      return estimateText(known.thinking);
    case 'image':
      return IMAGE_TOKENS;
    case 'tool_result': {
      const {content = ''} = known;
      return (
        8 +
        (typeof content === 'string'
          ? estimateText(content)
          : content.reduce((sum, each) => sum + estimateBlock(each), 0))
      );
    }
    default:
      return estimateText(JSON.stringify(block));
  }
}

/** Estimates the tokens of a text. */
export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
