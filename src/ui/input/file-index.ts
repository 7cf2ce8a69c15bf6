/**
 * The files that `@` completes. They are listed when the first `@` is typed and again when the list is old, in the
 * background. A search goes through them in slices, so that a key never waits for it.
 */

import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Prepared as Entry} from 'fuzzysort';

/** What was found for a query, best first. Folders end with a slash. */
export interface FileMatches {
  readonly query: string;
  readonly paths: readonly string[];
}

export const NO_MATCHES: FileMatches = {query: '', paths: []};

/** Files that are prepared or searched before other work gets its turn: some milliseconds. */
const SLICE = 500;
/** An older list is made anew at the next key. Milliseconds. */
const FRESH_MS = 2_000;
const MAX_MATCHES = 30;

type Fuzzysort = typeof import('fuzzysort').default;
type Match = {readonly path: string; readonly score: number};

export class FileIndex {
  readonly #list: () => Promise<readonly string[]>;
  readonly #onMatches: (matches: FileMatches) => void;
  readonly #onError: (error: unknown) => void;
  #fuzzysort: Fuzzysort | undefined;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #query = '';
  #isListing = false;
  #listedAt = Number.NEGATIVE_INFINITY;

  /** @param onMatches gets what was found for the newest query, also when the list has changed. */
  constructor(
    list: () => Promise<readonly string[]>,
    onMatches: (matches: FileMatches) => void,
    onError: (error: unknown) => void,
  ) {
    this.#list = list;
    this.#onMatches = onMatches;
    this.#onError = onError;
  }

  /** Searches in the background. A newer search ends an older one. */
  search(query: string): void {
    this.#query = query;
    if (this.#entries.size > 0) void this.#searchSlices(query, this.#entries);
    if (this.#isListing || performance.now() - this.#listedAt < FRESH_MS) return;
    this.#isListing = true;
    this.#relist()
      .catch(this.#onError)
      .finally(() => {
        this.#isListing = false;
        this.#listedAt = performance.now();
      });
  }

  /** Searches at once, for a key that takes what is found. */
  searchNow(query: string): FileMatches {
    this.#query = query;
    const matches = {query, paths: getBest(this.#find(query, [...this.#entries.values()]))};
    this.#onMatches(matches);
    return matches;
  }

  async #relist(): Promise<void> {
    const files = await this.#list();
    this.#fuzzysort ??= (await import('fuzzysort')).default;
    const entries = new Map<string, Entry>();
    for (const [index, file] of files.entries()) {
      for (let slash = file.indexOf('/'); slash >= 0; slash = file.indexOf('/', slash + 1)) {
        this.#addEntry(entries, file.slice(0, slash + 1));
      }
      this.#addEntry(entries, file);
      if (index % SLICE === SLICE - 1) await nextTurn();
    }
    this.#entries = entries;
    await this.#searchSlices(this.#query, entries);
  }

  #addEntry(entries: Map<string, Entry>, path: string): void {
    if (!entries.has(path)) entries.set(path, this.#entries.get(path) ?? this.#fuzzysort!.prepare(path));
  }

  async #searchSlices(query: string, entries: ReadonlyMap<string, Entry>): Promise<void> {
    const all = [...entries.values()];
    let found: Match[] = [];
    for (let start = 0; start < all.length; start += SLICE) {
      await nextTurn();
      if (query !== this.#query || entries !== this.#entries) return;
      found = [...found, ...this.#find(query, all.slice(start, start + SLICE))].sort(compare).slice(0, MAX_MATCHES);
    }
    this.#onMatches({query, paths: getBest(found)});
  }

  #find(query: string, entries: readonly Entry[]): Match[] {
    // Nothing is typed yet: what lies on top comes first.
    if (query === '') return entries.map(({target}) => ({path: target, score: -getDepth(target)}));
    const found = this.#fuzzysort?.go(query, entries, {limit: MAX_MATCHES}) ?? [];
    return found.map(({target, score}) => ({path: target, score}));
  }
}

function getDepth(path: string): number {
  return path.slice(0, -1).split('/').length;
}

function compare(a: Match, b: Match): number {
  return b.score - a.score || a.path.length - b.path.length;
}

function getBest(found: readonly Match[]): readonly string[] {
  return [...found]
    .sort(compare)
    .slice(0, MAX_MATCHES)
    .map(({path}) => path);
}
