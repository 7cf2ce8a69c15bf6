import {describe, expect, it} from 'vitest';
import type {Usage} from '../../src/core/contract/model.ts';
import {PriceList} from '../../src/models/prices.ts';

const MILLION = 1_000_000;
const usage = (input: number, output: number, read = 0, written = 0, hour?: number): Usage => ({
  ...{input_tokens: input, output_tokens: output, cache_read_input_tokens: read, cache_creation_input_tokens: written},
  ...(hour !== undefined && {cache_creation_1h_input_tokens: hour}),
});

const listed = new PriceList({});
const getCost = (used: Usage, price: {readonly input: number; readonly output: number}) =>
  new PriceList({m: price}).addCost(used, 'm').cost_usd;

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
    const getListed = (used: Usage) => listed.addCost(used, 'claude-haiku-5-5').cost_usd;
    expect(getListed(usage(50_000, 1000, 30_000, 20_000))).toBeCloseTo((5000 + 500 + 300 + 2500) / MILLION, 9);
    expect(getListed(usage(50_001, 1000, 30_000, 20_000))).toBeCloseTo((25_000.5 + 2500 + 1500 + 12_500) / MILLION, 9);
  });

  it('is nothing for the built-in model', () => {
    expect(listed.addCost(usage(1, 1), 'offline').cost_usd).toBe(0);
  });
});

it.each([
  ...['claude-fable-5-1', 'claude-fable-5', 'claude-mythos-5-1', 'claude-mythos-5'],
  ...['claude-opus-5-5', 'claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6', 'claude-opus-4-5'],
  ...['claude-opus-4-1', 'claude-sonnet-5-5', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-sonnet-4-5'],
  ...['claude-haiku-5-5', 'claude-haiku-4-5'],
])('%s costs by the list five times as much out as in, and more or less for the cache', (name) => {
  const {long, ...price} = listed.find(name)!;
  for (const {input, output, cacheRead = 0, cacheWrite, cacheWrite1h} of long ? [price, long] : [price]) {
    expect({output, cacheWrite, cacheWrite1h}).toEqual({
      ...{output: 5 * input, cacheWrite: 1.25 * input, cacheWrite1h: 2 * input},
    });
    expect(cacheRead).toBeLessThanOrEqual(input / 10);
  }
});

describe('the price of a model', () => {
  const own = {input: 7, output: 8};
  const prices = new PriceList({'claude-opus-5-5': own, 'near/m': own});

  it('is found by its name, also without the date, in the settings first', () => {
    expect(prices.find('claude-opus-5-5-20261001')).toBe(own);
    expect(prices.find('claude-haiku-4-5-20251001')).toBe(listed.find('claude-haiku-4-5'));
    expect(prices.find('near/m')).toBe(own);
    expect(prices.find('claude-haiku-4-5', 'near/m')).toBe(own);
    expect(prices.find(undefined, 'claude-haiku-4-5', 'claude-opus-5')).toBe(listed.find('claude-haiku-4-5'));
    for (const name of ['m', 'toString', 'claude-haiku-4-5-2025']) expect(prices.find(name), name).toBeUndefined();
  });

  it.each([
    ['anthropic', 'anthropic/m', 'm', true],
    ['anthropic', 'm', 'm', true],
    ['near', 'm', 'near/m', true],
    ['near', 'm', 'far/m', false],
    ['near', 'far/m', 'm', false],
    [undefined, 'm', 'near/m', false],
  ])('of the default provider %s is named %s in the settings for %s: %s', (provider, key, name, isFound) => {
    const found = new PriceList({[key]: own}, provider);
    expect(found.find(name)).toBe(isFound ? own : undefined);
    expect(found.addCost(usage(MILLION, 0), `${name}-20261001`).cost_usd).toBe(isFound ? 7 : undefined);
  });

  it('is no list price for a model of a server that only bears the name', () => {
    expect(new PriceList({}, 'near').find('near/claude-opus-5')).toBeUndefined();
  });

  it('makes the cost of a call, where there is one', () => {
    expect(prices.addCost(usage(MILLION, 0), 'near/m')).toEqual({...usage(MILLION, 0), cost_usd: 7});
    expect(prices.addCost(usage(1, 1), 'm')).toEqual(usage(1, 1));
  });

  it('that a call is reserved with is the highest, with a write to the cache', () => {
    expect(prices.getHighest('claude-haiku-5-5')).toEqual({inputPrice: 0.625, outputPrice: 2.5});
    expect(prices.getHighest('near/m')).toMatchObject({outputPrice: 8});
    expect(prices.getHighest('m')).toBeUndefined();
  });
});
