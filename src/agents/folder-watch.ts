/** Watches folders, which need not exist yet, and calls back soon after a change in one of them. */
import {type FSWatcher, readdirSync, statSync, watch} from 'node:fs';
import path from 'node:path';
import {statFollowingLinks} from './folders.ts';

/** Milliseconds to wait after a change, because an editor makes several changes when it saves a file. */
const SETTLE_MS = 50;

interface Target {
  readonly directory: string;
  /** The only entry whose changes matter: it is on the path to a folder that does not exist yet. */
  readonly only?: string;
}

export class FolderWatch {
  readonly #folders: readonly string[];
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(folders: readonly string[], onChange: () => void) {
    this.#folders = folders;
    this.#onChange = onChange;
  }

  start(): void {
    this.#running = true;
    this.#arm();
  }

  close(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #arm(): void {
    const wanted = new Map(this.#folders.flatMap(listTargets).map((target) => [getTargetKey(target), target]));
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
    for (const [key, target] of wanted) if (!this.#watchers.has(key)) this.#open(key, target);
  }

  #open(key: string, {directory, only}: Target): void {
    try {
      const watcher = watch(directory, {persistent: false}, (_event, name) => {
        if (only === undefined || name === null || name === only) this.#changed();
      });
      watcher.on('error', () => this.#drop(key));
      this.#watchers.set(key, watcher);
    } catch (error) {
      // The folder was deleted, or the system has no watch left. The next request for the agents finds the change
      // instead.
      if (!(error instanceof Error)) throw error;
    }
  }

  #drop(key: string): void {
    this.#watchers.get(key)?.close();
    this.#watchers.delete(key);
  }

  #changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#running) return;
      this.#arm();
      this.#onChange();
    }, SETTLE_MS);
    this.#timer.unref();
  }
}

/** Lists the folder and its subfolders. If the folder does not exist, lists its nearest existing ancestor. */
function listTargets(folder: string): Target[] {
  if (isDirectory(folder)) return [{directory: folder}, ...subfolders(folder).map((directory) => ({directory}))];
  let only = folder;
  while (path.dirname(only) !== only) {
    const directory = path.dirname(only);
    if (isDirectory(directory)) return [{directory, only: path.basename(only)}];
    only = directory;
  }
  return [];
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, {withFileTypes: true, recursive: true})
      .filter((entry) => entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name));
  } catch (error) {
    if (error instanceof Error) return [];
    throw error;
  }
}

/** The key contains the inode, because a folder that was deleted and created again has the same path. */
function getTargetKey({directory, only = ''}: Target): string {
  return JSON.stringify([directory, only, statSync(directory, {throwIfNoEntry: false})?.ino]);
}

/** Returns false also for a file on the path (ENOTDIR) and without permission, because nothing can be watched there. */
function isDirectory(folder: string): boolean {
  return statFollowingLinks(folder)?.isDirectory() ?? false;
}
