/** What the checks of a project say, before and after a change, and how it is told. */
import {describe, expect, test} from 'vitest';
import type {ToolResult} from '../../../src/core/contract/results.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {
  type CheckResult,
  compareChecks,
  formatChecks,
  formatFailures,
  runChecks,
} from '../../../src/core/verification/check-run.ts';
import {getNewFailures} from '../../../src/core/verification/verifier.ts';
import {runFixture, tool} from '../run-fixture.ts';
import {ScriptedModel} from '../scripted-model.ts';

const exits = (exitCode: number, output = '') =>
  textResult(output, {facts: {exitCode}, ...(exitCode > 0 && {isError: true})});

describe('a check', () => {
  async function check(result: ToolResult, abort = false) {
    const {run, abort: controller} = runFixture(new ScriptedModel([]), [
      tool('bash', () => {
        if (abort) controller.abort();
        return result;
      }),
    ]);
    const [done] = await runChecks(['npm test'], run, run.signal);
    return done;
  }

  test.each<[ToolResult, CheckResult['outcome']]>([
    [exits(0, 'ok'), 'passed'],
    [exits(1, 'bad'), 'failed'],
    [exits(126), 'not run'],
    [exits(127), 'not run'],
    [{content: 'too late', isError: true, facts: {timedOut: 1200}}, 'failed'],
    [{content: 'refused', isError: true}, 'not run'],
  ])('whose command ends as %j has the outcome %s', async (result, outcome) => {
    expect(await check(result)).toMatchObject({
      command: 'npm test',
      outcome,
      output: expect.stringContaining(String(result.content)),
    });
  });

  test('that was cut off says nothing', async () => {
    expect(await check(exits(1), true)).toMatchObject({outcome: 'not run'});
  });
});

const passed = (command = 'c'): CheckResult => ({command, outcome: 'passed', output: ''});
const failed = (output: string, command = 'c'): CheckResult => ({command, outcome: 'failed', output});
const notRun = (output: string): CheckResult => ({command: 'c', outcome: 'not run', output});

describe('after a change, a check', () => {
  test.each<[string, CheckResult, CheckResult, boolean, readonly string[]]>([
    ['that passes has no news', failed('a'), passed(), false, []],
    ['that was not run has no news', failed('a'), notRun('b'), false, []],
    ['that fails as before is old', failed('a.ts:3 bad'), failed('a.ts:3 bad'), true, []],
    [
      'is old where only places, times, colours and blank lines differ',
      failed('a.ts:3:5 bad in 1.5 s\ndone'),
      failed('\u001b[31ma.ts:14:1 bad in 20 ms\u001b[0m\n\n  done '),
      true,
      [],
    ],
    [
      'that fails in one more place has news',
      failed('a.ts:3 bad'),
      failed('a.ts:3 bad\na.ts:9 bad'),
      false,
      ['a.ts:9 bad'],
    ],
    ['that fails otherwise has news', failed('one bad'), failed('two bad'), false, ['two bad']],
    ['that passed before has only news', passed(), failed('a\nb'), false, ['a', 'b']],
    ['that could not run before has only news', notRun('a'), failed('a'), false, ['a']],
  ])('%s', (_, before, after, isOld, news) => {
    const compared = compareChecks([failed('other', 'other'), before], [after]);
    expect(compared).toEqual([{...after, isOld, news}]);
    expect(getNewFailures(compared).length).toBe(after.outcome === 'failed' && !isOld ? 1 : 0);
  });

  test('that was not there before has only news', () => {
    expect(compareChecks([], [failed('a')])).toMatchObject([{isOld: false, news: ['a']}]);
  });
});

describe('of the checks that fail by its change, an agent reads', () => {
  const compared = (output: string) => compareChecks([], [failed(output)]);

  test('the command and its output, and the files that it names', () => {
    expect(formatFailures(compared('bad'), [])).toMatch(/\n\n\$ c\nbad$/);
    expect(formatFailures(compared('bad'), [])).not.toContain('It names');
    expect(formatFailures(compared('bad'), ['a.ts', 'b.ts'])).toContain(' It names a.ts, b.ts. ');
  });

  test('the last 8000 characters', () => {
    const text = `${'x'.repeat(4_000)}${'y'.repeat(4_000)}`;
    expect(formatFailures(compared(text), [])).toContain(`\n${text}`);
    expect(formatFailures(compared(`z${text}`), [])).toContain(`\n…${text}`);
  });
});

test.each<[readonly CheckResult[], CheckResult, string]>([
  [[], passed(), '`c` passes'],
  [[], notRun('\nrefused\nbecause'), '`c` was not run: refused'],
  [[failed('a')], failed('a'), '`c` fails as it did before'],
  [[failed('a')], failed('a\nb\nan error\nanother error'), '`c` FAILS: an error'],
  [[], failed('a\nb'), '`c` FAILS: a'],
  [[], failed('x'.repeat(200)), `\`c\` FAILS: ${'x'.repeat(200)}`],
  [[], failed('x'.repeat(201)), `\`c\` FAILS: ${'x'.repeat(199)}…`],
])('the line about a check, before %j and now %j', (before, after, line) => {
  expect(formatChecks(compareChecks(before, [after]))).toEqual([`verification: ${line}`]);
});
