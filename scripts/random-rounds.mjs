// Runs all tests in rounds, each in another random order and beside busy processes, to find tests that fail sometimes.
import {spawn} from 'node:child_process';
import {readIfThere, replaceFile} from './checkout.mjs';
import {runReported} from './run-tests.mjs';

/**
 * Distance between the seeds of two rounds. Vitest derives its order from the sines of the seed and the following
 * numbers, so seeds must be far apart.
 */
const SEEDS_APART = 1_000_003;
/**
 * Code of a busy process. It works in slices, so that it notices the end of its standard input, which also comes when
 * this process is killed.
 */
const BUSY =
  "process.stdin.resume().on('end', () => process.exit());" +
  'const work = () => { for (const end = performance.now() + 100; performance.now() < end; ); setImmediate(work); }; work();';

/** @typedef {{test: string, reason: string}} Failure */
/** @typedef {{seed: number, minutes: number, passed: number, failed: Failure[]}} Round */

/**
 * Runs the rounds that are not yet stored in `file`, and stores each. Completed rounds, or rounds with another seed,
 * start again.
 * @param {(...args: string[]) => Promise<{code: number | null, signal: NodeJS.Signals | null}>} vitest runs vitest with
 *   arguments
 * @param {{rounds: number, seed?: number | undefined, load: number, file: string, print: (line: string) => void}} options
 *   load: number of busy processes; seed: default is the stored seed, or a new one
 * @returns {Promise<Round[] | undefined>} undefined when a round was interrupted, which is then not stored
 */
export async function runRounds(vitest, {rounds, seed, load, file, print}) {
  const kept = readKept(file);
  const goesOn = kept !== undefined && kept.rounds.length < rounds && (seed ?? kept.seed) === kept.seed;
  const series = goesOn ? kept : {seed: seed ?? Date.now() % SEEDS_APART, rounds: []};
  while (series.rounds.length < rounds) {
    const number = series.rounds.length + 1;
    const ofRound = series.seed + number * SEEDS_APART;
    print(`round ${number} of ${rounds}: --seed ${series.seed}, in vitest --sequence.seed=${ofRound}, load ${load}`);
    const stopLoad = startLoad(load);
    const round = await runRound(vitest, ofRound).finally(stopLoad);
    if (round === undefined) return undefined;
    series.rounds.push(round);
    replaceFile(file, JSON.stringify(series, null, 2));
    print(`round ${number}: ${round.passed} passed, ${round.failed.length} failed, ${round.minutes} minutes`);
  }
  return series.rounds;
}

/**
 * @param {readonly Round[]} rounds
 * @returns {string[]} for each failed test a line with the number of rounds, and a line for each reason; most rounds
 *   first
 */
export function formatFailures(rounds) {
  /** @type {Map<string, string[]>} */
  const reasons = new Map();
  for (const [at, {failed}] of rounds.entries()) {
    for (const {test, reason} of failed)
      reasons.set(test, [...(reasons.get(test) ?? []), `    round ${at + 1}: ${reason}`]);
  }
  const byRounds = [...reasons].sort(([, some], [, others]) => others.length - some.length);
  return byRounds.flatMap(([test, lines]) => [`failed in ${lines.length} of ${rounds.length}: ${test}`, ...lines]);
}

/**
 * @param {number} processes
 * @returns {() => void} ends the processes; they also end when this process ends in any way
 */
function startLoad(processes) {
  const busy = Array.from({length: processes}, () =>
    spawn(process.execPath, ['-e', BUSY], {stdio: ['pipe', 'ignore', 'ignore']}),
  );
  return () => {
    for (const child of busy) child.kill('SIGKILL');
  };
}

/** @returns {Promise<Round | undefined>} undefined when the round was interrupted */
async function runRound(vitest, seed) {
  const began = performance.now();
  const {ended, report} = await runReported(vitest, [
    '--sequence.shuffle.files',
    '--sequence.shuffle.tests',
    `--sequence.seed=${seed}`,
  ]);
  const {code, signal} = ended;
  // Node's exit code after a signal is above 128.
  if (code === null || signal !== null || code > 128) return undefined;
  const minutes = Number(((performance.now() - began) / 60_000).toFixed(1));
  const {passed, failed} = readOutcome(report);
  if (code !== 0 && failed.length === 0) failed.push({test: 'vitest', reason: `exit code ${code}; it has printed why`});
  return {seed, minutes, passed, failed};
}

/**
 * @param {import('./run-tests.mjs').Report | undefined} report
 * @returns {{passed: number, failed: Failure[]}} a test that failed for several reasons is one failure
 */
function readOutcome(report) {
  if (report === undefined) return {passed: 0, failed: [{test: 'vitest', reason: 'it left no report'}]};
  const {files, errors} = report;
  const failed = files.flatMap(({file, tests, errors: ofFile}) => [
    ...tests
      .filter(({state}) => state === 'failed')
      .map(({name, reason}) => ({test: `${file} > ${name}`, reason: String(reason)})),
    ...(ofFile.length > 0 ? [{test: file, reason: ofFile.join('; ')}] : []),
  ]);
  if (errors.length > 0) failed.push({test: 'outside of a test', reason: errors.join('; ')});
  return {passed: files.flatMap(({tests}) => tests).filter(({state}) => state === 'passed').length, failed};
}

/** @returns {{seed: number, rounds: Round[]} | undefined} */
function readKept(file) {
  const text = readIfThere(file);
  return text === undefined ? undefined : JSON.parse(text);
}
