// Copies of the checkout, in which mutants run. The checkout itself is never changed.
import {spawn, spawnSync} from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

/** @typedef {import('./plugin.mjs').Plan} Plan */
/** @typedef {import('./events.mjs').TestEvent} TestEvent */

const FOLDER = '.mutants';
const NOT_COPIED = new Set([FOLDER, '.git', 'node_modules', 'coverage']);
const POLL_MS = 100;

export class Copies {
  /** @type {Set<import('node:child_process').ChildProcess>} */
  #running = new Set();
  /** @type {string[]} */
  roots;

  /**
   * @param {string} root
   * @param {number} count number of copies, which is how many runs may work at the same time
   */
  constructor(root, count) {
    this.root = root;
    rmSync(path.join(root, FOLDER), {recursive: true, force: true});
    this.roots = Array.from({length: count}, (_, at) => path.join(root, FOLDER, String(at + 1)));
    for (const copy of this.roots) {
      mkdirSync(copy, {recursive: true});
      const entries = readdirSync(root).filter((name) => !NOT_COPIED.has(name));
      // `cp -a` keeps modification times to the nanosecond, because a build uses them to know that it is fresh.
      const {status, stderr} = spawnSync('cp', ['-a', ...entries.map((name) => path.join(root, name)), copy]);
      if (status !== 0) throw new Error(`the checkout could not be copied: ${stderr}`);
      symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
    }
  }

  /** Ends the running processes and removes the copies. */
  close() {
    for (const child of this.#running) killTree(child.pid);
    rmSync(path.join(this.root, FOLDER), {recursive: true, force: true, maxRetries: 5});
  }

  /**
   * Calls `work` with each item and a copy of its own. At most one call per copy runs at a time.
   * @template T
   * @param {readonly T[]} items
   * @param {(item: T, copy: string) => Promise<void>} work
   */
  async each(items, work) {
    const rest = [...items];
    const runAll = async (/** @type {string} */ copy) => {
      while (rest.length > 0) await work(/** @type {T} */ (rest.shift()), copy);
    };
    await Promise.all(this.roots.map(runAll));
  }

  /**
   * Builds the program of a copy by the plan.
   * @param {string} copy
   * @param {Partial<Plan>} plan
   */
  async build(copy, plan) {
    const {child, ended, log} = this.#start(copy, plan, [path.join(import.meta.dirname, 'build.mjs')]);
    await ended;
    if (child.exitCode !== 0) throw new Error(`the build failed:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
  }

  /**
   * Runs test files one after the other.
   * @param {string} copy
   * @param {Partial<Plan>} plan
   * @param {readonly string[]} files in the order in which they run
   * @param {{bail?: boolean, getLimitMs: (file: string) => number}} options a file that takes longer than its limit
   *   hangs
   * @returns {Promise<{files: {file: string, ms: number, failed?: string}[], failed?: {file: string, why: string,
   *   isSure: boolean}}>} files: the files that ended; failed: the first file that failed, hung or ended its process;
   *   isSure: one of its tests failed
   */
  async runTests(copy, plan, files, {bail = false, getLimitMs}) {
    const vitest = path.join(this.root, 'node_modules/vitest/vitest.mjs');
    const own = (/** @type {string} */ name) => path.join(import.meta.dirname, name);
    const {child, ended, events, log} = this.#start(copy, {...plan, order: files}, [
      ...[vitest, 'run', '--root', copy, '--config', own('vitest.config.mjs'), `--reporter=${own('events.mjs')}`],
      ...(bail ? ['--bail=1'] : []),
      ...files,
    ]);
    let hung;
    for (let isOver = false; !isOver && hung === undefined; ) {
      isOver = await Promise.race([ended.then(() => true), sleep(POLL_MS, false)]);
      const {running} = readEvents(events);
      if (!isOver) hung = running.find(({file, at}) => Date.now() - at > getLimitMs(file))?.file;
    }
    if (hung !== undefined) killTree(child.pid);
    await ended;
    const {ended: done, running, isDone, outside} = readEvents(events);
    if (!isDone && hung === undefined && running.length === 0 && done.length === 0) {
      throw new Error(`vitest did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
    }
    const first = done.find(({failed}) => failed !== undefined);
    if (first) return {files: done, failed: {file: first.file, why: first.failed ?? '', isSure: true}};
    if (hung !== undefined) return {files: done, failed: {file: hung, why: 'it hung', isSure: false}};
    if (child.exitCode === 0) return {files: done};
    const why = outside ?? 'its process ended';
    return {files: done, failed: {file: running[0]?.file ?? done.at(-1)?.file ?? 'no file', why, isSure: false}};
  }

  /**
   * @param {string} copy
   * @param {Partial<Plan>} plan
   * @param {readonly string[]} args arguments of Node
   */
  #start(copy, plan, args) {
    const file = `${copy}.plan.json`;
    const events = `${copy}.events`;
    const log = `${copy}.log`;
    rmSync(events, {force: true});
    writeFileSync(file, JSON.stringify({order: [], ...plan, root: copy, events}));
    const output = openSync(log, 'w');
    const env = {...process.env, MINI_CC_MUTANTS: file};
    // The child has its own process group, so Ctrl+C reaches only this process, which ends the child.
    const child = spawn(process.execPath, args, {cwd: copy, env, stdio: ['ignore', output, output], detached: true});
    closeSync(output);
    this.#running.add(child);
    /** @type {Promise<void>} */
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => resolve());
    }).finally(() => this.#running.delete(child));
    return {child, ended, events, log};
  }
}

/**
 * Splits items into lists of at most `size`.
 * @template T
 * @param {readonly T[]} items
 * @param {number} size
 */
export function splitIntoBatches(items, size) {
  return Array.from({length: Math.ceil(items.length / size)}, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** @param {string} file */
function readEvents(file) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  /** @type {TestEvent[]} */
  const events = lines.map((line) => JSON.parse(line));
  const starts = events.filter(({type}) => type === 'start');
  const ended = events
    .filter(({type}) => type === 'end')
    .map(({file, at, failed}) => {
      const start = starts.find((each) => each.file === file)?.at ?? at;
      return {file, ms: at - start, ...(failed !== undefined && {failed})};
    });
  const names = new Set(ended.map((each) => each.file));
  const done = events.find(({type}) => type === 'done');
  return {ended, running: starts.filter((each) => !names.has(each.file)), isDone: Boolean(done), outside: done?.failed};
}

/**
 * Kills a process and everything that it started, including processes in other process groups.
 * @param {number | undefined} pid
 */
function killTree(pid) {
  if (pid === undefined) return;
  const table = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], {encoding: 'utf8'}).stdout.trim().split('\n');
  const children = Map.groupBy(
    table.map((line) => line.trim().split(/\s+/).map(Number)),
    ([, parent]) => parent,
  );
  const tree = new Set([pid]);
  for (const each of tree) for (const [child] of children.get(each) ?? []) tree.add(child);
  for (const each of tree) {
    try {
      process.kill(each, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}
