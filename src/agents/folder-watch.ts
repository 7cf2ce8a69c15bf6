/**
 * Reports changes in folders, which may not exist yet. The system reports them to mini-cc, which does nothing while
 * nothing changes. Some file systems, such as those of a network, report nothing, so changes there are not reported.
 */
import {type FSWatcher, statSync, watch} from 'node:fs';
import path from 'node:path';
import {getErrorCode, tryOr} from '../core/util/errors.ts';

/** Milliseconds from a change until it is reported. A program that writes a file first empties it. */
const SETTLE_MS = 200;
/**
 * Number of folders above each folder that are watched for its name, because it, or a folder around it, may be moved or
 * replaced.
 */
const LEVELS = 2;

export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly onChange: () => void) {}

  /** Watches these folders or files and no others. It does not keep the process alive. */
  set(paths: readonly string[]): void {
    const places = findPlaces(paths);
    for (const [key, watcher] of this.#watchers) {
      if (places.has(key)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
    for (const [key, place] of places) {
      if (!this.#watchers.has(key)) this.#open(key, place);
    }
  }

  close(): void {
    this.set([]);
    clearTimeout(this.#timer);
  }

  #open(key: string, {folder, names}: Place): void {
    try {
      const watcher = watch(folder, {persistent: false}, (_, name) => {
        if (name === null || names === ALL || names.has(name)) this.#changed();
      });
      watcher.on('error', () => this.#changed());
      this.#watchers.set(key, watcher);
      // This also finds what changed before the watch began.
      this.#changed();
    } catch (error) {
      // The folder was removed meanwhile, or the user watches as many as the system allows.
      if (getErrorCode(error) === undefined) throw error;
    }
  }

  #changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.onChange, SETTLE_MS).unref();
  }
}

const ALL = 'all';

interface Place {
  readonly folder: string;
  /** Distinguishes it from a folder that was removed from there. */
  readonly id: string;
  /** Entries that matter. */
  readonly names: typeof ALL | ReadonlySet<string>;
}

/**
 * Finds where to watch: in each folder, and above it for its name, up to a folder that exists.
 * @returns places by a key that differs when the folder or its names do
 */
function findPlaces(paths: readonly string[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const each of paths) {
    let [folder, names]: [string, Place['names']] = [each, ALL];
    for (let level = 0; ; level++) {
      const id = identifyFolder(folder);
      if (id !== undefined) {
        const known = places.get(folder)?.names ?? new Set<string>();
        const both = names === ALL || known === ALL ? ALL : new Set([...known, ...names]);
        places.set(folder, {folder, id, names: both});
      }
      const parent = path.dirname(folder);
      if ((level >= LEVELS && id !== undefined) || parent === folder) break;
      [folder, names] = [parent, new Set([path.basename(folder)])];
    }
  }
  const describe = ({id, folder, names}: Place) => [id, folder, ...(names === ALL ? [] : names)].join('\0');
  return new Map([...places.values()].map((place) => [describe(place), place]));
}

function identifyFolder(folder: string): string | undefined {
  const found = tryOr(() => statSync(folder, {throwIfNoEntry: false}), undefined);
  // A new folder may get the inode of a removed one.
  return found?.isDirectory() ? `${found.dev}:${found.ino}:${found.birthtimeMs}` : undefined;
}
