// npm run flakes -- --rounds 10 [--seed N] [--load 2]: finds tests that fail sometimes. It builds dist/, then runs all
// tests in rounds, in random order, beside busy processes. A new start continues an interrupted run with the next
// round.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {runChild} from './child.mjs';
import {formatFailures, runRounds} from './random-rounds.mjs';
import {orExit, printLine, setUp} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const {values} = parseArgs({
  options: {rounds: {type: 'string', default: '10'}, seed: {type: 'string'}, load: {type: 'string', default: '2'}},
});
const node = await orExit(() => setUp(root, {withTools: true}));
const vitest = (...args) =>
  runChild(node, [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args], {cwd: root});
const rounds = await runRounds(vitest, {
  rounds: Number(values.rounds),
  seed: values.seed === undefined ? undefined : Number(values.seed),
  load: Number(values.load),
  file: path.join(root, 'node_modules', '.cache', 'mini-cc-flakes.json'),
  print: printLine,
});
if (rounds === undefined) {
  printLine('interrupted: the next start repeats this round');
  process.exitCode = 130;
} else {
  for (const line of formatFailures(rounds)) process.stdout.write(`${line}\n`);
  const failed = rounds.filter((round) => round.failed.length > 0);
  process.stdout.write(`\nRounds: ${rounds.length - failed.length} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
