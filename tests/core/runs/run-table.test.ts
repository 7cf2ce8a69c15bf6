/** Runs as lines and tables, for commands and for people. */
import {describe, expect, test} from 'vitest';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import {describeRun, formatRunList, formatRunTable, formatState} from '../../../src/core/runs/run-table.ts';

const NOW = 1_000_000;
const record = (change: Partial<RunRecord> = {}): RunRecord => ({
  ...{runId: 'id-1', agent: 'explore', description: 'look around', model: 'm', background: false, cleanup: 'keep'},
  ...{sessionId: 's', transcript: '/t/session.jsonl', state: 'processing', createdAt: 0, lastAt: NOW - 3_000, tools: 1},
  usage: {input_tokens: 900, output_tokens: 200, cache_read_input_tokens: 100, cache_creation_input_tokens: 0},
  ...{usageByModel: {}, round: 1, restored: false},
  ...change,
});
const ended = (change: Partial<RunRecord> = {}) =>
  record({state: 'idle', outcome: 'success', endedAt: NOW - 3_000, ...change});

test.each<[Partial<RunRecord>, string]>([
  [{state: 'created'}, 'queued'],
  [{state: 'processing'}, 'running'],
  [{state: 'idle', outcome: 'success'}, 'done'],
  [{state: 'idle', outcome: 'limit', reason: '50 turns'}, 'limit reached: 50 turns'],
  [{state: 'error', outcome: 'timeout'}, 'timed out'],
  [{state: 'removed', outcome: 'error'}, 'archived (failed)'],
  [{state: 'removed', outcome: 'limit', reason: '5 turns'}, 'archived (limit reached: 5 turns)'],
])('the state of %j reads %s', (change, text) => {
  expect(formatState(record(change))).toBe(text);
});

describe('the table of runs', () => {
  test('says that there are none', () => {
    expect(formatRunTable([])).toBe('No subagents in this session.');
  });

  test('numbers them, the newest first, in columns that are as wide as their longest cell', () => {
    const records = [ended({runId: 'first', tools: 12}), ...Array.from({length: 9}, () => ended()), record()];
    const rows = formatRunTable(records).split('\n');
    expect(rows.length).toBe(11);
    expect(rows[0]).toBe(' 1  running  explore  look around  1 tool    1.2k tokens  id-1');
    expect(rows[10]).toBe('11  done     explore  look around  12 tools  1.2k tokens  first');
  });

  test('has the label in place of the description, and the worker behind the agent', () => {
    expect(formatRunTable([record({label: 'mine', worker: 'build-2'})])).toContain('  explore @build-2  mine  ');
  });

  test.each([
    [' a\n  b\x1b[31m ', '  a b␛[31m  '],
    ['x'.repeat(60), `  ${'x'.repeat(60)}  `],
    ['x'.repeat(61), `  ${'x'.repeat(59)}…  `],
  ])('shows the description %j in one line of 60 characters at most', (description, cell) => {
    expect(formatRunTable([record({description})])).toContain(`explore${cell}`);
  });
});

describe('the list of runs for people', () => {
  test('has in a row of 79 characters what a run costs, how long ago it ended, and its last tool', () => {
    const cut = `${'x'.repeat(12)}…`;
    for (const [description, shown] of [
      ['x'.repeat(13), 'x'.repeat(13)],
      ['x'.repeat(14), cut],
    ] as const) {
      const list = formatRunList([ended({lastTool: 'greps', description})], NOW);
      expect(list).toBe(`1  done  explore  ${shown}  1 tool  1.2k tokens  cost n/a  3.0s ago  greps`);
      expect(list.length).toBe(79);
    }
  });

  test('has two lines for each run where fewer than 12 characters of a description would fit', () => {
    const countLines = (lastTool: string) => {
      const long = {description: 'x'.repeat(30)};
      return formatRunList([ended(long), ended({...long, lastTool})], NOW).split('\n').length;
    };
    expect([countLines('notebo'), countLines('noteboo')]).toEqual([2, 4]);
    const records = [ended({description: 'x'.repeat(29)}), record({lastTool: 'read_file', lastAt: NOW + 5_000})];
    expect(formatRunList(records, NOW).split('\n')).toEqual([
      '1  running  explore  look around',
      '   1 tool · 1.2k tokens · cost n/a · idle 0.0s · read_file',
      `2  done     explore  ${'x'.repeat(27)}…`,
      '   1 tool · 1.2k tokens · cost n/a · 3.0s ago',
    ]);
  });
});

describe('a run in two lines', () => {
  test('says what it does now, and where its transcript is', () => {
    expect(describeRun(record({lastTool: 'grep', description: 'x'.repeat(70)}), NOW)).toBe(
      `running: [explore] ${'x'.repeat(59)}… · 1 tool · last grep · idle 3.0s\nRun: id-1 · transcript /t/session.jsonl`,
    );
  });

  test.each([
    [3_599_000, '59m59s'],
    [3_600_000, '1 h'],
    [47 * 3_600_000, '47 h'],
    [102 * 24 * 3_600_000, '102 days'],
  ])('says in one unit that it ended long ago: %i ms', (ms, age) => {
    expect(describeRun(ended({lastAt: NOW - ms}), NOW)).toContain(`ended ${age} ago`);
  });

  test('says when it ended, and what a command printed so far', () => {
    expect(describeRun(ended({tools: 0, output: '/o/call'}), NOW)).toBe(
      'done: [explore] look around · 0 tools · ended 3.0s ago\nRun: id-1 · transcript /t/session.jsonl\nOutput so far: /o/call',
    );
    expect(describeRun(record({output: '/o/call', lastLines: 'ok 1\nok 2'}), NOW)).toMatch(/\/o\/call\nok 1\nok 2$/);
  });
});
