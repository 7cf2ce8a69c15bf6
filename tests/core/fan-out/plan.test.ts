/** What a fan-out will do and may cost, as a person reads it. */
import {describe, expect, test} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {Usage} from '../../../src/core/contract/model.ts';
import {formatSummary} from '../../../src/core/fan-out/fan-outs.ts';
import {
  createPreview,
  type FanOutPlan,
  formatPartPrompt,
  getPartLimits,
  nameFiles,
} from '../../../src/core/fan-out/plan.ts';
import {ScriptedModel} from '../scripted-model.ts';

const {maxTurns: _, timeoutSeconds: _t, contextTokens: _c, ...agent} = AGENT_TYPES.code!;
const model = new ScriptedModel([]);
const local = Object.assign(new ScriptedModel([]), {local: true});
const plan = (change: Partial<FanOutPlan> = {}): FanOutPlan => ({
  instruction: 'fix all',
  files: ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts'],
  parts: [['a.ts', 'b.ts', 'c.ts', 'd.ts'], ['e.ts']],
  tools: ['read_file', 'edit_file'],
  ...{agent, model},
  ...change,
});

describe('the limits of a part', () => {
  const named = {...agent, maxTurns: 7, timeoutSeconds: 90, contextTokens: 100};
  test.each<[string, Partial<FanOutPlan>, number, object]>([
    ['of few files', {}, 3, {maxTurns: 50, timeoutSeconds: 60}],
    ['of more files', {}, 4, {maxTurns: 50, timeoutSeconds: 80}],
    ['of an agent that names some', {agent: named}, 9, {maxTurns: 7, timeoutSeconds: 90, contextTokens: 100}],
    [
      'that the request names',
      {agent: named, timeoutSeconds: 0},
      9,
      {maxTurns: 7, timeoutSeconds: 0, contextTokens: 100},
    ],
    ['at a model of this machine', {model: local}, 1, {maxTurns: 50, timeoutSeconds: 60, contextTokens: 8192}],
  ])('%s', (_name, change, files, limits) => {
    expect(getPartLimits(plan(change), files)).toEqual(limits);
  });
});

test('the prompt of a part has its files, and the places in them that were decided', () => {
  expect(formatPartPrompt(plan(), ['a.ts', 'b.ts'])).toBe('fix all\n\nFiles:\n- a.ts\n- b.ts');
  const edits = ['a.ts', 'z.ts'].map((path) => ({path, line: 3, column: 5, newText: 'to'}));
  expect(formatPartPrompt({instruction: 'x', edits}, ['a.ts'])).toBe('x\n\nFiles:\n- a.ts\n\nPlaces:\n- a.ts:3:5 to');
  expect(formatPartPrompt({instruction: 'x', edits}, ['b.ts'])).toMatch(/\n\nPlaces:\n\(none\)$/);
});

describe('the preview', () => {
  const lines = async (change: Partial<FanOutPlan>, getCost?: Parameters<typeof createPreview>[2]) =>
    (await createPreview(plan(change), 'no', getCost)).detail.split('\n');

  test('has the parts, the tools, the limits and the worst case', async () => {
    const asked: Usage[] = [];
    const getCost = (_model: unknown, usage: Usage) => asked.push(usage);
    expect(await lines({}, getCost)).toEqual([
      '1  4 files: a.ts, b.ts, c.ts and 1 more',
      '2  1 file: e.ts',
      'model scripted · tools read_file, edit_file',
      'limits of each: 50 turns, 1m20s or 1m00s',
      'worst case: 100 model calls, 20.0M tokens, cost $1.00',
    ]);
    expect(asked).toMatchObject([{input_tokens: 100 * (200_000 - 16_384), output_tokens: 100 * 16_384}]);
  });

  test('says each time limit once, that there is none, and how much context a part has', async () => {
    const one = {parts: [['a.ts'], ['b.ts']], agent: {...agent, maxTurns: 1}};
    expect((await lines(one))[3]).toBe('limits of each: 1 turn, 1m00s');
    expect((await lines({...one, timeoutSeconds: 0}))[3]).toBe('limits of each: 1 turn, no time limit');
    expect((await lines({...one, model: local}))[3]).toBe('limits of each: 1 turn, 1m00s, 8192 tokens of context');
  });

  test('counts the smaller of two windows, half of it for replies at most', async () => {
    const usages: Usage[] = [];
    const one = {parts: [['a.ts']], agent: {...agent, maxTurns: 1}};
    const small = new ScriptedModel([], 8_000);
    for (const change of [{model: local}, {model: Object.assign(small, {local: true})}]) {
      await lines({...one, ...change}, (_model, usage) => usages.push(usage));
    }
    expect(usages).toMatchObject([
      {input_tokens: 4_096, output_tokens: 4_096},
      {input_tokens: 4_000, output_tokens: 4_000},
    ]);
  });

  test('is a question with two answers', async () => {
    expect(await createPreview(plan(), 'no, one agent')).toMatchObject({
      title: 'fan-out: 2 agents (code) for 5 files, each may write only its own',
      options: [
        {digit: 1, choice: 'yes'},
        {digit: 2, choice: 'no', label: 'no, one agent'},
      ],
      escape: 'no',
    });
  });

  test('says what is not known', async () => {
    const unknown = Object.assign(new ScriptedModel([]), {contextWindow: async () => undefined});
    expect((await lines({model: unknown})).at(-1)).toBe('worst case: 100 model calls, tokens unknown, cost n/a');
    const bounded = {model: unknown, agent: {...agent, contextTokens: 1_000}};
    expect((await lines(bounded)).at(-1)).toBe('worst case: 100 model calls, 100.0k tokens, cost n/a');
  });
});

describe('the line at the end of a fan-out', () => {
  const results = {total: 3, successful: 3, failed: 0, filesModified: 9};
  test.each([
    [
      {results, wallMs: 18_400, sumMs: 47_200, tokens: 15_200},
      '3 agents · 3 ok · 9 files changed · 18.4s, sum of parts 47.2s, 2.6× · tokens 15.2k',
    ],
    [
      {results: {total: 1, successful: 0, failed: 1, filesModified: 1}, wallMs: 0, sumMs: 0, tokens: 0},
      '1 agent · 0 ok · 1 failed · 1 file changed · 0.0s, sum of parts 0.0s · tokens 0',
    ],
  ])('of %j', (totals, line) => {
    expect(formatSummary(totals)).toBe(`fan-out: ${line}`);
  });

  test('names so many files at most', () => {
    const names = [nameFiles(['a', 'b', 'c']), nameFiles(['a', 'b', 'c', 'd', 'e'])];
    expect(names).toEqual(['a, b, c', 'a, b, c and 2 more']);
  });
});
