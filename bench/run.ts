/**
 * npm run bench: the table on mini-cc. `--pictures` draws those of docs/compared.md instead. `--peers` also measures the peers on PATH, `--scale` how costs grow, `--parts` what
 * single parts cost, `--workers` queued runs at workers. `--short` takes fewer rounds, `--only ID` some rows; `--save` writes the results into bench/results and,
 * with peers, the table and the plot of the README, which `--report` makes anew from there. Exits with 1 when a goal is missed.
 */
import {randomInt} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {buildOnce, root} from '../tests/support/run-cli.ts';
import {providePeers} from './compared/peers.ts';
import {createPlot, formatTable, replaceTable} from './compared/report.ts';
import {meetsGoal, type Results} from './compared/results.ts';
import {measureTable} from './compared/table.ts';

const {values: flags} = parseArgs({
  options: {
    ...{peers: {type: 'boolean', default: false}, scale: {type: 'boolean', default: false}},
    ...{parts: {type: 'boolean', default: false}, short: {type: 'boolean', default: false}},
    ...{save: {type: 'boolean', default: false}, only: {type: 'string'}},
    report: {type: 'boolean', default: false},
    workers: {type: 'boolean', default: false},
    pictures: {type: 'boolean', default: false},
    seed: {type: 'string', default: String(randomInt(1_000_000))},
  },
});
const TABLE = 'bench/results/table.json';
/** For 2,000 queued runs. */
const MAX_REDIS_MB = 200;
const {short, only} = flags;
if (flags.save && !flags.peers && !flags.scale && !flags.workers) {
  throw new Error('--save goes with --peers, --scale or --workers');
}
if (flags.save && (only !== undefined || (short && !flags.scale))) {
  throw new Error('--save needs a whole run: leave out --short and --only');
}
const onProgress = (text: string) => process.stderr.write(`${text}\n`);

if (flags.report) {
  report(JSON.parse(readFileSync(path.join(root, TABLE), 'utf8')) as Results);
  process.exit();
}
await buildOnce();
if (flags.pictures) {
  const {drawPictures} = await import('./compared/pictures.ts');
  providePeers(onProgress);
  process.exit((await drawPictures(onProgress)) ? 0 : 1);
}
const isMet = await (flags.parts ? runParts : flags.scale ? runScale : flags.workers ? runWorkers : runTable)();
process.exitCode = isMet ? 0 : 1;

async function runTable(): Promise<boolean> {
  const {peers} = flags;
  if (peers) providePeers(onProgress);
  const results = await measureTable({
    peers,
    short,
    onProgress,
    seed: Number(flags.seed),
    ...(only !== undefined && {only}),
  });
  process.stdout.write(`${formatTable(results)}\n`);
  if (flags.save) saveTable(results);
  return results.rows.every((row) => meetsGoal(row) !== false);
}

function saveTable(results: Results): void {
  write(TABLE, `${JSON.stringify(results, null, 1)}\n`);
  report(results);
}

function report(results: Results): void {
  write('docs/bench.svg', createPlot(results));
  write('README.md', replaceTable(readFileSync(path.join(root, 'README.md'), 'utf8'), results));
}

async function runParts(): Promise<boolean> {
  const {formatParts, measureParts} = await import('./parts/table.ts');
  const rows = await measureParts(short);
  process.stdout.write(`${formatParts(rows)}\n`);
  return rows.every(({value, atMost = Number.POSITIVE_INFINITY}) => value <= atMost);
}

async function runWorkers(): Promise<boolean> {
  const {formatQueuedRuns, measureQueuedRuns} = await import('./workers/queued-runs.ts');
  const results = await measureQueuedRuns(short ? 200 : 2_000, onProgress);
  process.stdout.write(`${formatQueuedRuns(results)}\n`);
  if (flags.save) write('bench/results/workers.json', `${JSON.stringify(results, null, 1)}\n`);
  return results.mostRedisMb < MAX_REDIS_MB;
}

async function runScale(): Promise<boolean> {
  const {createScalePlot, formatScale, measureScale} = await import('./scale/scale.ts');
  const results = await measureScale({short, onProgress, ...(only !== undefined && {only})});
  process.stdout.write(`${formatScale(results)}\n`);
  if (flags.save) {
    write('bench/results/scale.json', `${JSON.stringify(results, null, 1)}\n`);
    write('bench/results/scale.svg', createScalePlot(results));
  }
  return true;
}

function write(file: string, text: string): void {
  const whole = path.join(root, file);
  mkdirSync(path.dirname(whole), {recursive: true});
  writeFileSync(whole, text);
}
