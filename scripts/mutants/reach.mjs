// Finds which test files reach which mutants, and how long they take, by a run with probes. The result of a test file
// is stored until the file, or what it runs, changes.
import {existsSync, readFileSync, rmSync} from 'node:fs';
import {readIfThere, replaceFile} from '../checkout.mjs';
import {splitIntoBatches} from './copies.mjs';

/**
 * Number of files that run in one process and are stored together. An interrupted run continues after the last stored
 * batch.
 */
const BATCH = 12;

/**
 * `own`: for each source, the mutants that a test file reaches, by their place in the source.
 * @typedef {{key: string, ms: number, own: Record<string, number[]>}} Reach
 * @typedef {import('./sample.mjs').Mutant} Mutant
 */

export class Reaches {
  #copies;
  #sources;
  #tests;
  #store;
  /** @type {Record<string, Reach>} */
  #known;
  /** @type {Record<string, number>} */
  #firsts;
  /**
   * Test files that fail without any mutant, with the reason.
   * @type {Map<string, string>}
   */
  failed = new Map();

  /**
   * @param {import('./copies.mjs').Copies} copies
   * @param {readonly import('./sample.mjs').Source[]} sources
   * @param {import('./test-files.mjs').TestFiles} tests
   * @param {string} store the file that stores the results
   */
  constructor(copies, sources, tests, store) {
    this.#copies = copies;
    this.#sources = sources;
    this.#tests = tests;
    this.#store = store;
    this.#known = JSON.parse(readIfThere(store) ?? '{}');
    let count = 0;
    this.#firsts = Object.fromEntries(
      sources.map(({file, mutants}) => {
        count += mutants.length;
        return [file, count - mutants.length];
      }),
    );
  }

  /**
   * Runs the test files that have no result for their current state.
   * @param {readonly string[]} files
   */
  async collect(files) {
    const stale = files.filter((file) => !this.failed.has(file) && this.#known[file]?.key !== this.#tests.getKey(file));
    if (stale.length === 0) return;
    process.stdout.write(`finding what test files reach: ${stale.length}\n`);
    await this.#run(stale);
    const again = stale.filter((file) => this.#known[file]?.key !== this.#tests.getKey(file));
    this.failed.clear();
    await this.#run(again);
    for (const [file, why] of this.failed)
      process.stdout.write(`left out, since it fails by itself: ${file} (${why})\n`);
  }

  /** @param {readonly string[]} files */
  async #run(files) {
    await this.#copies.each(splitIntoBatches(files, BATCH), (batch, copy) => this.#runBatch(batch, copy));
  }

  /** @param {readonly string[]} batch @param {string} copy */
  async #runBatch(batch, copy) {
    const reached = `${copy}.reached`;
    rmSync(reached, {force: true});
    const count = this.#sources.reduce((sum, {mutants}) => sum + mutants.length, 0);
    const plan = {probes: {firsts: this.#firsts, count, reached}};
    const {files, failed} = await this.#copies.runTests(copy, plan, batch, {
      getLimitMs: () => Number.POSITIVE_INFINITY,
    });
    const lines = existsSync(reached) ? readFileSync(reached, 'utf8').split('\n').slice(0, -1) : [];
    const found = new Map(lines.map((line) => JSON.parse(line)).map((each) => [each.file, each]));
    for (const file of batch) {
      const end = files.find((each) => each.file === file);
      const reach = found.get(file);
      if (!end || !reach || end.failed !== undefined) {
        this.failed.set(file, end?.failed ?? failed?.why ?? 'it did not run');
        continue;
      }
      const own = this.#bySource(reach.numbers);
      this.#known[file] = {key: this.#tests.getKey(file), ms: end.ms, own};
    }
    replaceFile(this.#store, JSON.stringify(this.#known));
  }

  /** @param {readonly number[]} numbers @returns {Record<string, number[]>} */
  #bySource(numbers) {
    const all = this.#sources.flatMap(({mutants}) => mutants);
    /** @type {Record<string, number[]>} */
    const found = {};
    for (const number of numbers) {
      const {file} = all[number];
      found[file] ??= [];
      found[file].push(number - this.#firsts[file]);
    }
    return found;
  }

  /** @param {string} file */
  getMs(file) {
    return this.#known[file]?.ms ?? 0;
  }

  /**
   * Returns the test files that reach a mutant. Code that runs when its module is loaded is reached by every test file
   * that loads the module.
   * @param {Mutant} mutant
   */
  find({file, index, isStatic}) {
    if (isStatic) return this.#tests.thatLoad(file).filter((test) => this.#isKnown(test));
    const place = index - this.#firsts[file];
    return this.#tests.all.filter((test) => this.#isKnown(test) && this.#known[test].own[file]?.includes(place));
  }

  /** @param {string} test */
  #isKnown(test) {
    return !this.failed.has(test) && this.#known[test]?.key === this.#tests.getKey(test);
  }
}
