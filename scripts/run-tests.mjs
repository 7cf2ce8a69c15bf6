// Runs vitest and counts. On CI, whose machines may stop for seconds, the test files that failed run once more, each in a process
// of its own. The end, where a long log is read first, names the tests that failed, and those that passed at the second try.
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

/** With more files than this that failed it was no bad luck: they do not run again. */
const MAX_FILES_AGAIN = 10;

/** @typedef {import('./test-report.mjs').FileReport} FileReport */
/** @typedef {import('./test-report.mjs').TestReport} TestReport */

/**
 * @param {(...args: string[]) => Promise<boolean>} vitest runs vitest with arguments, and says whether it succeeded
 * @param {{args: readonly string[], onCi: boolean}} options args: files and options of vitest
 * @returns {Promise<{passed: number, failed: number, lines: string[]}>} a test that passed at the second try has passed once; on
 *   CI a test that was skipped has failed; lines: the names
 */
export async function runTests(vitest, {args, onCi}) {
  const first = await run(vitest, args);
  const failing = first.files.filter(hasFailed);
  // Options may have picked some tests of the files.
  const areWhole = args.every((arg) => !arg.startsWith('-'));
  const isBadLuck = failing.filter(({wasLost}) => !wasLost).length <= MAX_FILES_AGAIN;
  const mayRunAgain = onCi && isBadLuck && areWhole;
  const again =
    mayRunAgain && failing.length > 0
      ? await run(vitest, ['--isolate', ...failing.map(({file}) => file)])
      : {files: [], errors: []};
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const failed = [];
  let passed = 0;
  for (const file of first.files) {
    const second = again.files.find((each) => each.file === file.file);
    const last = second === undefined ? file : combine(file, second);
    lines.push(...nameSecondTries(file, last));
    passed += last.tests.filter(({state}) => state === 'passed').length;
    for (const {name, state, reason} of last.tests) {
      if (state === 'failed') failed.push(`failed: ${file.file} > ${name} (${reason})`);
    }
    for (const reason of last.errors) failed.push(`failed: ${file.file} (${reason})`);
    // CI has all that tests need: a test that is skipped there is never run.
    const skipped = onCi && areWhole && !hasFailed(last) ? last.tests : [];
    for (const {name, state} of skipped) if (state === 'skipped') failed.push(`skipped on CI: ${file.file} > ${name}`);
  }
  for (const reason of [...first.errors, ...again.errors]) failed.push(`failed: outside of a test (${reason})`);
  return {passed, failed: failed.length, lines: [...lines, ...failed]};
}

/**
 * @param {(...args: string[]) => Promise<boolean>} vitest
 * @param {readonly string[]} args
 * @returns {Promise<{files: FileReport[], errors: string[]}>}
 */
async function run(vitest, args) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-report-'));
  const output = path.join(folder, 'report.json');
  const reporter = fileURLToPath(new URL('test-report.mjs', import.meta.url));
  try {
    const succeeded = await vitest('--reporter=default', `--reporter=${reporter}`, `--outputFile=${output}`, ...args);
    const report = readReport(output);
    if (succeeded || report.errors.length > 0 || report.files.some(hasFailed)) return report;
    return {...report, errors: ['vitest has printed why']};
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

/** @param {string} output */
function readReport(output) {
  try {
    return JSON.parse(readFileSync(output, 'utf8'));
  } catch (error) {
    return {files: [], errors: [`vitest left no report: ${/** @type {Error} */ (error).message}`]};
  }
}

/** @param {FileReport} file */
function hasFailed({tests, errors}) {
  return errors.length > 0 || tests.some(({state}) => state === 'failed');
}

/**
 * A test that passed at one of the tries has passed. One that failed, and was skipped at the other since a hook failed, has failed.
 * @param {FileReport} first
 * @param {FileReport} second
 * @returns {FileReport}
 */
function combine(first, second) {
  const errors = first.errors.length > 0 ? second.errors : [];
  // A file that could not be loaded has no tests.
  if (first.tests.length === 0) return {...second, errors};
  const order = ['passed', 'failed', 'skipped'];
  const better = (/** @type {TestReport} */ test, /** @type {TestReport | undefined} */ other) =>
    other !== undefined && order.indexOf(other.state) < order.indexOf(test.state) ? other : test;
  return {...first, tests: first.tests.map((test, index) => better(test, second.tests[index])), errors};
}

/** @param {FileReport} first @param {FileReport} last */
function nameSecondTries(first, last) {
  const tests = first.tests
    .filter(({state}, index) => state === 'failed' && last.tests[index]?.state === 'passed')
    .map(({name, reason}) => [`${first.file} > ${name}`, reason]);
  const errors = last.errors.length === 0 ? first.errors.map((reason) => [first.file, reason]) : [];
  return [...tests, ...errors].map(([name, reason]) => `passed at the second try: ${name} (first: ${reason})`);
}
