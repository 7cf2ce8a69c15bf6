/**
 * Finds files by parts of their names, for a person who types. Files are listed at the first search, and again when the
 * list is old. As in the search tools, ignored files, `.git` and places of keys are left out.
 */
import {setImmediate as nextTurn} from 'node:timers/promises';
import {runRipgrep} from '../../core/util/ripgrep.ts';

/** Number of files that are listed or searched before other work gets its turn, which takes about a millisecond. */
const SLICE = 5_000;
/** Number of the likeliest matches that are sorted. */
const MAX_CANDIDATES = 1_000;
/** Age in milliseconds above which the list is made again. */
const FRESH_MS = 2_000;
/** Number of files and folders from which on an old list serves while a new one is made. */
const LARGE = 20_000;
const MAX_MATCHES = 30;
const MAX_FILES = 100_000;

/** A file, or a folder, whose path ends with a slash. */
interface Entry {
  readonly path: string;
  /** The path without upper case and accents. */
  readonly plain: string;
}

export class FileIndex {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  /** Entries with shorter paths come first. */
  #entries: readonly Entry[] = [];
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
    if (this.#isOld && this.#entries.length < this.large) await this.#listOnce();
    const found = await this.#search(query);
    if (!this.#isOld || query !== this.#query) return found;
    // The list is made after the search, since it would slow it down.
    const listing = this.#listOnce();
    if (found.length === 0) {
      await listing;
      return this.#search(query);
    }
    listing.catch(() => undefined);
    return found;
  }

  get #isOld(): boolean {
    return performance.now() - this.#listedAt > FRESH_MS;
  }

  async #search(query: string): Promise<readonly string[]> {
    const {default: fuzzysort} = await import('fuzzysort');
    const entries = this.#entries;
    const words = toPlain(query).split(/\s+/);
    const likely = new Likeliest<Entry>(query === '' ? MAX_MATCHES : MAX_CANDIDATES);
    for (let start = 0; start < entries.length && !likely.isFull; start += SLICE) {
      await nextTurn();
      if (query !== this.#query) return [];
      for (const entry of entries.slice(start, start + SLICE)) likely.add(entry, getRank(entry, words));
    }
    const paths = likely.list().map(({path}) => path);
    if (query === '') return paths;
    // A match is any text with the letters in the right order. By default the letters must be adjacent.
    const matches = fuzzysort.go(query, paths.map(fuzzysort.prepare), {threshold: 0, limit: MAX_CANDIDATES});
    return matches
      .toSorted((a, b) => b.score - a.score || compare(a.target, b.target))
      .slice(0, MAX_MATCHES)
      .map(({target}) => target);
  }

  async #listOnce(): Promise<void> {
    this.#listing ??= this.#list();
    try {
      await this.#listing;
    } finally {
      this.#listing = undefined;
    }
  }

  async #list(): Promise<void> {
    const files = await listFiles(this.#folder, this.#env);
    const folders = new Set<string>();
    const byLength: Entry[][] = [];
    const add = (path: string) => {
      byLength[path.length] ??= [];
      byLength[path.length]!.push({path, plain: toPlain(path)});
    };
    let folder = '';
    for (const [index, file] of files.entries()) {
      const isBeside = file.startsWith(folder) && file.lastIndexOf('/') === folder.length - 1;
      for (let at = isBeside ? 0 : file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
        if (folders.has(file.slice(0, at + 1))) break;
        folders.add(file.slice(0, at + 1));
        add(file.slice(0, at + 1));
      }
      if (!isBeside) folder = file.slice(0, file.lastIndexOf('/') + 1);
      add(file);
      if (index % SLICE === SLICE - 1) await nextTurn();
    }
    this.#entries = byLength.flat();
    this.#listedAt = performance.now();
  }
}

/** @returns paths relative to the folder, those of each folder in their order. @throws MiniCcError `RIPGREP` when they cannot be listed */
export async function listFiles(folder: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const files: string[] = [];
  await runRipgrep(
    {
      args: ['--files', '--null', '--sort=path'],
      cwd: folder,
      paths: ['.'],
      separator: '\0',
      onRecord: (record) => files.push(record.slice('./'.length)) < MAX_FILES,
    },
    {workspace: {env}, signal: new AbortController().signal},
  );
  return files;
}

/** Collects the first items of the lowest ranks, up to a number. */
class Likeliest<T> {
  readonly #most: number;
  readonly #byRank: T[][] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** True when no item that is added later can be among them. */
  get isFull(): boolean {
    return this.#byRank[0]?.length === this.#most;
  }

  add(item: T, rank: number): void {
    if (rank === NO_MATCH) return;
    this.#byRank[rank] ??= [];
    const items = this.#byRank[rank];
    if (items.length < this.#most) items.push(item);
  }

  list(): readonly T[] {
    return this.#byRank.flat().slice(0, this.#most);
  }
}

const NO_MATCH = -1;

/**
 * Returns 0 where the name begins with all words, 1 where the path contains them, and 2 where it has their letters in
 * order. Without words, the rank is the number of folders above.
 */
function getRank({plain}: Entry, words: readonly string[]): number {
  const name = plain.lastIndexOf('/', plain.length - 2) + 1;
  if (words[0] === '' && words.length === 1) return plain.slice(0, name).split('/').length - 1;
  let rank = 0;
  for (const word of words) {
    if (plain.startsWith(word, name)) continue;
    if (plain.includes(word)) rank = Math.max(rank, 1);
    else if (hasLetters(plain, word)) rank = 2;
    else return NO_MATCH;
  }
  return rank;
}

function hasLetters(text: string, letters: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

function toPlain(text: string): string {
  const isAscii = /^[\x00-\x7f]*$/.test(text);
  return (isAscii ? text : text.normalize('NFD').replaceAll(/\p{M}/gu, '')).toLowerCase();
}

function compare(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}
