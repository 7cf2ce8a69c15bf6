// npm test: sets up like npm start, then runs lint, types, build and tests. With arguments after `--`, only vitest
// runs, with these arguments. The last line counts the tests; each step before them counts as one test.
import {existsSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {SetupError} from './checkout.mjs';
import {runChild} from './child.mjs';
import {runTests} from './run-tests.mjs';
import {ensureBuilt, ensurePackages, orExit, printLine} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const vitestArgs = process.argv.slice(2);
const node = await orExit(() => ensurePackages(root, {withTools: true}));
const counts = {passed: 0, failed: 0};
/** @type {string[]} */
const failedSteps = [];

if (vitestArgs.length === 0) {
  nameMissingPrograms();
  await step('lint', () => runProgram('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'));
  await step('types', () => runProgram('typescript/bin/tsc', '--noEmit'));
  await step('build', () => build());
}
const vitest = (...args) => runProgram('vitest/vitest.mjs', 'run', ...args);
const tests = await runTests(vitest, {args: vitestArgs, onCi: Boolean(process.env.CI)});
count('passed', tests.passed);
count('failed', tests.failed);
for (const line of [...tests.lines, ...failedSteps]) process.stdout.write(`${line}\n`);
process.stdout.write(`\nTests: ${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/** Names missing programs. Tests that need them are skipped, or fail on CI. */
function nameMissingPrograms() {
  const wanted = {
    bwrap: 'bubblewrap',
    tmux: 'tmux',
    git: 'git',
    ps: 'procps',
    curl: 'curl',
    'redis-server': 'redis-server',
  };
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
  if (!passed) failedSteps.push(`failed: ${name}`);
  printLine(`${name} ${passed ? 'passed' : 'failed'} (${((performance.now() - began) / 1000).toFixed(1)}s)`);
}

function count(outcome, by) {
  counts[outcome] += by;
}

/**
 * Runs the program of a package on the Node that runs the tests.
 * @returns whether it succeeded
 */
async function runProgram(program, ...args) {
  const file = path.join(root, 'node_modules', ...program.split('/'));
  const {code, signal} = await runChild(node, [file, ...args], {cwd: root});
  // Ctrl+C or CI stops the tests, so the next step must not run.
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
