/** The README shows what was measured, and nothing else. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {createPlot, formatTable, replaceTable} from '../../bench/compared/report.ts';
import {getRatio, meetsGoal, type Results, type Row} from '../../bench/compared/results.ts';
import {root} from '../support/run-cli.ts';

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

const row = (over: Partial<Row>): Row => ({
  ...{id: 'a', what: 'a', unit: 'ms', digits: 0, goal: {atMost: 10}, values: {}, failed: {}},
  ...over,
});

function given(rows: readonly Row[]): Results {
  const machine = {cpu: 'cpu', cores: 2, memoryGb: 8, system: 'Linux', node: '24.0.0', loadAverage: 0.1};
  return {date: '2026-11-22T00:00:00Z', machine, versions: {'mini-cc': '0.1.0', codex: '1.0.0', pi: '2.0.0'}, rows};
}

test('the table and the plot of the README are made from the results that are kept', () => {
  const results = JSON.parse(read('bench/results/table.json')) as Results;
  const readme = read('README.md');
  expect(readme).toBe(replaceTable(readme, results));
  expect(read('docs/bench.svg')).toBe(createPlot(results));
});

test('the table says of each goal that is not met that it is not', () => {
  const missed = row({what: 'missed', values: {'mini-cc': [20], codex: [30], pi: [40]}});
  const met = row({what: 'met', values: {'mini-cc': [8], codex: [8]}, failed: {pi: 'failed: no answer came'}});
  const table = formatTable(given([missed, met, row({what: 'open', goal: {atMost: 1, of: 'codex'}})]));
  expect(table).toContain('| missed | 20 ms | 30 ms | 40 ms | 0.67 × Codex | ≤ 10 ms | **not met** |');
  expect(table).toContain('| met | 8 ms | 8 ms | *failed: no answer came* | 1.00 × Codex | ≤ 10 ms | met |');
  expect(table).toContain('| open | *not measured* | *not measured* | *not measured* |  | ≤ 1 × Codex | not judged |');
  expect(table).toContain('**Of 2 goals, 1 are not met.**');
});

test('a goal may be a share of the best peer', () => {
  const of = (own: number) => row({values: {'mini-cc': [own], codex: [30], pi: [20]}, goal: {atMost: 0.5, of: 'best'}});
  expect([meetsGoal(of(10)), meetsGoal(of(11))]).toEqual([true, false]);
  expect(formatTable(given([of(10)]))).toContain('| 0.50 × Pi | ≤ 0.5 × best peer | met |');
  expect(meetsGoal(row({values: {'mini-cc': [1]}, goal: {atMost: 0.5, of: 'best'}}))).toBeUndefined();
});

test('a ratio is that of the medians, with the least and the most of the rounds', () => {
  const of = row({values: {'mini-cc': [10, 20, 30], codex: [10, 40, 20]}, goal: {atMost: 1, of: 'codex'}});
  expect(getRatio(of, 'codex')).toEqual({min: 0.5, median: 1, max: 1.5});
  expect(meetsGoal(of)).toBe(true);
  expect(meetsGoal({...of, goal: {atMost: 0.9, of: 'codex'}})).toBe(false);
});
