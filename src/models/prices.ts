/**
 * What model calls cost: a table of list prices, and the prices that the settings name, which come first. A model that is
 * in neither has no price: it is never taken for free.
 */
import type {Usage} from '../core/contract/model.ts';

/** US dollars for a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
  /** Default: as `input`. */
  readonly cacheRead?: number | undefined;
  /** Default: as `input`. */
  readonly cacheWrite?: number | undefined;
  /** What is kept in the cache for an hour. Default: as `cacheWrite`. */
  readonly cacheWrite1h?: number | undefined;
}

interface ListPrice extends Price {
  /** For requests with more tokens in, all of their tokens, also those out, cost this. */
  readonly long?: Price & {readonly above: number};
}

/** When the list was read. Its source: https://platform.claude.com/docs/en/about-claude/pricing */
export const PRICES_AS_OF = '2026-10-24';

/** Writes to the cache cost 1.25 times the input, for an hour twice the input. */
function list(input: number, output: number, cacheRead: number): Price {
  return {input, output, cacheRead, cacheWrite: 1.25 * input, cacheWrite1h: 2 * input};
}

/** Anthropic's list prices, by the name of the model without its date. */
const LIST_PRICES: Readonly<Record<string, ListPrice>> = {
  'claude-fable-5-1': list(10, 50, 0.25),
  'claude-fable-5': list(10, 50, 1),
  'claude-mythos-5-1': list(10, 50, 0.25),
  'claude-mythos-5': list(10, 50, 1),
  'claude-opus-5-5': list(4, 20, 0.2),
  'claude-opus-5': list(5, 25, 0.5),
  'claude-opus-4-8': list(5, 25, 0.5),
  'claude-opus-4-7': list(5, 25, 0.5),
  'claude-opus-4-6': list(5, 25, 0.5),
  'claude-opus-4-5': list(5, 25, 0.5),
  'claude-opus-4-1': list(15, 75, 1.5),
  'claude-sonnet-5-5': list(2, 10, 0.1),
  'claude-sonnet-5': list(2, 10, 0.2),
  'claude-sonnet-4-6': list(3, 15, 0.3),
  'claude-sonnet-4-5': list(3, 15, 0.3),
  'claude-haiku-5-5': {...list(0.1, 0.5, 0.01), long: {...list(0.5, 2.5, 0.05), above: 100_000}},
  'claude-haiku-4-5': list(1, 5, 0.1),
  // The built-in model asks no server.
  offline: {input: 0, output: 0},
};

export class PriceList {
  /** @param pricing of the settings, by `provider/model`, or the model alone for the default provider */
  constructor(private readonly pricing: Readonly<Record<string, Price>>) {}

  /** @param names of one model, e.g. as its server calls it and as it was asked for; the first one with a price counts */
  find(...names: readonly (string | undefined)[]): ListPrice | undefined {
    for (const table of [this.pricing, LIST_PRICES]) {
      for (const name of names.flatMap((each) => (each === undefined ? [] : [each, withoutDate(each)]))) {
        if (Object.hasOwn(table, name)) return table[name];
      }
    }
    return undefined;
  }

  /** The usage with what it cost, where that is known. @param names as for `find` */
  addCost(usage: Usage, ...names: readonly (string | undefined)[]): Usage {
    const price = this.find(...names);
    return price ? {...usage, cost_usd: getCost(usage, price)} : usage;
  }

  /** US dollars for a million tokens out, at most; undefined where that is not known. */
  getOutputPrice(name: string): number | undefined {
    const price = this.find(name);
    return price && Math.max(price.output, price.long?.output ?? 0);
  }
}

/** `claude-haiku-4-5-20251001` → `claude-haiku-4-5` */
function withoutDate(name: string): string {
  return name.replace(/-\d{8}$/, '');
}

/** @returns US dollars of one model call */
export function getCost(usage: Usage, price: ListPrice): number {
  const {input_tokens, output_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: written} = usage;
  const {long} = price;
  if (long && input_tokens + read + written > long.above) return getCost(usage, {...long});
  const {input, output, cacheRead = input, cacheWrite = input, cacheWrite1h = cacheWrite} = price;
  const hour = Math.min(written, usage.cache_creation_1h_input_tokens ?? 0);
  const microDollars =
    input_tokens * input +
    output_tokens * output +
    read * cacheRead +
    (written - hour) * cacheWrite +
    hour * cacheWrite1h;
  return microDollars / 1_000_000;
}
