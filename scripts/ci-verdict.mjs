// Judges the logs of the test runs in .ci/run, one for each `npm run …`, and prints the result as the end of its log.
// CI machines are shared and noisy, so one flaky test per run is allowed, unless tests/flaky.md already names it.
import {readFileSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const FAILURE = /^(failed|flaky|skipped on CI): (.*)$/;
const COUNTS = /^Tests: (\d+) passed, (\d+) failed$/;

/**
 * @param {readonly string[]} logs whole output of each run
 * @param {string} known text of tests/flaky.md, whose tables name a test in their first column
 * @returns {{lines: string[], passed: number, failed: number}} lines: the failures, and why a flaky test is not allowed
 */
export function judgeLogs(logs, known) {
  const lines = logs.flatMap((log) => log.split('\n').filter((line) => FAILURE.test(line)));
  const counts = logs.map((log) => COUNTS.exec(log.split('\n').findLast((line) => COUNTS.test(line)) ?? '') ?? []);
  const unfinished = counts.filter((found) => found.length === 0).length;
  const sum = (/** @type {number} */ column) => counts.reduce((total, found) => total + Number(found[column] ?? 0), 0);
  const flaky = lines.filter((line) => line.startsWith('flaky: '));
  const refusal = refuse(flaky, known);
  const forgiven = refusal === undefined ? flaky.length : 0;
  if (refusal !== undefined) lines.push(refusal);
  if (unfinished > 0) lines.push(`failed: ${unfinished} of ${logs.length} test runs ended without a count`);
  return {lines, passed: sum(1) + forgiven, failed: sum(2) - forgiven + unfinished};
}

/**
 * @param {readonly string[]} flaky
 * @param {string} known
 * @returns {string | undefined} why the flaky tests are not allowed
 */
function refuse(flaky, known) {
  if (flaky.length > 1) return `${flaky.length} flaky tests in one run: at most one is let pass`;
  const entries = known.split('\n').map((line) => line.split('|')[1]?.trim().replaceAll('`', ''));
  const again = flaky.find((line) => entries.includes(getName(line)));
  return again && `it stands in tests/flaky.md already: ${getName(again)}`;
}

/** @param {string} line in the form `flaky: FILE > TEST (first: reason)` */
function getName(line) {
  return line.replace(/^flaky: /, '').replace(/ \((?:first|second): .*$/, '');
}

const self = fileURLToPath(import.meta.url);
if (realpathSync(process.argv[1]) === self) {
  const file = path.join(path.dirname(path.dirname(self)), 'tests', 'flaky.md');
  const logs = process.argv.slice(2).map((log) => readFileSync(log, 'utf8'));
  const {lines, passed, failed} = judgeLogs(logs, readFileSync(file, 'utf8'));
  process.stdout.write(`${['', ...lines, '', `Tests: ${passed} passed, ${failed} failed`].join('\n')}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
