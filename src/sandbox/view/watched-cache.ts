/** Keeps what was found in files and folders until one of these changes. */
import {lstatSync, type Stats, statSync} from 'node:fs';
import {tryOr} from '../../core/util/errors.ts';

interface Entry<Value> {
  readonly value: Value;
  /** Places on which the value depends, with their state then. */
  readonly watched: readonly (readonly [string, Stats | undefined])[];
}

export class WatchedCache<Value> {
  readonly #found = new Map<string, Entry<Value>>();

  /** @param most number of keys; with one more, all are forgotten */
  constructor(private readonly most: number) {}

  /** @param search returns the value and the places on which it depends; they need not exist */
  get(key: string, search: () => readonly [value: Value, watched: readonly string[]]): Value {
    const known = this.#found.get(key);
    if (known?.watched.every(([place, stats]) => isSame(getStats(place), stats))) return known.value;
    const [value, watched] = search();
    if (this.#found.size >= this.most) this.#found.clear();
    this.#found.set(key, {value, watched: [...new Set(watched)].map((place) => [place, getStats(place)])});
    return value;
  }
}

/** The state changes when the place is created, removed or written. For a folder it changes with a name in it. */
function getStats(place: string): Stats | undefined {
  const options = {throwIfNoEntry: false} as const;
  return tryOr(() => statSync(place, options) ?? lstatSync(place, options), undefined);
}

/** Compares number by number, because formatting the times as text takes longer than the system call. */
function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  if (!a || !b) return a === b;
  return a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size;
}
