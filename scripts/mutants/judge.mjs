// Runs the tests against mutants: first the test files that reach a mutant, then, with what is left, the end-to-end tests.
import path from 'node:path';
import {Reaches} from './reach.mjs';

/** Most of these tests wait for programs. */
const END_TO_END_WORKERS = 2;

/** @typedef {import('./sample.mjs').Mutant} Mutant */

/**
 * @param {readonly Mutant[]} sample
 * @param {{sources: readonly import('./sample.mjs').Source[], tests: import('./test-files.mjs').TestFiles,
 *   results: import('./results.mjs').Results, copies: import('./copies.mjs').Copies, cache: string, seconds: number,
 *   hang: number, unit: boolean}} context `seconds`: for the test files of a mutant together; `hang`: a test file hangs when it
 *   takes so many seconds more than three times its usual time; `unit`: without the end-to-end tests
 */
export async function judge(sample, {sources, tests, results, copies, cache, seconds, hang, unit}) {
  const reaches = new Reaches(copies, sources, tests, path.join(cache, 'reach.json'));
  const isEndToEnd = (/** @type {string} */ test) => tests.isEndToEnd(test);
  const getLimitMs = (/** @type {string} */ file) => reaches.getMs(file) * 3 + hang * 1_000;
  /** @param {Mutant} mutant @param {string} copy @param {readonly string[]} files @returns {Promise<string | undefined>} what killed it */
  const run = async (mutant, copy, files, workers = 1) => {
    if (files.length === 0) return undefined;
    const options = {bail: true, getLimitMs};
    const {failed} = await copies.runTests(copy, {mutant, workers}, files, options);
    if (!failed) return undefined;
    const {file, why, isSure} = failed;
    if (isSure && !isEndToEnd(file)) return `${file}: ${why}`;
    // Bad luck on a busy machine does not happen twice.
    const again = await copies.runTests(copy, {mutant}, [file], options);
    if (again.failed) return `${file}: ${again.failed.why}`;
    const others = files.filter((each) => each !== file);
    return run(mutant, copy, others, workers);
  };

  const unknown = sample.filter(({id}) => results.get(id) === undefined);
  const loading = new Set(unknown.flatMap(({file}) => tests.thatLoad(file)));
  await reaches.collect([...loading].filter((test) => !isEndToEnd(test)));
  await copies.each(unknown, async (mutant, copy) => {
    const own = reaches.findOwn(mutant).filter((test) => !isEndToEnd(test));
    const files = takeSeconds(
      tests.sortByDistance(own, mutant.file, (test) => reaches.getMs(test)),
      seconds,
      reaches,
    );
    const by = await run(mutant, copy, files);
    results.add(mutant, {wasReached: files.length > 0, by, isFinal: by !== undefined || unit});
  });

  const living = sample.filter(({id}) => !results.get(id)?.isFinal);
  if (living.length === 0) return;
  process.stdout.write(`running the end-to-end tests against what lives: ${living.length}\n`);
  await reaches.collect(tests.all.filter(isEndToEnd));
  await copies.each(living, async (mutant, copy) => {
    const files = reaches.findEndToEnd(mutant).sort((a, b) => reaches.getMs(a) - reaches.getMs(b));
    if (files.length > 0) await copies.build(copy, {mutant});
    const by = await run(mutant, copy, files, END_TO_END_WORKERS);
    const wasReached = files.length > 0 || results.get(mutant.id)?.wasReached === true;
    results.add(mutant, {wasReached, by, isFinal: true});
  });
}

/** The first ones that fit into the time; one in any case. @param {readonly string[]} files @param {number} seconds @param {Reaches} reaches */
function takeSeconds(files, seconds, reaches) {
  let left = seconds * 1_000;
  return files.filter((file, index) => {
    left -= reaches.getMs(file);
    return left > 0 || index === 0;
  });
}
