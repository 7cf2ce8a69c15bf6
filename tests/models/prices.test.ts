import {describe, expect, it} from 'vitest';
import type {Usage} from '../../src/core/contract/model.ts';
import {getCost, LIST_PRICES, PriceList} from '../../src/models/prices.ts';

const MILLION = 1_000_000;
const usage = (input: number, output: number, read = 0, written = 0, hour?: number): Usage => ({
  ...{input_tokens: input, output_tokens: output, cache_read_input_tokens: read, cache_creation_input_tokens: written},
  ...(hour !== undefined && {cache_creation_1h_input_tokens: hour}),
});

describe('what a call costs', () => {
  const price = {input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2, cacheWrite1h: 4};

  it.each([
    [usage(MILLION, 0), price, 1],
    [usage(0, MILLION), price, 10],
    [usage(0, 0, MILLION), price, 0.1],
    [usage(0, 0, 0, MILLION), price, 2],
    [usage(0, 0, 0, MILLION, MILLION / 2), price, 3],
    // No more can be kept for an hour than is kept at all.
    [usage(0, 0, 0, MILLION, 5 * MILLION), price, 4],
    [usage(0, 0, 0, MILLION, MILLION), {input: 1, output: 10, cacheWrite: 2}, 2],
    [usage(0, 0, MILLION, MILLION), {input: 1, output: 10}, 2],
  ])('%j at %j is %d dollars', (used, at, dollars) => {
    expect(getCost(used, at)).toBeCloseTo(dollars, 9);
  });

  it('is that of long requests, output too, where more tokens go in than the limit', () => {
    const long = {...price, long: {input: 100, output: 1000, cacheRead: 100, cacheWrite: 100, above: 30}};
    expect(getCost(usage(10, 1, 10, 10), long)).toBeCloseTo((10 + 10 + 1 + 20) / MILLION, 12);
    expect(getCost(usage(11, 1, 10, 10), long)).toBeCloseTo((31 * 100 + 1000) / MILLION, 12);
  });

  it('is by the list for writes to the cache 1.25 times the input, for an hour twice', () => {
    expect(LIST_PRICES['claude-sonnet-4-5']).toEqual({
      ...{input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6},
    });
    expect(getCost(usage(MILLION, MILLION), LIST_PRICES.offline!)).toBe(0);
  });
});

describe('the price of a model', () => {
  const own = {input: 7, output: 8};
  const prices = new PriceList({'claude-opus-5-5': own, 'near/m': own});

  it('is found by its name, also without the date, in the settings first', () => {
    expect(prices.find('claude-opus-5-5-20261001')).toBe(own);
    expect(prices.find('claude-haiku-4-5-20251001')).toBe(LIST_PRICES['claude-haiku-4-5']);
    expect(prices.find('near/m')).toBe(own);
    expect(prices.find('claude-haiku-4-5', 'near/m')).toBe(own);
    expect(prices.find(undefined, 'claude-haiku-4-5', 'claude-opus-5')).toBe(LIST_PRICES['claude-haiku-4-5']);
    for (const name of ['m', 'toString', 'claude-haiku-4-5-2025']) expect(prices.find(name), name).toBeUndefined();
  });

  it('makes the cost of a call, where there is one', () => {
    expect(prices.addCost(usage(MILLION, 0), 'near/m')).toEqual({...usage(MILLION, 0), cost_usd: 7});
    expect(prices.addCost(usage(1, 1), 'm')).toEqual(usage(1, 1));
  });

  it('for tokens out is the highest', () => {
    expect(prices.getOutputPrice('claude-haiku-5-5')).toBe(2.5);
    expect(prices.getOutputPrice('near/m')).toBe(8);
    expect(prices.getOutputPrice('m')).toBeUndefined();
  });
});
