// npm test: sets up as npm start does, then runs lint, types, build and tests. With arguments after `--`, only vitest runs,
// with these arguments. The last line counts the tests; each step before them counts as one test.
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {SetupError} from './checkout.mjs';
import {runChild} from './child.mjs';
import {ensureBuilt, ensurePackages, orExit, printLine} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const vitestArgs = process.argv.slice(2);
const node = await orExit(() => ensurePackages(root));
const counts = {passed: 0, failed: 0};

if (vitestArgs.length === 0) {
  nameMissingPrograms();
  await step('lint', () => runProgram('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'));
  await step('types', () => runProgram('typescript/bin/tsc', '--noEmit'));
  await step('build', () => build());
}
await runTests();
process.stdout.write(`\nTests: ${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/** Tests that need them are skipped, or fail on CI. */
function nameMissingPrograms() {
  const wanted = {bwrap: 'bubblewrap', tmux: 'tmux', git: 'git', ps: 'procps', curl: 'curl'};
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const isThere = (program) => folders.some((folder) => existsSync(path.join(folder, program)));
  const missing = Object.keys(wanted).filter((program) => !isThere(program));
  if (missing.length === 0) return;
  printLine(
    `some tests need programs that are missing here: apt-get install ${missing.map((program) => wanted[program]).join(' ')}`,
  );
}

async function step(name, work) {
  const began = performance.now();
  const passed = await work();
  count(passed ? 'passed' : 'failed', 1);
  printLine(`${name} ${passed ? 'passed' : 'failed'} (${((performance.now() - began) / 1000).toFixed(1)}s)`);
}

function count(outcome, by) {
  counts[outcome] += by;
}

/** Runs the program of a package on the Node that the tests run on. @returns whether it succeeded */
async function runProgram(program, ...args) {
  const file = path.join(root, 'node_modules', ...program.split('/'));
  const {code, signal} = await runChild(node, [file, ...args], {cwd: root});
  // Ctrl+C, or CI stops the tests: do not run the next step.
  if (signal !== null) process.kill(process.pid, signal);
  return code === 0;
}

async function build() {
  try {
    await ensureBuilt(root);
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    printLine(error.message);
    return false;
  }
}

async function runTests() {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-report-'));
  const report = path.join(folder, 'report.json');
  try {
    const summary = `--reporter=${path.join(root, 'scripts', 'test-summary.mjs')}`;
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, summary];
    const passed = await runProgram('vitest/vitest.mjs', 'run', ...reporters, ...vitestArgs);
    countReported(report, passed);
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

function countReported(report, passed) {
  const before = counts.failed;
  for (const file of readReport(report)) {
    const tests = file.assertionResults;
    const failed = tests.filter(({status}) => status === 'failed').length;
    count('passed', tests.filter(({status}) => status === 'passed').length);
    // A file that could not be loaded has failed without a failing test.
    count('failed', failed === 0 && file.status === 'failed' ? 1 : failed);
    countSkipped(tests);
  }
  // Errors outside of tests; vitest has printed them.
  if (!passed && counts.failed === before) count('failed', 1);
}

/** On CI a skipped test fails: CI has all that tests need, so a test that is skipped there is never run. */
function countSkipped(tests) {
  if (!process.env.CI || vitestArgs.length > 0) return;
  for (const {status, fullName} of tests) {
    if (status === 'passed' || status === 'failed') continue;
    printLine(`skipped on CI: ${fullName}`);
    count('failed', 1);
  }
}

function readReport(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch (error) {
    printLine(`vitest left no report (${error.message})`);
    return [];
  }
}
