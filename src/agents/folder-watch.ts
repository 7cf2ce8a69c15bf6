/**
 * Tells of changes in folders, which need not exist yet. The system reports them, so a session that waits does nothing.
 * Of a file system that reports nothing, such as one of the network, no change is told.
 */
import {type FSWatcher, statSync, watch} from 'node:fs';
import path from 'node:path';
import {getErrorCode, tryOr} from '../core/util/errors.ts';

/** Milliseconds from a change until it is told. A program that writes a file first empties it. */
const SETTLE_MS = 200;

export class FolderWatch {
  readonly #onChange: () => void;
  /** By place and inode, since a folder may be removed and made again. */
  readonly #watchers = new Map<string, FSWatcher>();
  #watched = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these folders and no others. It does not keep the process alive. */
  set(folders: readonly string[]): void {
    const wanted = folders.join('\0');
    if (wanted === this.#watched) return;
    this.#watched = wanted;
    const places = findPlaces(folders);
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
        if (name === null || names.length === 0 || names.includes(name)) this.#changed();
      });
      watcher.on('error', () => this.#changed());
      this.#watchers.set(key, watcher);
      // What changed before the watch began is seen then.
      this.#changed();
    } catch (error) {
      // The folder was removed meanwhile, or the user watches as many as the system allows.
      if (getErrorCode(error) === undefined) throw error;
    }
  }

  #changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#watched = '';
      this.#onChange();
    }, SETTLE_MS).unref();
  }
}

interface Place {
  readonly folder: string;
  /** Entries that matter. None means all. */
  readonly names: readonly string[];
}

/** Finds for each folder where to watch: in it, or in the nearest one above it that exists, where it would appear. */
function findPlaces(folders: readonly string[]): ReadonlyMap<string, Place> {
  const named = new Map<string, {readonly inode: string; readonly names: string[]}>();
  const places = new Map<string, Place>();
  for (const folder of folders) {
    let [place, name] = [folder, ''];
    let inode = findInode(place);
    while (inode === undefined && place !== path.dirname(place)) {
      [place, name] = [path.dirname(place), path.basename(place)];
      inode = findInode(place);
    }
    if (inode === undefined) continue;
    if (name === '') places.set(`${inode} ${place}`, {folder: place, names: []});
    // An event about the folder itself has its own name.
    else named.set(place, {inode, names: [...(named.get(place)?.names ?? [path.basename(place)]), name]});
  }
  for (const [folder, {inode, names}] of named) places.set(`${inode} ${folder} ${names.join('/')}`, {folder, names});
  return places;
}

function findInode(folder: string): string | undefined {
  const found = tryOr(() => statSync(folder, {throwIfNoEntry: false}), undefined);
  return found?.isDirectory() ? `${found.dev}:${found.ino}` : undefined;
}
