// What became of mutants: kept until the sources or the tests change, so that an interrupted run goes on where it was.
import {createHash} from 'node:crypto';
import path from 'node:path';
import {readIfThere, replaceFile} from '../checkout.mjs';

/** At most so many of 100 mutants may survive. */
const GOALS = {core: 10};
const OTHER_GOAL = 20;

/**
 * `by`: the test that killed it; `isFinal`: no other tests follow.
 * @typedef {{wasReached: boolean, by?: string, isFinal: boolean}} Result
 * @typedef {import('./sample.mjs').Mutant} Mutant
 */

export class Results {
  #sample;
  #file;
  /** @type {Record<string, Result>} */
  #all;
  /** @type {string[]} */
  #passed;

  /**
   * @param {readonly Mutant[]} sample
   * @param {{sources: readonly import('./sample.mjs').Source[], tests: import('./test-files.mjs').TestFiles, cache: string,
   *   options: {seed: string, sample: string, seconds: string, unit: boolean, again: boolean, only?: string[]}}} context
   */
  constructor(sample, {sources, tests, cache, options}) {
    this.#sample = sample;
    const {seed, sample: size, seconds, unit, only = []} = options;
    const hash = createHash('sha256').update(sources.map(({code}) => code).join('\n'));
    for (const text of [...tests.all.map((test) => tests.getKey(test)), ...only]) hash.update(text);
    const name = [seed, size, seconds, unit ? 'unit' : 'all', hash.digest('hex').slice(0, 12)].join('-');
    this.#file = path.join(cache, `${name}.json`);
    const kept = (options.again ? undefined : readIfThere(this.#file)) ?? '{"all": {}, "passed": []}';
    ({all: this.#all, passed: this.#passed} = JSON.parse(kept));
    for (const mutant of sample) this.#print(mutant);
  }

  /** @param {string} id */
  get(id) {
    return this.#all[id];
  }

  /** @param {Mutant} mutant @param {Result} result */
  add(mutant, result) {
    this.#all[mutant.id] = result;
    this.#save();
    this.#print(mutant);
  }

  /** An end-to-end test file that let live all mutants that still lived. @param {string} file */
  addPassed(file) {
    this.#passed.push(file);
    this.#save();
  }

  /** @param {string} file */
  hasPassed(file) {
    return this.#passed.includes(file);
  }

  #save() {
    replaceFile(this.#file, JSON.stringify({all: this.#all, passed: this.#passed}, undefined, 1));
  }

  /** @param {Mutant} mutant */
  #print(mutant) {
    if (this.#all[mutant.id]?.isFinal) process.stdout.write(`${this.#format(mutant)}\n`);
  }

  /** @param {Mutant} mutant */
  #format({id, file, line, original, mutated}) {
    const {wasReached = false, by} = this.#all[id] ?? {};
    const state = by ? 'killed' : wasReached ? 'survived' : 'not reached';
    return `${state}  ${file}:${line}  ${original} → ${mutated}${by ? `  (by ${by})` : ''}`;
  }

  /** What survived, and how many of each folder. @returns the exit code: 1 when more survived than may */
  printTable() {
    const survivors = this.#sample.filter(({id}) => this.#all[id]?.by === undefined);
    const lines = survivors.flatMap((mutant) => [this.#format(mutant), `  --only ${mutant.id}`]);
    if (lines.length > 0) lines.unshift('', 'These live:');
    lines.push('', 'folder    sampled  killed  survived  percent  goal');
    let exitCode = 0;
    for (const [folder, mutants] of Map.groupBy(this.#sample, (mutant) => mutant.folder)) {
      const alive = survivors.filter((mutant) => mutant.folder === folder).length;
      const percent = (alive * 100) / mutants.length;
      const goal = GOALS[folder] ?? OTHER_GOAL;
      if (percent > goal) exitCode = 1;
      const cells = [mutants.length, mutants.length - alive, alive, percent.toFixed(0), goal];
      const widths = [9, 8, 10, 9, 6];
      lines.push(folder.padEnd(8) + cells.map((cell, at) => String(cell).padStart(widths[at])).join(''));
    }
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCode;
  }
}
