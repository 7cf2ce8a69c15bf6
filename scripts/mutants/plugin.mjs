// A plugin for vitest and for the bundler. It applies mutants to sources, or adds probes that record which mutants are
// reached.
import path from 'node:path';
import {findChanges} from './operators.mjs';

/** The function that a probe calls with the numbers of its mutants. */
const REACHED = 'globalThis.__miniCcReached';
/** A module that knows which of several mutants are active. */
const SWITCH = 'virtual:mini-cc-mutants';
const IS_ACTIVE = 'globalThis.__miniCcIsActive';

/**
 * How a run of tests, or a build, changes the sources. `mutant`: one mutant. `choice`: several mutants, of which those in
 * the file `active` are active. `probes`: probes, where `firsts` is the number of the first mutant of each source, and
 * `reached` is the file for the results.
 * @typedef {{root: string, events: string, order: readonly string[], mutant?: Mutant,
 *   choice?: {mutants: readonly Mutant[], active: string},
 *   probes?: {firsts: Record<string, number>, count: number, reached: string}}} Plan
 * @typedef {import('./sample.mjs').Mutant} Mutant
 */

/** @param {Plan} plan */
export function withMutants({root, mutant, choice, probes}) {
  const ofFile = Map.groupBy(choice?.mutants ?? [], ({file}) => file);
  /** @param {string} code @param {string} file */
  const change = (code, file) => {
    if (mutant?.file === file) return applyMutant(code, mutant, 0, code.length);
    if (ofFile.has(file)) return `import '${SWITCH}';${addChoices(code, ofFile.get(file) ?? [], 0, code.length)}`;
    const first = probes?.firsts[file];
    return first === undefined ? undefined : addProbes(file, code, first);
  };
  const getFile = (/** @type {string} */ id) => path.relative(root, id.split('?')[0]);
  const isChanged = (/** @type {string} */ file) =>
    mutant?.file === file || ofFile.has(file) || probes?.firsts[file] !== undefined;
  return {
    name: 'with-mutants',
    enforce: /** @type {const} */ ('pre'),
    // Vitest caches transformed modules between runs. It must neither store nor use those of modules with mutants.
    configureVitest: (/** @type {import('vitest/node').VitestPluginContext} */ {defineCacheKeyGenerator}) =>
      defineCacheKeyGenerator(({id}) => (isChanged(getFile(id)) || id.includes(SWITCH) ? false : undefined)),
    resolveId: (/** @type {string} */ id) => (id === SWITCH ? `\0${SWITCH}` : undefined),
    load: (/** @type {string} */ id) => (id === `\0${SWITCH}` && choice ? switchCode(choice.active) : undefined),
    transform(/** @type {string} */ code, /** @type {string} */ id) {
      const changed = change(code, getFile(id));
      return changed === undefined ? undefined : {code: changed, map: null};
    },
  };
}

/**
 * @param {string} code
 * @param {Mutant} mutant
 * @returns the changed text from `from` to `to`
 */
function applyMutant(code, {start, end, text}, from, to) {
  return code.slice(from, start) + text + code.slice(end, to);
}

/**
 * @param {string} code
 * @param {readonly Mutant[]} mutants mutants between `from` and `to`
 * @returns {string} the changed text from `from` to `to`
 */
function addChoices(code, mutants, from, to) {
  let changed = '';
  let done = from;
  const rest = mutants.toSorted((a, b) => a.probe[0] - b.probe[0] || b.probe[1] - a.probe[1]);
  for (let outer = rest.shift(); outer; outer = rest.shift()) {
    const {index, isStatement, probe} = outer;
    const [start, end] = probe;
    const inner = rest.splice(0, rest.findLastIndex((each) => each.probe[0] < end) + 1);
    const original = addChoices(code, inner, start, end);
    const mutated = applyMutant(code, outer, start, end);
    const isActive = `${IS_ACTIVE}(${index})`;
    changed += code.slice(done, start);
    changed += isStatement
      ? `if(${isActive}){${mutated}}else{${original}}`
      : `(${isActive}?(${mutated}):(${original}))`;
    done = end;
  }
  return changed + code.slice(done, to);
}

/**
 * Returns the code of the module. In a sandbox that hides the file, no mutant is active.
 * @param {string} file
 */
function switchCode(file) {
  return `import {existsSync, readFileSync} from 'node:fs';
const file = ${JSON.stringify(file)};
const active = new Set(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);
${IS_ACTIVE} = (number) => active.has(number);`;
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
    // When several probes begin or end at one place, the longer ones are outside, and a statement is outside of its own
    // expression.
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
