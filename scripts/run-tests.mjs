// Runs vitest and counts. Failed test files run once more, each in its own process, to help find the cause. A test that
// passes in only one of the two runs is called flaky, and counts as failed. The end of the log names each failure.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {readIfThere} from './checkout.mjs';

/** Maximum number of failed files that run again. When more files fail, bad luck is not the cause. */
const MAX_FILES_AGAIN = 10;

/** @typedef {import('./test-report.mjs').FileReport} FileReport */
/** @typedef {import('./test-report.mjs').TestReport} TestReport */
/** @typedef {{files: FileReport[], errors: string[]}} Report */
/** @typedef {'passed' | 'failed' | 'skipped' | 'flaky'} Outcome */

/**
 * @param {(...args: string[]) => Promise<boolean>} vitest runs vitest with arguments, and returns whether it succeeded
 * @param {{args: readonly string[], onCi: boolean}} options args: files and options of vitest
 * @returns {Promise<{passed: number, failed: number, lines: string[]}>} `failed` includes flaky tests, and on CI
 *   skipped ones. Each has a line:
 *   `failed: FILE > TEST (reason)`, `flaky: FILE > TEST (reason)`, `skipped on CI: FILE > TEST`
 */
export async function runTests(vitest, {args, onCi}) {
  const first = await run(vitest, args);
  const failing = first.files.filter(hasFailed);
  // Options may select only some tests of the files.
  const areWhole = args.every((arg) => !arg.startsWith('-'));
  const areFew = failing.filter(({wasLost}) => !wasLost).length <= MAX_FILES_AGAIN;
  const again =
    areFew && areWhole && failing.length > 0
      ? await run(vitest, ['--isolate', ...failing.map(({file}) => file)])
      : {files: [], errors: []};
  let passed = 0;
  /** @type {string[]} */
  const lines = [];
  for (const report of first.files) {
    const second = again.files.find(({file}) => file === report.file);
    for (const {name, outcome, reason} of judgeFile(report, second)) {
      const line = `${name}${reason === undefined ? '' : ` (${reason})`}`;
      if (outcome === 'passed') passed += 1;
      // CI has everything that the tests need, so a test that is skipped there never runs.
      else if (outcome !== 'skipped') lines.push(`${outcome}: ${line}`);
      else if (onCi && areWhole) lines.push(`skipped on CI: ${line}`);
    }
  }
  for (const reason of [...first.errors, ...again.errors]) lines.push(`failed: outside of a test (${reason})`);
  return {passed, failed: lines.length, lines};
}

/**
 * @param {(...args: string[]) => Promise<boolean>} vitest
 * @param {readonly string[]} args
 * @returns {Promise<Report>}
 */
async function run(vitest, args) {
  const {ended: succeeded, report = {files: [], errors: ['vitest left no report']}} = await runReported(vitest, args);
  if (succeeded || report.errors.length > 0 || report.files.some(hasFailed)) return report;
  return {...report, errors: ['vitest has printed why']};
}

/**
 * Runs vitest with the reporter of `test-report.mjs`.
 * @template T
 * @param {(...args: string[]) => Promise<T>} vitest
 * @param {readonly string[]} args
 * @returns {Promise<{ended: T, report: Report | undefined}>} `report`: undefined when vitest left none
 */
export async function runReported(vitest, args) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-report-'));
  const output = path.join(folder, 'report.json');
  const reporter = fileURLToPath(new URL('test-report.mjs', import.meta.url));
  try {
    const ended = await vitest('--reporter=default', `--reporter=${reporter}`, `--outputFile=${output}`, ...args);
    const text = readIfThere(output);
    return {ended, report: text === undefined ? undefined : JSON.parse(text)};
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

/** @param {FileReport} file */
function hasFailed({tests, errors}) {
  return errors.length > 0 || tests.some(({state}) => state === 'failed');
}

/**
 * Compares the two runs of a file. Tests are paired by name.
 * @param {FileReport} first
 * @param {FileReport | undefined} second undefined when the file did not run again
 * @returns {{name: string, outcome: Outcome, reason?: string}[]} one for each test, and one for each error outside of
 *   tests
 */
function judgeFile(first, second) {
  const left = [...(second?.tests ?? [])];
  const takeSecond = (/** @type {string} */ name) => {
    const index = left.findIndex((test) => test.name === name);
    return index === -1 ? undefined : left.splice(index, 1)[0];
  };
  const pairs = first.tests.map((test) => judge(test.name, test, takeSecond(test.name)));
  const onlySecond = left.map((test) => judge(test.name, undefined, test));
  const tests = [...pairs, ...onlySecond].map((each) => ({...each, name: `${first.file} > ${each.name}`}));
  const errors = (second?.errors.length ? second : first).errors;
  const isFlaky = second !== undefined && (first.errors.length === 0 || second.errors.length === 0);
  const outside = errors.map((reason) => ({
    name: first.file,
    outcome: /** @type {Outcome} */ (isFlaky ? 'flaky' : 'failed'),
    reason: isFlaky ? `${first.errors.length > 0 ? 'first' : 'second'}: ${reason}` : reason,
  }));
  // Tests of a file with other errors may be skipped because of them.
  return [...tests.filter(({outcome}) => outcome !== 'skipped' || errors.length === 0), ...outside];
}

/**
 * Combines the two results of one test. A test that failed once and was skipped once, because a hook failed, has
 * failed.
 * @param {string} name
 * @param {TestReport | undefined} first undefined when the file could not be loaded
 * @param {TestReport | undefined} second
 * @returns {{name: string, outcome: Outcome, reason?: string}}
 */
function judge(name, first, second) {
  const states = [first?.state, second?.state];
  if (!states.includes('failed')) return {name, outcome: states.includes('passed') ? 'passed' : 'skipped'};
  const failed =
    first?.state === 'failed' ? {at: 'first', reason: first.reason} : {at: 'second', reason: second?.reason};
  if (!states.includes('passed')) return {name, outcome: 'failed', reason: failed.reason};
  return {name, outcome: 'flaky', reason: `${failed.at}: ${failed.reason}`};
}
