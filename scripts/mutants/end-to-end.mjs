// Runs the end-to-end tests once against all surviving mutants, which are active together in one bundle. While the
// tests pass, no mutant is noticed. When a test file fails, bisection finds the mutant that it notices, and that mutant
// is deactivated.
import {writeFileSync} from 'node:fs';
import {splitIntoBatches} from './copies.mjs';

/** Number of test files that one process runs. */
const BATCH = 8;
/** Longer than any of these test files takes. */
const MAX_FILE_MS = 600_000;

/** @typedef {import('./sample.mjs').Mutant} Mutant */

export class EndToEnd {
  #copies;
  #tests;
  #results;
  /** @type {readonly Mutant[]} */
  #mutants = [];
  /**
   * Test files that failed with mutants but pass without any.
   * @type {Set<string>}
   */
  #passing = new Set();

  /**
   * @param {import('./copies.mjs').Copies} copies
   * @param {import('./test-files.mjs').TestFiles} tests
   * @param {import('./results.mjs').Results} results
   */
  constructor(copies, tests, results) {
    this.#copies = copies;
    this.#tests = tests;
    this.#results = results;
  }

  /** @param {readonly Mutant[]} mutants */
  async run(mutants) {
    this.#mutants = mutants;
    const all = this.#tests.all.filter((file) => this.#tests.isEndToEnd(file));
    const files = all.filter((file) => !this.#results.hasPassed(file));
    process.stdout.write(`running ${files.length} end-to-end test files against what lives: ${mutants.length}\n`);
    if (files.length > 0) {
      await this.#copies.each(this.#copies.roots, async (_, copy) => {
        await this.#copies.build(copy, {choice: this.#choiceOf(copy)});
      });
    }
    await this.#copies.each(splitIntoBatches(files, BATCH), (batch, copy) => this.#runBatch(batch, copy));
    for (const mutant of this.#living()) {
      this.#results.add(mutant, {wasReached: this.#results.get(mutant.id)?.wasReached === true, isFinal: true});
    }
  }

  /** @param {readonly string[]} batch @param {string} copy */
  async #runBatch(batch, copy) {
    let rest = batch;
    while (rest.length > 0 && this.#living().length > 0) {
      const {files, failed} = await this.#try(copy, rest, this.#living());
      const passed = files.filter((each) => each.failed === undefined).map(({file}) => file);
      for (const file of passed) this.#results.addPassed(file);
      rest = rest.filter((file) => !passed.includes(file));
      if (!failed) break;
      const isDone = await this.#findKilled(copy, failed.file);
      if (isDone) rest = rest.filter((file) => file !== failed.file);
    }
  }

  /**
   * Finds the mutant that makes a test file fail.
   * @param {string} copy
   * @param {string} file the test file that failed
   * @returns {Promise<boolean>} whether the file needs no further run
   */
  async #findKilled(copy, file) {
    const own = this.#passing.has(file) ? undefined : (await this.#try(copy, [file], [])).failed;
    this.#passing.add(file);
    if (own) {
      process.stdout.write(`left out, since it fails by itself: ${file} (${own.why})\n`);
      return true;
    }
    let group = this.#living();
    while (group.length > 1) {
      const half = group.slice(0, Math.ceil(group.length / 2));
      const isThere = (await this.#try(copy, [file], half)).failed !== undefined;
      group = isThere ? half : group.slice(half.length);
    }
    const {failed} = await this.#try(copy, [file], group);
    for (const mutant of failed ? group : []) {
      this.#results.add(mutant, {wasReached: true, test: file, why: failed.why, isFinal: true});
    }
    if (failed) return false;
    // The failure happened by chance, or needs several mutants together.
    process.stdout.write(`fails with several mutants, or now and then: ${file}\n`);
    return true;
  }

  /** @param {string} copy @param {readonly string[]} files @param {readonly Mutant[]} active */
  #try(copy, files, active) {
    const choice = this.#choiceOf(copy);
    writeFileSync(choice.active, JSON.stringify(active.map(({index}) => index)));
    return this.#copies.runTests(copy, {choice}, files, {bail: true, getLimitMs: () => MAX_FILE_MS});
  }

  /** @param {string} copy */
  #choiceOf(copy) {
    return {mutants: this.#mutants, active: `${copy}.active`};
  }

  #living() {
    return this.#mutants.filter(({id}) => !this.#results.get(id)?.isFinal);
  }
}
