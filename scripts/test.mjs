// npm test: sets up as npm start does, then lint, types, build and tests. Words after `--` go to vitest, which then runs alone.
// The last line counts: each step before the tests as one test.
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
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
  await step('lint', () => runsWell('@biomejs/biome/bin/biome', 'check', '.'));
  await step('types', () => runsWell('typescript/bin/tsc', '--noEmit'));
  await step('build', () => builds());
}
await runTests();
process.stdout.write(`\nTests: ${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function step(name, work) {
  const began = performance.now();
  const passed = await work();
  count(passed ? 'passed' : 'failed', 1);
  printLine(`${name} ${passed ? 'passed' : 'failed'} (${((performance.now() - began) / 1000).toFixed(1)}s)`);
}

function count(outcome, by) {
  counts[outcome] += by;
}

/** Runs the program of a package on the Node that the tests run on. */
async function runsWell(program, ...args) {
  const file = path.join(root, 'node_modules', ...program.split('/'));
  const {code, signal} = await runChild(node, [file, ...args], {cwd: root});
  // Ctrl+C, or CI that stops us: the next step is not wanted either.
  if (signal !== null) process.kill(process.pid, signal);
  return code === 0;
}

async function builds() {
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
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const passed = await runsWell('vitest/vitest.mjs', 'run', ...reporters, ...vitestArgs);
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
  // Errors outside of tests: vitest names them above.
  if (!passed && counts.failed === before) count('failed', 1);
}

/** On CI everything that tests need is there, so a skipped test is one that nobody runs. */
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
