/** Each fault of a model server in print mode, in the REPL's session, in a subagent that is awaited, and in the background. */
import {describe, expect, it} from 'vitest';
import {buildOnce} from '../../support/run-cli.ts';
import {type ColumnName, NEXT, runPrintColumn, runSessionColumn, type Seen} from './columns.ts';
import {ANSWER, FAULTS, type Fault} from './table.ts';

const EXIT_CODES = {answered: 0, failed: 1, 'timed out': 3} as const;
const COLUMNS: readonly ColumnName[] = ['print', 'REPL', 'foreground', 'background'];

describe('each fault of a model server', () => {
  const seen = new Map<ColumnName, Map<string, Seen>>();

  it('is met once in each place, in less than a minute', async () => {
    await buildOnce();
    const [even, odd] = [0, 1].map((rest) => FAULTS.filter((_, index) => index % 2 === rest));
    const columns = COLUMNS.map(async (name) => {
      if (name !== 'print') return seen.set(name, await runSessionColumn(name));
      const lanes = await Promise.all([runPrintColumn(even!), runPrintColumn(odd!)]);
      return seen.set(name, new Map(lanes.flatMap((lane) => [...lane])));
    });
    await Promise.all(columns);
    for (const name of COLUMNS) expect(seen.get(name)?.size).toBe(FAULTS.length);
  }, 120_000);

  const cells = FAULTS.flatMap((fault) => COLUMNS.map((column) => ({name: fault.name, column, fault})));
  it.each(cells)('$name, $column: words, requests, end, and the next turn works', ({fault, column}) => {
    check(fault, column, seen.get(column)!.get(fault.name)!);
  });
});

function check(fault: Fault, column: ColumnName, cell: Seen): void {
  if (fault.words) expect(cell.words).toMatch(fault.words);
  else expect(cell.words).not.toContain('retrying');
  if (fault.ends === 'answered') expect(cell.words).toContain(ANSWER);
  else expect(cell.words).not.toContain(ANSWER);
  expect(cell.requests).toBeGreaterThanOrEqual(fault.requests[0]);
  expect(cell.requests).toBeLessThanOrEqual(fault.requests[1]);
  if (column === 'print') expect(cell.exitCode).toBe(EXIT_CODES[fault.ends]);
  expect(cell.next).toBe(NEXT);
  expect(cell.seconds).toBeLessThan(30);
}
