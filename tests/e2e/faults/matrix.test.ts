/** Each fault of a model server in print mode, in the REPL's session, in a subagent that is awaited, and in the background. */
import {describe, expect, it} from 'vitest';
import {buildOnce} from '../../support/run-cli.ts';
import {type ColumnName, NEXT, runPrintColumn, runSessionColumn, type Seen} from './columns.ts';
import {ANSWER, FALLS_BACK, FAULTS, type Fault} from './table.ts';

const EXIT_CODES = {answered: 0, failed: 1, 'timed out': 3, 'at its limit': 3} as const;
const COLUMNS: readonly ColumnName[] = ['print', 'REPL', 'foreground', 'background'];

describe('each fault of a model server', () => {
  let met: Promise<Map<ColumnName, Map<string, Seen>>> | undefined;
  const cells = FAULTS.flatMap((fault) => COLUMNS.map((column) => ({name: fault.name, column, fault})));

  it.each(cells)('$name, $column: words, requests, end, and the next turn works', async ({fault, column}) => {
    // The first test, whichever it is, meets all faults at once.
    met ??= meetFaults();
    check(fault, column, (await met).get(column)?.get(fault.name));
  });
});

/** Meets each fault once in each place. */
async function meetFaults(): Promise<Map<ColumnName, Map<string, Seen>>> {
  await buildOnce();
  const [even, odd] = [0, 1].map((rest) => FAULTS.filter((_, index) => index % 2 === rest));
  const columns = COLUMNS.map(async (name): Promise<[ColumnName, Map<string, Seen>]> => {
    if (name !== 'print') return [name, await runSessionColumn(name)];
    const lanes = await Promise.all([runPrintColumn(even!), runPrintColumn(odd!)]);
    return [name, new Map(lanes.flatMap((lane) => [...lane]))];
  });
  return new Map(await Promise.all(columns));
}

it('stands in the documentation', async () => {
  const rows = FAULTS.map(
    ({name, does, ends}) => `| ${name} | ${does} | ${EXIT_CODES[ends]} | ${FALLS_BACK.has(name) ? 'answers' : ''} |`,
  );
  // `npm test -- -u` writes it.
  await expect(`${INTRODUCTION}\n${rows.join('\n')}\n`).toMatchFileSnapshot('../../../docs/faults.md');
});

const INTRODUCTION = `# When the model server fails

What mini-cc does when a server refuses, breaks off, or sends something odd. The same holds in the REPL, in print mode and for
subagents, in the foreground and in the background; after each, the next turn works. A test makes each of these faults and
this table.

mini-cc asks again for ${'`retry.maxWaitSeconds`'} in all (120 in print mode, 300 in the REPL), with growing waits, never sooner than
the server's ${'`Retry-After`'} says, and shows each wait: ${'`retrying in 4s (429), attempt 2`'}. Esc ends a wait. A server that asks for a
longer wait than is left ends the call at once, and the error names that wait. Without a byte for ${'`limits.idleSeconds`'} (120), or
with pings alone for ${'`limits.thinkingSeconds`'} (600), the run ends with what it has. A reply that has begun is broken when less
than 120 bytes of it come in two minutes.

With a fallback (${'`fallback`'}, [models](models.md)) a model is tried for a quarter of that time; then the next one answers, with its
own key and one line for the user. Errors of billing, and requests that are wrong, end the call as they do without one.

| the server's answer | mini-cc | exit code of ${'`-p`'} | a fallback |
|---|---|---|---|`;

function check(fault: Fault, column: ColumnName, cell: Seen | undefined): void {
  if (cell === undefined) throw new Error('the fault was not met');
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
