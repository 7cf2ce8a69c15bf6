import {describe, expect, it} from 'vitest';
import type {Message, Usage} from '../../../src/core/contract/model.ts';
import {
  addUsage,
  addUsageTo,
  countTokens,
  formatBudget,
  formatCost,
  formatUsd,
  getText,
  isBudget,
  isCostKnown,
  joinContents,
  NO_USAGE,
  subtractUsage,
  sumEntries,
  withResultTexts,
} from '../../../src/core/util/messages.ts';

const one: Usage = {
  input_tokens: 1,
  output_tokens: 20,
  cache_read_input_tokens: 300,
  cache_creation_input_tokens: 4000,
};
const two: Usage = {
  input_tokens: 2,
  output_tokens: 10,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 1000,
};
const rare = {cache_creation_1h_input_tokens: 5, web_search_requests: 2};

describe('usage', () => {
  it('is added and subtracted field by field', () => {
    expect(addUsage(one, {...two, ...rare})).toEqual({
      ...{input_tokens: 3, output_tokens: 30, cache_read_input_tokens: 400, cache_creation_input_tokens: 5000},
      ...rare,
    });
    expect(addUsage({...one, ...rare}, {...NO_USAGE, ...rare})).toMatchObject({
      ...{cache_creation_1h_input_tokens: 10, web_search_requests: 4},
    });
    expect(subtractUsage(addUsage(one, {...two, ...rare}), one)).toEqual({...two, ...rare});
    expect(subtractUsage({...one, cost_usd: 1}, NO_USAGE)).toEqual(one);
    expect(subtractUsage({...one, ...rare}, {...NO_USAGE, ...rare})).toEqual(one);
    expect(countTokens(one)).toBe(4321);
  });

  it('has a cost where any part has one, and says when some of it is not known', () => {
    expect(addUsage(one, two)).not.toHaveProperty('cost_usd');
    expect(addUsage({...one, cost_usd: 1}, {...two, cost_usd: 2})).toMatchObject({cost_usd: 3});
    expect(addUsage({...one, cost_usd: 1}, NO_USAGE)).toEqual({...one, cost_usd: 1});
    expect(addUsage({...one, cost_usd: 1}, two)).toMatchObject({cost_usd: 1, cost_unknown: true});
    expect(addUsage(one, {...two, cost_usd: 2})).toMatchObject({cost_usd: 2, cost_unknown: true});
    expect(
      [one, NO_USAGE, {...one, cost_usd: 0}, {...one, cost_usd: 1, cost_unknown: true} as const].map(isCostKnown),
    ).toEqual([...[false, true, true, false]]);
  });

  it('is summed by name, and by agent and model, without what used nothing', () => {
    expect(addUsageTo({a: one}, 'a', two)).toEqual({a: addUsage(one, two)});
    expect(addUsageTo({a: one}, 'b', two)).toEqual({a: one, b: two});
    const entry = (agent: string, model: string, usage: Usage) => ({agent, model, usage});
    expect(
      sumEntries([entry('a', 'm', one), entry('b', 'm', NO_USAGE), entry('a', 'n', two), entry('a', 'm', two)]),
    ).toEqual([entry('a', 'm', addUsage(one, two)), entry('a', 'n', two)]);
  });

  it.each([
    [0, '$0.00'],
    [0.00009, '<$0.0001'],
    [0.0001, '$0.0001'],
    [0.00999, '$0.0100'],
    [0.01, '$0.01'],
    [1.255, '$1.25'],
  ])('of %d US dollars is shown as %s', (usd, text) => {
    expect(formatUsd(usd)).toBe(text);
  });

  it('of models without a price is n/a', () => {
    expect(
      [one, {...one, cost_usd: 0.02}, {...one, cost_usd: 0.02, cost_unknown: true} as const].map(formatCost),
    ).toEqual([...['n/a', '$0.02', '$0.02 + n/a']]);
    expect([isBudget(formatBudget(0.5)), isBudget('50 turns')]).toEqual([true, false]);
  });
});

const text = (words: string) => ({type: 'text' as const, text: words});

describe('messages', () => {
  it('have the text of their text blocks', () => {
    expect(getText(' as it is ')).toBe(' as it is ');
    expect(getText([text(' a'), {type: 'image'}, text('b ')])).toBe('a\n\nb');
  });

  it('are joined as one text, or as blocks where one of them has blocks', () => {
    expect(joinContents(['a', 'b'])).toBe('a\n\nb');
    expect(joinContents(['a', [text('b')]])).toEqual([text('a'), text('b')]);
  });

  it('get other texts for some results, and stay the same object where nothing changes', () => {
    const result = (id: string, content: string) => ({type: 'tool_result' as const, tool_use_id: id, content});
    const message: Message = {role: 'user', content: [result('a', 'long'), result('b', 'other'), text('c')]};
    expect(withResultTexts(message, new Map([['a', 'short']]))).toEqual({
      ...{role: 'user', content: [result('a', 'short'), result('b', 'other'), text('c')]},
    });
    expect(withResultTexts(message, new Map([['x', 'short']]))).toBe(message);
    const said: Message = {role: 'assistant', content: [{type: 'text', text: 'a', citations: null}]};
    expect(withResultTexts(said, new Map([['a', 'short']]))).toBe(said);
  });
});
