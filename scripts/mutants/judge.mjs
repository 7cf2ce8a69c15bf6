// Runs the tests against mutants: first the test files that reach a mutant, then the end-to-end tests against the
// survivors.
import path from 'node:path';
import {EndToEnd} from './end-to-end.mjs';
import {Reaches} from './reach.mjs';

/** @typedef {import('./sample.mjs').Mutant} Mutant */

/**
 * @param {readonly Mutant[]} sample
 * @param {{sources: readonly import('./sample.mjs').Source[], tests: import('./test-files.mjs').TestFiles,
 *   results: import('./results.mjs').Results, copies: import('./copies.mjs').Copies, cache: string, seconds: number,
 *   hang: number, unit: boolean}} context `seconds`: total time for the test files of a mutant; `hang`: a test file hangs
 *   when it takes this many seconds more than three times its usual time; `unit`: without the end-to-end tests
 */
export async function judge(sample, {sources, tests, results, copies, cache, seconds, hang, unit}) {
  const reaches = new Reaches(copies, sources, tests, path.join(cache, 'reach.json'));
  const isOfParts = (/** @type {string} */ test) => !tests.isEndToEnd(test);
  const unknown = sample.filter(({id}) => results.get(id) === undefined);
  const loading = new Set(unknown.flatMap(({file}) => tests.thatLoad(file)));
  await reaches.collect([...loading].filter(isOfParts));
  await copies.each(unknown, async (mutant, copy) => {
    const reaching = reaches.find(mutant).filter(isOfParts);
    const sorted = tests.sortByDistance(reaching, mutant.file, (test) => reaches.getMs(test));
    const files = takeSeconds(sorted, seconds, reaches);
    const killed = await runFiles(mutant, files, {
      copies,
      copy,
      getLimitMs: (file) => reaches.getMs(file) * 3 + hang * 1_000,
    });
    results.add(mutant, {wasReached: files.length > 0, ...killed, isFinal: killed !== undefined || unit});
  });
  const living = sample.filter(({id}) => !results.get(id)?.isFinal);
  if (living.length > 0) await new EndToEnd(copies, tests, results).run(living);
}

/**
 * Returns the first files that fit into the time, but at least one.
 * @param {readonly string[]} files
 * @param {number} seconds
 * @param {Reaches} reaches
 */
function takeSeconds(files, seconds, reaches) {
  let left = seconds * 1_000;
  return files.filter((file, index) => {
    left -= reaches.getMs(file);
    return left > 0 || index === 0;
  });
}

/**
 * @param {Mutant} mutant
 * @param {readonly string[]} files
 * @param {{copies: import('./copies.mjs').Copies, copy: string, getLimitMs: (file: string) => number}} context
 * @returns {Promise<{test: string, why: string} | undefined>} the test that killed the mutant, and why it failed
 */
async function runFiles(mutant, files, {copies, copy, getLimitMs}) {
  if (files.length === 0) return undefined;
  const options = {bail: true, getLimitMs};
  const {failed} = await copies.runTests(copy, {mutant}, files, options);
  if (!failed) return undefined;
  const {file, isSure} = failed;
  // On a busy machine a file may be slow once, so only a second failure counts.
  const {failed: again} = isSure ? {failed} : await copies.runTests(copy, {mutant}, [file], options);
  if (again) return {test: file, why: again.why};
  return runFiles(
    mutant,
    files.filter((each) => each !== file),
    {copies, copy, getLimitMs},
  );
}
