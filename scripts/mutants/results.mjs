// Stores the results of mutants until the sources or tests that decided them change, so that a run continues where an
// earlier one ended.
import {createHash} from 'node:crypto';
import path from 'node:path';
import {readIfThere, replaceFile} from '../checkout.mjs';

/** Maximum percentage of mutants that may survive, by folder. */
const GOALS = {core: 10};
const OTHER_GOAL = 20;

/**
 * `test`: the test file that killed the mutant; `why`: its failure; `isFinal`: no other tests follow.
 * @typedef {{wasReached: boolean, test?: string, why?: string, isFinal: boolean}} Result
 * @typedef {import('./sample.mjs').Mutant} Mutant
 * @typedef {import('./test-files.mjs').TestFiles} TestFiles
 */

export class Results {
  #sample;
  #tests;
  #file;
  /** Hash of all sources and tests and of the options that decide which tests run. */
  #wholeKey;
  /** @type {Record<string, Result & {key: string}>} */
  #all;
  /** @type {{key: string, files: string[]}} */
  #passed;

  /**
   * @param {readonly Mutant[]} sample
   * @param {{sources: readonly import('./sample.mjs').Source[], tests: TestFiles, cache: string,
   *   options: {seconds: string, unit: boolean, again: boolean}}} context
   */
  constructor(sample, {sources, tests, cache, options}) {
    this.#sample = sample;
    this.#tests = tests;
    this.#file = path.join(cache, 'results.json');
    const texts = [...sources.map(({code}) => code), ...tests.all.map((test) => tests.getKey(test))];
    this.#wholeKey = hashTexts([...texts, options.seconds, String(options.unit)]);
    const kept = JSON.parse((options.again ? undefined : readIfThere(this.#file)) ?? '{}');
    this.#all = kept.all ?? {};
    const key = hashTexts([this.#wholeKey, ...sample.map(({id}) => id)]);
    this.#passed = kept.passed?.key === key ? kept.passed : {key, files: []};
    for (const mutant of sample) this.#print(mutant);
  }

  /**
   * Returns the stored result of a mutant if it is valid for the current sources and tests.
   * @param {string} id
   * @returns {Result | undefined}
   */
  get(id) {
    const result = this.#all[id];
    return result && result.key === this.#getKey(result) ? result : undefined;
  }

  /**
   * The result of a killed mutant is valid until the test file, or what it runs, changes.
   * @param {Result} result
   */
  #getKey({test}) {
    return test === undefined ? this.#wholeKey : this.#tests.getKey(test);
  }

  /** @param {Mutant} mutant @param {Result} result */
  add(mutant, result) {
    this.#all[mutant.id] = {...result, key: this.#getKey(result)};
    this.#save();
    this.#print(mutant);
  }

  /**
   * Adds an end-to-end test file that noticed none of the surviving mutants.
   * @param {string} file
   */
  addPassed(file) {
    this.#passed.files.push(file);
    this.#save();
  }

  /** @param {string} file */
  hasPassed(file) {
    return this.#passed.files.includes(file);
  }

  #save() {
    replaceFile(this.#file, JSON.stringify({all: this.#all, passed: this.#passed}, undefined, 1));
  }

  /** @param {Mutant} mutant */
  #print(mutant) {
    if (this.get(mutant.id)?.isFinal) process.stdout.write(`${this.#format(mutant)}\n`);
  }

  /** @param {Mutant} mutant */
  #format({id, file, line, original, mutated}) {
    const {wasReached = false, test, why} = this.get(id) ?? {};
    const state = test ? 'killed' : wasReached ? 'survived' : 'not reached';
    return `${state}  ${file}:${line}  ${original} → ${mutated}${test ? `  (by ${test}: ${why})` : ''}`;
  }

  /**
   * Prints the survivors, and their number in each folder.
   * @returns the exit code: 1 when more mutants survived than allowed
   */
  printTable() {
    const survivors = this.#sample.filter(({id}) => this.get(id)?.test === undefined);
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

/** @param {readonly string[]} texts */
function hashTexts(texts) {
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16);
}
