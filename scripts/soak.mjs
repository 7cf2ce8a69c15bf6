// npm run soak: runs the tests that accept larger numbers with large numbers, then all tests in random order under
// load, then a sample of mutants. It takes hours, and stops at the first step that fails.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {endLike, runChild} from './child.mjs';

const scripts = path.dirname(fileURLToPath(import.meta.url));

/** Test files, and the numbers that they read from the environment. */
const LONG_TESTS = {
  'tests/chaos/chaos.test.ts': {MINI_CC_CHAOS: '60'},
  'tests/chaos/late-kills.test.ts': {MINI_CC_LATE_KILLS: '200'},
  'tests/escape/escape.test.ts': {MINI_CC_ATTEMPTS: 'all'},
  'tests/escape/swapped-links.test.ts': {MINI_CC_RACES: '2000'},
  'tests/escape/random-commands.test.ts': {MINI_CC_HOSTILE: '5000'},
  'tests/e2e/kill-loop.test.ts': {MINI_CC_KILLS: '100'},
  'tests/e2e/kill-in-stream.test.ts': {MINI_CC_KILLS: '100'},
  'tests/e2e/spending.test.ts': {MINI_CC_CUTS: '100'},
  'tests/evals/statistics.test.ts': {MINI_CC_SUITES: '4000'},
  'tests/evals/coins.test.ts': {MINI_CC_COIN_SUITES: '25'},
  'tests/core/random-histories.test.ts': {MINI_CC_HISTORIES: '100000'},
  'tests/core/turn/compaction.test.ts': {MINI_CC_TURNS: '2000'},
  'tests/tools/files/any-content.test.ts': {MINI_CC_FILE_CASES: '4000'},
  'tests/core/permissions/shell/random-literals.test.ts': {MINI_CC_COMMANDS: '10000'},
  'tests/code-index/freshness.test.ts': {MINI_CC_INDEXED: '10000'},
  'tests/e2e/offline.test.ts': {MINI_CC_FILES: '20000'},
  'tests/offline-model/decide.test.ts': {MINI_CC_FILES: '20000', MINI_CC_PROMPTS: '2000'},
  'tests/e2e/resize-storm.test.ts': {MINI_CC_STORMS: '50'},
  'tests/ui/live-frame.test.ts': {MINI_CC_SIZES: '40'},
  'tests/ui/live-screen.test.ts': {MINI_CC_FRAMES: '2000'},
  'tests/outside/workers/chaos.test.ts': {MINI_CC_WORKER_CHAOS: '100', MINI_CC_OUTSIDE: '1'},
};
const ROUNDS = '3';
const SEED = '20';
const MUTANTS = '60';

/** @type {[script: string, args: string[], env?: Record<string, string>][]} */
const steps = [
  ['test.mjs', Object.keys(LONG_TESTS), Object.assign({}, ...Object.values(LONG_TESTS))],
  ['flakes.mjs', ['--rounds', ROUNDS]],
  ['mutants.mjs', ['--seed', SEED, '--sample', MUTANTS]],
];

for (const [script, args, env] of steps) {
  const end = await runChild(process.execPath, [path.join(scripts, script), ...args], {env: {...process.env, ...env}});
  endLike(end);
  if (end.code !== 0) break;
}
