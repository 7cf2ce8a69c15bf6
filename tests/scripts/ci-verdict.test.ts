import {expect, test} from 'vitest';
import {judgeLogs} from '../../scripts/ci-verdict.mjs';

const log = (passed: number, failed: number, ...lines: string[]) =>
  ['some output', ...lines, '', `Tests: ${passed} passed, ${failed} failed`, ''].join('\n');
const FLAKY = 'flaky: tests/ui/app.test.tsx > draws (a frame) (first: it was late (by 3 ms))';
const TABLE = '| test (`FILE > NAME`) | date | cause |\n|---|---|---|\n';

test('runs without failures are green, and their counts are added up', () => {
  expect(judgeLogs([log(5, 0), log(7, 0)], TABLE)).toEqual({lines: [], passed: 12, failed: 0});
});

test('one flaky test is named and let pass', () => {
  expect(judgeLogs([log(5, 1, FLAKY), log(7, 0)], TABLE)).toEqual({lines: [FLAKY], passed: 13, failed: 0});
});

test('two flaky tests are red, in one run or in two', () => {
  const refusal = '2 flaky tests in one run: at most one is let pass';
  for (const logs of [[log(5, 2, FLAKY, 'flaky: b.test.ts (first: bad luck)')], [log(5, 1, FLAKY), log(5, 1, FLAKY)]]) {
    const {lines, failed} = judgeLogs(logs, TABLE);
    expect([lines.at(-1), failed]).toEqual([refusal, 2]);
  }
});

test('a flaky test that tests/flaky.md names already is red', () => {
  const known = `${TABLE}| \`tests/ui/app.test.tsx > draws (a frame)\` | 2026-11-22 | a timer |\n`;
  expect(judgeLogs([log(5, 1, FLAKY)], known)).toEqual({
    lines: [FLAKY, 'it stands in tests/flaky.md already: tests/ui/app.test.tsx > draws (a frame)'],
    passed: 5,
    failed: 1,
  });
  expect(judgeLogs([log(5, 1, FLAKY)], known.replace('draws', 'draws again')).failed).toBe(0);
});

test('a failed test beside a flaky one stays red', () => {
  const failed = 'failed: tests/a.test.ts > adds (expected 1 to be 2)';
  expect(judgeLogs([log(5, 2, failed, FLAKY)], TABLE)).toEqual({lines: [failed, FLAKY], passed: 6, failed: 1});
});

test('a run that ended without a count is red', () => {
  expect(judgeLogs([log(5, 0), 'npm could not be started'], TABLE)).toEqual({
    lines: ['failed: 1 of 2 test runs ended without a count'],
    passed: 5,
    failed: 1,
  });
});
