// Lists the mutants in folders of src/, and draws some of them by a seed.
import {createHash} from 'node:crypto';
import {globSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {findChanges} from './operators.mjs';

/**
 * `index` counts the mutants of all folders, in the order of files and places. It is the number of the mutant's probe.
 * @typedef {import('./operators.mjs').Change & {id: string, index: number, folder: string, file: string, line: number,
 *   original: string, mutated: string}} Mutant
 * @typedef {{file: string, folder: string, code: string, mutants: Mutant[]}} Source
 */

/**
 * Maximum number of characters of a change that are shown. Changes shorter than `MIN_SHOWN` are shown with their line.
 */
const MAX_SHOWN = 70;
const MIN_SHOWN = 20;

/** @param {string} root @param {readonly string[]} folders @returns {Source[]} */
export function readSources(root, folders) {
  let count = 0;
  return folders.flatMap((folder) => {
    const files = globSync(`src/${folder}/**/*.{ts,tsx}`, {cwd: root}).filter((file) => !file.endsWith('.d.ts'));
    return files.sort().map((file) => {
      const code = readFileSync(path.join(root, file), 'utf8');
      const mutants = findChanges(file, code).map((change) => createMutant(file, folder, code, change, count++));
      for (const same of Map.groupBy(mutants, ({id}) => id).values())
        for (const [at, mutant] of same.entries()) if (at > 0) mutant.id += `-${at + 1}`;
      return {file, folder, code, mutants};
    });
  });
}

/** @returns {Mutant} */
function createMutant(file, folder, code, change, index) {
  const before = code.slice(0, change.start).split('\n');
  const line = before.length;
  const id = `${file}:${line}:${(before.at(-1)?.length ?? 0) + 1}:${change.kind}`;
  let [start, end] = change.probe;
  // A change such as `0 → 1` is only clear with the line around it.
  if (end - start < MIN_SHOWN) {
    start = code.lastIndexOf('\n', start - 1) + 1;
    start += code.slice(start).search(/\S/);
    end += code.slice(end).search(/\n|$/);
  }
  const mutated = code.slice(start, change.start) + change.text + code.slice(change.end, end);
  return {...change, id, index, folder, file, line, ...showChange(code.slice(start, end), mutated)};
}

/** Formats both texts on one line each. Long ones start shortly before the first difference. */
function showChange(original, mutated) {
  const [before, after] = [original, mutated].map((text) => text.replaceAll(/\s+/g, ' '));
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const from = Math.max(before.length, after.length) > MAX_SHOWN ? Math.max(0, same - Math.floor(MAX_SHOWN / 2)) : 0;
  const show = (/** @type {string} */ text) => {
    const rest = text.slice(from);
    return `${from > 0 ? '…' : ''}${rest.slice(0, MAX_SHOWN)}${rest.length > MAX_SHOWN ? '…' : ''}`;
  };
  return {original: show(before), mutated: show(after)};
}

/**
 * Draws from each folder by its share of the code lines, and at most one mutant per line. The same sources and options
 * always give the same sample.
 * @param {readonly Source[]} sources
 * @param {{seed: number, size: number}} options
 * @returns {Mutant[]} in the order of files and lines
 */
export function drawSample(sources, {seed, size}) {
  const folders = [...new Set(sources.map(({folder}) => folder))];
  const lines = folders.map((folder) => sources.filter((source) => source.folder === folder).flatMap(listCodeLines));
  const total = lines.flat().length;
  const shares = lines.map((each) => (size * each.length) / total);
  const seats = shares.map(Math.floor);
  // The mutants that rounding left over go to the folders that lost most by it.
  const byLoss = shares.map((share, at) => ({at, lost: share % 1})).sort((a, b) => b.lost - a.lost || a.at - b.at);
  for (const {at} of byLoss.slice(0, size - seats.reduce((sum, each) => sum + each, 0))) seats[at] += 1;
  return folders
    .flatMap((folder, at) => drawFrom(lines[at], seats[at], createRandom(`${seed} ${folder}`)))
    .sort((a, b) => a.index - b.index);
}

/** @returns {Mutant[][]} the mutants of each line that is neither empty nor a comment */
function listCodeLines({code, mutants}) {
  const ofLine = Map.groupBy(mutants, ({line}) => line);
  return code.split('\n').flatMap((text, at) => (/^\s*(?:$|\/[/*]|\*)/.test(text) ? [] : [ofLine.get(at + 1) ?? []]));
}

/** @param {Mutant[][]} lines @param {number} size @param {() => number} random @returns {Mutant[]} */
function drawFrom(lines, size, random) {
  const rest = lines.filter((mutants) => mutants.length > 0);
  const drawn = [];
  while (drawn.length < size && rest.length > 0) {
    const [mutants] = rest.splice(Math.floor(random() * rest.length), 1);
    drawn.push(mutants[Math.floor(random() * mutants.length)]);
  }
  return drawn;
}

/**
 * @param {string} seed
 * @returns a function that returns numbers from 0 to 1
 */
function createRandom(seed) {
  let count = 0;
  return () => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32LE() / 2 ** 32;
}
