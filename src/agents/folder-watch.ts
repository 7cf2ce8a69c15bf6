/** Calls back soon after something changed in folders, which need not exist yet. Costs nothing while nothing changes. */
import {type FSWatcher, readdirSync, statSync, watch} from 'node:fs';
import path from 'node:path';

/** Milliseconds: an editor's save is several changes. */
const SETTLE = 50;

interface Target {
  readonly directory: string;
  /** Only this entry counts: the way to a folder that is not there. */
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

  /** Watches what is there by now and nothing else. */
  #arm(): void {
    const wanted = new Map(this.#folders.flatMap(targetsOf).map((target) => [keyOf(target), target]));
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
      // Gone meanwhile, or the system has no watch left: then the change is seen with the next question instead.
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
    }, SETTLE);
    this.#timer.unref();
  }
}

/** The folder and those in it; where it is missing, its nearest ancestor that is there. */
function targetsOf(folder: string): Target[] {
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

/** A folder that was deleted and made anew is another one, though its path is the same. */
function keyOf({directory, only = ''}: Target): string {
  return JSON.stringify([directory, only, statSync(directory, {throwIfNoEntry: false})?.ino]);
}

function isDirectory(folder: string): boolean {
  try {
    return statSync(folder, {throwIfNoEntry: false})?.isDirectory() ?? false;
  } catch (error) {
    // ENOTDIR on the way, or no right to look: nothing to watch there.
    if (error instanceof Error) return false;
    throw error;
  }
}
