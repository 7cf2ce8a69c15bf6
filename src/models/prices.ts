/**
 * Calculates the cost of model calls from a table of list prices and from prices in the settings, which come first. A
 * model without any price is never treated as free.
 */
import type {Usage} from '../core/contract/model.ts';

/** A price in US dollars for a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
  /** Equals `input` by default. */
  readonly cacheRead?: number | undefined;
  /** Equals `input` by default. */
  readonly cacheWrite?: number | undefined;
  /** Price of tokens that are cached for an hour; equals `cacheWrite` by default. */
  readonly cacheWrite1h?: number | undefined;
}

interface ListPrice extends Price {
  /** Prices of requests with more input tokens. They apply to all tokens of such a request, input and output. */
  readonly long?: Price & {readonly above: number};
}

/** Date of the list. Its source is https://platform.claude.com/docs/en/about-claude/pricing */
export const PRICES_AS_OF = '2026-10-24';

/** Creates a price. Writes to the cache cost 1.25 times the input, and twice the input for an hour. */
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
  // The offline model asks no server.
  offline: {input: 0, output: 0},
};

export class PriceList {
  /**
   * @param pricing prices of the settings, by `provider/model`, or by the model alone for the default provider
   * @param defaultProvider provider of models that name none, if there is one
   */
  constructor(
    private readonly pricing: Readonly<Record<string, Price>>,
    private readonly defaultProvider?: string,
  ) {}

  /**
   * @param names names of one model, e.g. the server's name and the requested one; the first name with a price counts
   */
  find(...names: readonly (string | undefined)[]): ListPrice | undefined {
    const given = names.filter((name) => name !== undefined);
    const keys = given.flatMap((name) => [name, this.#getOtherName(name) ?? name]);
    return findPrice(this.pricing, keys) ?? findPrice(LIST_PRICES, given);
  }

  /** Returns `provider/model` for a model alone, and the model alone for one of the default provider. */
  #getOtherName(name: string): string | undefined {
    const [prefix, ...rest] = name.split('/');
    if (rest.length === 0) return this.defaultProvider && `${this.defaultProvider}/${name}`;
    return rest.length === 1 && prefix === this.defaultProvider ? rest[0] : undefined;
  }

  /** Adds the cost to the usage when a price is known. @param names names of the model, as for `find` */
  addCost(usage: Usage, ...names: readonly (string | undefined)[]): Usage {
    const price = this.find(...names);
    return price ? {...usage, cost_usd: getCost(usage, price)} : usage;
  }

  /** Returns the highest prices of a million tokens in US dollars; undefined when they are unknown. */
  getHighest(name: string): {readonly inputPrice: number; readonly outputPrice: number} | undefined {
    const price = this.find(name);
    if (!price) return undefined;
    const all: readonly Price[] = price.long ? [price, price.long] : [price];
    // mini-cc writes to the cache for five minutes only.
    const inputs = all.flatMap(({input, cacheWrite = input}) => [input, cacheWrite]);
    return {inputPrice: Math.max(...inputs), outputPrice: Math.max(...all.map(({output}) => output))};
  }
}

function findPrice(table: Readonly<Record<string, ListPrice>>, names: readonly string[]): ListPrice | undefined {
  const found = names.flatMap((name) => [name, withoutDate(name)]).find((name) => Object.hasOwn(table, name));
  return found === undefined ? undefined : table[found];
}

/** Removes the date: `claude-haiku-4-5-20251001` becomes `claude-haiku-4-5`. */
function withoutDate(name: string): string {
  return name.replace(/-\d{8}$/, '');
}

/** @returns the cost of one model call in US dollars */
function getCost(usage: Usage, price: ListPrice): number {
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
