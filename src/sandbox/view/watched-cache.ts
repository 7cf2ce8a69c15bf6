/** Caches the result of a search in files and folders until one of these changes. */
import {lstatSync, type Stats, statSync} from 'node:fs';
import {tryOr} from '../../core/util/errors.ts';

interface Entry<Value> {
  readonly value: Value;
  /** Milliseconds since the epoch, before the search. */
  readonly searchedAt: number;
  /** Places on which the value depends, with their state after the search. */
  readonly watched: readonly (readonly [string, Stats | undefined])[];
}

/** Milliseconds. File systems note times so coarsely that a change this soon after another one may not show. */
const COARSEST_MS = 20;

export class WatchedCache<Value> {
  readonly #found = new Map<string, Entry<Value>>();

  /** @param most number of keys; with one more, all are forgotten */
  constructor(private readonly most: number) {}

  /** @param search returns the value and the places on which it depends; they need not exist */
  get(key: string, search: () => readonly [value: Value, watched: readonly string[]]): Value {
    const known = this.#found.get(key);
    if (known?.watched.every(([place, stats]) => isSettled(stats, known) && isSame(getStats(place), stats))) {
      return known.value;
    }
    const searchedAt = Date.now();
    const [value, watched] = search();
    if (this.#found.size >= this.most) this.#found.clear();
    const states = [...new Set(watched)].map((place) => [place, getStats(place)] as const);
    this.#found.set(key, {value, searchedAt, watched: states});
    return value;
  }
}

/** The state changes when the place is created, removed or written. For a folder it changes with a name in it. */
function getStats(place: string): Stats | undefined {
  const options = {throwIfNoEntry: false} as const;
  return tryOr(() => statSync(place, options) ?? lstatSync(place, options), undefined);
}

/** Whether a change since the search would show in the times of the place. */
function isSettled(stats: Stats | undefined, {searchedAt}: {readonly searchedAt: number}): boolean {
  return !stats || Math.max(stats.mtimeMs, stats.ctimeMs) < searchedAt - COARSEST_MS;
}

/** Compares number by number, because formatting the times as text takes longer than the system call. */
function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  if (!a || !b) return a === b;
  return a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size;
}
