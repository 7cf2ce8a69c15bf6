// A plugin for vitest and for the bundler: puts one mutant into the sources, or probes that tell which mutants are reached.
import path from 'node:path';
import {findChanges} from './operators.mjs';

/** The function that a probe calls with the number of its mutants. */
const REACHED = 'globalThis.__miniCcReached';
const RECORDER = 'virtual:mini-cc-mutants';

/**
 * What a run of tests, or a build, does with the sources; `firsts`: for each source the number of its first mutant.
 * `programs`: the file in which programs mark what they reach, one byte for a mutant. `workers`: processes that run
 * test files.
 * @typedef {{root: string, mutant?: {file: string, start: number, end: number, text: string},
 *   probes?: {firsts: Record<string, number>, count: number, reached: string, programs: string},
 *   events: string, order: readonly string[], workers?: number}} Plan
 */

/**
 * @param {Plan} plan
 * @param {{isProgram?: boolean}} [options] a program records by itself; tests have `record.mjs`
 */
export function withMutants({root, mutant, probes}, {isProgram = false} = {}) {
  const recorder = isProgram && probes ? `import '${RECORDER}';` : '';
  const isChanged = (/** @type {string} */ file) => mutant?.file === file || probes?.firsts[file] !== undefined;
  const getFile = (/** @type {string} */ id) => path.relative(root, id.split('?')[0]);
  return {
    name: 'with-mutants',
    enforce: /** @type {const} */ ('pre'),
    // Vitest keeps what it has made of a module for its next runs: it must neither keep nor use that of a module with a mutant.
    configureVitest: (/** @type {import('vitest/node').VitestPluginContext} */ {defineCacheKeyGenerator}) =>
      defineCacheKeyGenerator(({id}) => (isChanged(getFile(id)) ? false : undefined)),
    resolveId: (/** @type {string} */ id) => (id === RECORDER ? `\0${RECORDER}` : undefined),
    load: (/** @type {string} */ id) => (id === `\0${RECORDER}` && probes ? recordingCode(probes.programs) : undefined),
    transform(/** @type {string} */ code, /** @type {string} */ id) {
      const file = getFile(id);
      if (mutant?.file === file) {
        return {code: code.slice(0, mutant.start) + mutant.text + code.slice(mutant.end), map: null};
      }
      const first = probes?.firsts[file];
      return first === undefined ? undefined : {code: recorder + addProbes(file, code, first), map: null};
    },
  };
}

/** @param {string} file @param {string} code @param {number} first */
function addProbes(file, code, first) {
  /** @type {Map<string, {start: number, end: number, isStatement: boolean, numbers: number[]}>} */
  const probes = new Map();
  for (const [index, {probe, isStatement}] of findChanges(file, code).entries()) {
    const [start, end] = probe;
    const key = `${start} ${end} ${isStatement}`;
    const known = probes.get(key) ?? {start, end, isStatement, numbers: []};
    known.numbers.push(first + index);
    probes.set(key, known);
  }
  const inserts = [...probes.values()].flatMap(({start, end, isStatement, numbers}) => {
    const call = `${REACHED}?.(${numbers.join(',')})`;
    // Where several begin or end, the longer ones stand outside; a statement stands around its own expression.
    const size = (end - start) * 2 + (isStatement ? 1 : 0);
    return [
      {at: start, order: -size, isEnd: false, text: isStatement ? `{${call};` : `(${call},`},
      {at: end, order: size, isEnd: true, text: isStatement ? '}' : ')'},
    ];
  });
  inserts.sort((a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || a.order - b.order);
  let probed = '';
  let done = 0;
  for (const {at, text} of inserts) {
    probed += code.slice(done, at) + text;
    done = at;
  }
  return probed + code.slice(done);
}

/** A program may be killed at any time, and start in a sandbox that hides the file. @param {string} file */
function recordingCode(file) {
  return `import {existsSync, openSync, writeSync} from 'node:fs';
const seen = new Set();
const file = ${JSON.stringify(file)};
let opened;
globalThis.__miniCcReached = (...numbers) => {
  for (const number of numbers) {
    if (seen.has(number)) continue;
    seen.add(number);
    opened ??= existsSync(file) ? openSync(file, 'r+') : -1;
    if (opened >= 0) writeSync(opened, '1', number);
  }
};`;
}
