/** Learns from a server's refusals how many tokens a reply of its models may have. */
import {getServerMessage, isRefusal} from './model-errors.ts';
import type {CallOptions} from './protocol.ts';

/** Matches what servers call the tokens of a reply. */
const OUTPUT_TOKENS = /\bmax(?:imum)?[ _](?:(?:completion|output)[ _])?tokens\b/i;
/** An error about the context window names other numbers. */
const WINDOW = /context (?:length|limit|window|size)|\bprompt\b/i;
/** A number that is no part of a name or a date. */
const NUMBER = /(?<![\w.-])\d+(?:,\d{3})*(?![\w-]|\.\d)/g;
/** Smaller numbers in a refusal are no limits, such as the 1 of the range `[1, 8192]`. */
const MIN_LIMIT = 256;

export class OutputLimits {
  /** By the name of the model. */
  readonly #limits = new Map<string, number>();

  /** Returns the options with at most the tokens that the server accepts, as far as that is known. */
  apply(options: CallOptions): CallOptions {
    const limit = this.#limits.get(options.id) ?? Number.POSITIVE_INFINITY;
    return {...options, maxTokens: Math.min(options.maxTokens, limit)};
  }

  /** Learns the limit from a refusal. @returns true when a request with fewer tokens may succeed */
  learn(error: unknown, {id, maxTokens}: CallOptions): boolean {
    const limit = isRefusal(error) ? findOutputLimit(getServerMessage(error), maxTokens) : undefined;
    if (limit !== undefined) this.#limits.set(id, limit);
    return limit !== undefined;
  }
}

/**
 * Finds the limit in a message such as `max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens`.
 * @param asked tokens in the refused request
 */
function findOutputLimit(message: string, asked: number): number | undefined {
  if (!OUTPUT_TOKENS.test(message) || WINDOW.test(message)) return undefined;
  const numbers = [...message.matchAll(NUMBER)].map(([number]) => Number(number.replaceAll(',', '')));
  const limits = numbers.filter((number) => number >= MIN_LIMIT && number < asked);
  return limits.length === 0 ? undefined : Math.max(...limits);
}
