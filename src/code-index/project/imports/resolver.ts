/** Defines what the import rules of all languages share. */
import {posix} from 'node:path';
import type {RawImport} from '../../syntax/file-facts.ts';
import type {IndexedEntry} from '../read-entry.ts';

/** Returns the files of the index that an import names, relative to the root; undefined stands for none. */
export type ImportResolver = (from: IndexedEntry, imported: RawImport) => readonly (string | undefined)[];

/** Finds files by the end of their path: `b/c.h` finds `a/b/c.h`. */
export class PathEnds {
  readonly #byName: ReadonlyMap<string, readonly string[]>;

  constructor(files: Iterable<string>) {
    this.#byName = Map.groupBy(files, (file) => posix.basename(file));
  }

  /** Finds the file whose path ends with `end` and shares the most folders with `from`. */
  find(end: string, from: string): string | undefined {
    const plain = end.replace(/^(?:\.{0,2}\/)+/, '');
    const all = this.#byName.get(posix.basename(plain)) ?? [];
    const matches = all.filter((file) => file === plain || file.endsWith(`/${plain}`));
    const near = (file: string) => countCommon(file, from);
    return matches.toSorted((a, b) => near(b) - near(a) || a.length - b.length || (a < b ? -1 : 1))[0];
  }
}

/** Returns what `find` finds for the first item for which it finds something. */
export function findFirst<T, R>(items: readonly T[], find: (item: T, at: number) => R | undefined): R | undefined {
  for (const [at, item] of items.entries()) {
    const found = find(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function countCommon(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  let count = 0;
  while (count < left.length && left[count] === right[count]) count += 1;
  return count;
}
