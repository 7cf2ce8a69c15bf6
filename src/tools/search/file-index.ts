/**
 * Finds files by parts of their names, for a person who types. Files are listed at the first search, and again when the
 * list is old. As in the search tools, ignored files, `.git` and places of keys are left out.
 */
import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Prepared as Entry} from 'fuzzysort';
import {runRipgrep} from '../../core/util/ripgrep.ts';

/** Number of files that are searched before other work gets its turn, which takes about a millisecond. */
const SLICE = 500;
/** Age in milliseconds above which the list is made again. */
const FRESH_MS = 2_000;
/** Number of files and folders from which on an old list serves while a new one is made. */
const LARGE = 20_000;
const MAX_MATCHES = 30;
const MAX_FILES = 100_000;

type Fuzzysort = typeof import('fuzzysort').default;

interface Match {
  readonly path: string;
  readonly score: number;
}

export class FileIndex {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #query = '';
  #listing: Promise<void> | undefined;
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(
    folder: string,
    env: Readonly<Record<string, string>>,
    private readonly large = LARGE,
  ) {
    this.#folder = folder;
    this.#env = env;
  }

  /**
   * @returns paths relative to the folder, best first; folders end with a slash. Empty when another search began
   * meanwhile.
   * @throws MiniCcError `RIPGREP` when the files cannot be listed
   */
  async find(query: string): Promise<readonly string[]> {
    this.#query = query;
    const {default: fuzzysort} = await import('fuzzysort');
    const isOld = performance.now() - this.#listedAt > FRESH_MS;
    const listing = isOld ? this.#listOnce(fuzzysort.prepare) : undefined;
    if (this.#entries.size >= this.large) listing?.catch(() => undefined);
    else await listing;
    const found = await this.#search(query, fuzzysort);
    if (found.length > 0 || !listing || query !== this.#query) return found;
    await listing;
    return this.#search(query, fuzzysort);
  }

  async #search(query: string, fuzzysort: Fuzzysort): Promise<readonly string[]> {
    const entries = [...this.#entries.values()];
    let found: Match[] = [];
    for (let start = 0; start < entries.length; start += SLICE) {
      await nextTurn();
      if (query !== this.#query) return [];
      const slice = entries.slice(start, start + SLICE);
      // For an empty query, paths near the top come first.
      const matches =
        query === ''
          ? slice.map(({target}) => ({path: target, score: -getDepth(target)}))
          : // A match is any text with the letters in the right order. By default the letters must be adjacent.
            fuzzysort
              .go(query, slice, {limit: MAX_MATCHES, threshold: 0})
              .map(({target, score}) => ({path: target, score}));
      found = [...found, ...matches].sort(compare).slice(0, MAX_MATCHES);
    }
    return found.map(({path}) => path);
  }

  async #listOnce(prepare: (path: string) => Entry): Promise<void> {
    this.#listing ??= this.#list(prepare);
    try {
      await this.#listing;
    } finally {
      this.#listing = undefined;
    }
  }

  async #list(prepare: (path: string) => Entry): Promise<void> {
    const files = await listFiles(this.#folder, this.#env);
    const entries = new Map<string, Entry>();
    const add = (path: string) => {
      if (!entries.has(path)) entries.set(path, this.#entries.get(path) ?? prepare(path));
    };
    for (const [index, file] of files.entries()) {
      for (let slash = file.indexOf('/'); slash >= 0; slash = file.indexOf('/', slash + 1)) {
        add(file.slice(0, slash + 1));
      }
      add(file);
      if (index % SLICE === SLICE - 1) await nextTurn();
    }
    this.#entries = entries;
    this.#listedAt = performance.now();
  }
}

/** @returns paths relative to the folder, in no order. @throws MiniCcError `RIPGREP` when they cannot be listed */
export async function listFiles(folder: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const files: string[] = [];
  await runRipgrep(
    {
      args: ['--files', '--null'],
      cwd: folder,
      paths: ['.'],
      separator: '\0',
      onRecord: (record) => files.push(record.replace(/^\.\//, '')) < MAX_FILES,
    },
    {workspace: {env}, signal: new AbortController().signal},
  );
  return files;
}

function getDepth(path: string): number {
  return path.slice(0, -1).split('/').length;
}

function compare(a: Match, b: Match): number {
  return b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1);
}
