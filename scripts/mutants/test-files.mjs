// Lists the test files of a checkout, with the modules that each of them loads and its distance from a source.
import {createHash} from 'node:crypto';
import {existsSync, globSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';

/** Tests that drive the built program like a user does. */
const END_TO_END = /^tests\/(?:cli|drivers|e2e|escape|library)\//;
/** Tests that need the network. `npm run test:outside` runs them. */
const OUTSIDE = /^tests\/outside\//;
const GLOB = /\bimport\.meta\.glob\b[^'"`;]*'(\.[^']+)'/g;
const IMPORT = /(?:^|[\s;}])(?:import|export)\s(?!type\s)[^'"`;]*?from\s*'(\.[^']+)'|\bimport\s*\(?\s*'(\.[^']+)'/g;

export class TestFiles {
  #root;
  /** @type {Map<string, string[]>} */
  #imports = new Map();
  /** @type {Map<string, Map<string, number>>} */
  #distances = new Map();
  /** @type {Map<string, string>} */
  #hashes = new Map();
  #shared = '';
  /** @type {string[]} */
  #sources;

  /** @param {string} root */
  constructor(root) {
    this.#root = root;
    this.all = globSync('tests/**/*.test.{ts,tsx}', {cwd: root})
      .filter((file) => !OUTSIDE.test(file))
      .sort();
    this.#sources = globSync('src/**/*.*', {cwd: root});
    const all = globSync(['vitest.config.ts', 'package-lock.json', 'scripts/mutants/operators.mjs'], {
      cwd: root,
    }).sort();
    this.#shared = this.#hash(all);
  }

  /** @param {string} file */
  isEndToEnd(file) {
    return END_TO_END.test(file);
  }

  /**
   * Returns the test files that load the source.
   * @param {string} source
   */
  thatLoad(source) {
    return this.all.filter((file) => this.#distancesFrom(file).has(source));
  }

  /**
   * Sorts the nearest files first: the file that mirrors the source, files that import it, files of the same folder,
   * then the quickest.
   * @param {readonly string[]} files
   * @param {string} source
   * @param {(file: string) => number} getMs
   */
  sortByDistance(files, source, getMs) {
    const mirror = source.replace(/^src/, 'tests').replace(/\.tsx?$/, '');
    const rank = (/** @type {string} */ file) => {
      if (file.startsWith(mirror)) return 0;
      if (this.#distancesFrom(file).get(source) === 1) return 1;
      return path.dirname(file) === path.dirname(mirror) ? 2 : 3;
    };
    return files.toSorted((a, b) => rank(a) - rank(b) || getMs(a) - getMs(b));
  }

  /**
   * Returns a key that changes when the file, or what it runs, changes.
   * @param {string} file
   */
  getKey(file) {
    const sources = this.isEndToEnd(file) ? this.#sources : [];
    return this.#shared + this.#hash([...new Set([...this.#distancesFrom(file).keys(), ...sources])].sort());
  }

  /** @param {readonly string[]} files */
  #hash(files) {
    const hash = createHash('sha256');
    for (const file of files) {
      const text = this.#hashes.get(file) ?? hashText(readFileSync(path.join(this.#root, file)));
      this.#hashes.set(file, text);
      hash.update(`${file} ${text}\n`);
    }
    return hash.digest('hex').slice(0, 16);
  }

  /**
   * Returns the number of imports that lead to each module that the file loads, including the file itself.
   * @param {string} file
   */
  #distancesFrom(file) {
    const known = this.#distances.get(file);
    if (known) return known;
    const distances = new Map([[file, 0]]);
    // The loop also visits entries that are added to the map meanwhile.
    for (const [each, distance] of distances)
      for (const imported of this.#importsOf(each)) if (!distances.has(imported)) distances.set(imported, distance + 1);
    this.#distances.set(file, distances);
    return distances;
  }

  /** @param {string} file */
  #importsOf(file) {
    const known = this.#imports.get(file);
    if (known) return known;
    const isCode = /\.(?:tsx?|mts|mjs|js)$/.test(file);
    const text = isCode ? readFileSync(path.join(this.#root, file), 'utf8') : '';
    const folder = path.dirname(file);
    const globs = [...text.matchAll(GLOB)].flatMap(([, pattern]) =>
      globSync(path.join(folder, pattern), {cwd: this.#root}),
    );
    const imports = [...text.matchAll(IMPORT)]
      .map(([, from, late]) => path.join(folder, from ?? late))
      .concat(globs)
      .filter((each) => existsSync(path.join(this.#root, each)) && statSync(path.join(this.#root, each)).isFile());
    this.#imports.set(file, imports);
    return imports;
  }
}

/** @param {Uint8Array} text */
function hashText(text) {
  return createHash('sha256').update(text).digest('hex');
}
