/** Fan-outs, as the lines of their journal tell of them. */
import {describe, expect, test} from 'vitest';
import type {FanOutLine, FanOutPart, StoredFanOut} from '../../../src/core/contract/fan-out.ts';
import {describeCutOff, FAN_OUT_VERSION, isCutOff, readFanOuts} from '../../../src/core/fan-out/state.ts';

const plan = (id: string, change: object = {}): FanOutLine => ({
  ...{id, type: 'plan', version: FAN_OUT_VERSION, at: 1, instruction: 'fix all', tools: ['bash'], allowed: true},
  parts: [{files: ['a.ts']}, {files: ['b.ts']}],
  ...change,
});
const results = {total: 2, successful: 2, failed: 0, filesModified: 2};
const report = {line: 'fan-out: 2 agents', text: 'fan-out: 2 agents', results};

describe('the journal of fan-outs', () => {
  test('says which parts ended how, which agents worked, and what is to be done outside', () => {
    const outside = [1, 2].map((each) => ({path: `o${each}.ts`, change: 'export it'}));
    const [fanOut, other, ...more] = readFanOuts([
      plan('1'),
      plan('2'),
      {id: '1', type: 'part', part: 0, runId: 'run-0'},
      {id: '1', type: 'part', part: 1, runId: 'run-1'},
      {id: '1', type: 'part_end', part: 1, outcome: 'error', reason: 'server down', outside: [outside[0]!]},
      {id: '1', type: 'part_end', part: 0, outcome: 'success', outside: [outside[1]!]},
      {id: '1', type: 'agent', agentId: 'verifier'},
      {id: 'unknown', type: 'agent', agentId: 'x'},
    ]);
    expect(fanOut).toEqual({
      ...{id: '1', at: 1, instruction: 'fix all', tools: ['bash'], allowed: true, outside},
      parts: [
        {files: ['a.ts'], runId: 'run-0', outcome: 'success'},
        {files: ['b.ts'], runId: 'run-1', outcome: 'error', reason: 'server down'},
      ],
      agents: ['run-0', 'run-1', 'verifier'],
      ...{undone: false, continued: false},
    });
    expect([other?.agents, more]).toEqual([[], []]);
    expect([fanOut, other].map((each) => isCutOff(each!))).toEqual([true, true]);
  });

  test('keeps what was planned and what is continued', () => {
    const edits = [{path: 'a.ts', line: 1, column: 2, newText: 'b'}];
    const continues = {session: 's', id: '0'};
    expect(readFanOuts([plan('1', {edits, continues, allowed: false})])).toMatchObject([
      {edits, continues, allowed: false},
    ]);
  });

  test.each<[Omit<FanOutLine, 'id'>, Partial<StoredFanOut>]>([
    [{type: 'end', report} as FanOutLine, {report}],
    [{type: 'undone'}, {undone: true, continued: false}],
    [{type: 'continued'}, {undone: false, continued: true}],
  ])('with the line %j shows a fan-out that is not cut off', (line, facts) => {
    const [fanOut] = readFanOuts([plan('1'), {...line, id: '1'} as FanOutLine]);
    expect(fanOut).toMatchObject(facts);
    expect(isCutOff(fanOut!)).toBe(false);
  });

  test('of a newer version is left out', () => {
    const lines: FanOutLine[] = [plan('1', {version: FAN_OUT_VERSION + 1}), {id: '1', type: 'undone'}];
    expect(readFanOuts(lines)).toEqual([]);
  });
});

test.each<[readonly (FanOutPart['outcome'] | undefined)[], string]>([
  [['success', undefined], 'of 2 parts part 1 is done, part 2 is missing.'],
  [['success', 'error', undefined], 'of 3 parts part 1 is done, parts 2 and 3 are missing.'],
  [['success', 'success', undefined], 'of 3 parts parts 1 and 2 are done, part 3 is missing.'],
  [[undefined], 'of 1 parts no part is done, part 1 is missing.'],
  [['success', 'success'], 'of 2 parts parts 1 and 2 are done, only its end is missing.'],
])('a fan-out whose parts ended %j: %s', (outcomes, text) => {
  const parts = outcomes.map((outcome) => ({files: ['a.ts'], ...(outcome && {outcome})}));
  const [fanOut] = readFanOuts([plan('1', {parts})]);
  expect(describeCutOff(fanOut!)).toContain(`"fix all" was cut off: ${text}`);
});

test.each([
  ['x'.repeat(60), 'x'.repeat(60)],
  ['x'.repeat(61), `${'x'.repeat(59)}…`],
])('the instruction %s is named in 60 characters at most', (instruction, shown) => {
  const [fanOut] = readFanOuts([plan('1', {instruction})]);
  expect(describeCutOff(fanOut!)).toContain(`"${shown}"`);
});
