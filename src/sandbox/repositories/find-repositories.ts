/**
 * Finds all repositories below some folders: each `.git`, in any spelling, and each bare repository. It searches every
 * folder, even node_modules, because git looks for a repository wherever a person or a program starts it.
 */
import {lstatSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {isGitFolder, isGitName} from '../../core/util/files/git-folder.ts';

export interface FoundRepository {
  /** Path of the `.git`, or of the folder of a bare repository. */
  readonly path: string;
  /**
   * Says whether it is a `.git` folder, a `.git` file, a `.git` of another kind such as a link, or a bare repository.
   */
  readonly kind: 'folder' | 'file' | 'other' | 'bare';
  /** Changes when another file or folder takes the place. For a file and a link it also changes with the content. */
  readonly identity: string;
  /** When the entry was last changed, in milliseconds since 1970. No program can set this time. */
  readonly changedAt: number;
}

export interface RepositoryList {
  /** Repositories by path, nearest first. */
  readonly found: ReadonlyMap<string, FoundRepository>;
  /** Folders that could not be read. */
  readonly unread: readonly string[];
  /** False when there are more than `MAX_FOLDERS`. */
  readonly isComplete: boolean;
}

/**
 * Limit for one search, nearest folders first. It takes about 80 ms for known folders, and four times that at first.
 */
export const MAX_FOLDERS = 20_000;
/** Clocks of file systems tick this coarsely, in milliseconds. A folder may change twice in one tick. */
const CLOCK_TICK_MS = 50;
const EXACT = {bigint: true} as const;

interface KnownFolder {
  readonly inode: bigint;
  readonly changedNs: bigint;
  /** When the folder was read, in milliseconds since 1970. */
  readonly readAt: number;
  /** Absolute paths of the folders in this folder. */
  readonly folders: readonly string[];
  /** Absolute paths of each `.git` in this folder. */
  readonly git: readonly string[];
  readonly looksBare: boolean;
  /** Whether a folder in it has a name that is not UTF-8, so that its content cannot be opened by name. */
  readonly hasOddName: boolean;
}

/** Reads only folders again that changed since the last search, because a new entry changes the time of its folder. */
export class RepositoryFinder {
  #known = new Map<string, KnownFolder>();

  /** @param roots absolute, with links resolved. Never throws. */
  find(roots: readonly string[]): RepositoryList {
    const found = new Map<string, FoundRepository>();
    const unread: string[] = [];
    const seen = new Map<string, KnownFolder>();
    const folders = [...roots];
    for (let at = 0; at < folders.length && at < MAX_FOLDERS; at += 1) {
      const folder = folders[at]!;
      // One root may be inside another.
      if (seen.has(folder)) continue;
      try {
        const entries = this.#read(folder);
        seen.set(folder, entries);
        if (entries.hasOddName) unread.push(folder);
        for (const place of entries.folders) folders.push(place);
        for (const place of entries.git) add(place, found, false);
        if (entries.looksBare && !found.has(folder) && isGitFolder(folder)) add(folder, found, true);
      } catch {
        unread.push(folder);
      }
    }
    this.#known = seen;
    return {found, unread, isComplete: folders.length <= MAX_FOLDERS};
  }

  #read(folder: string): KnownFolder {
    const {ino: inode, ctimeNs: changedNs, ctimeMs} = lstatSync(folder, EXACT);
    const known = this.#known.get(folder);
    if (known?.inode === inode && known.changedNs === changedNs && Number(ctimeMs) + CLOCK_TICK_MS < known.readAt) {
      return known;
    }
    const readAt = Date.now();
    const entries = readdirSync(folder, {withFileTypes: true});
    const names = new Set(entries.map(({name}) => name.toLowerCase()));
    return {
      inode,
      changedNs,
      readAt,
      folders: entries.filter((entry) => entry.isDirectory()).map(({name}) => path.join(folder, name)),
      git: entries.filter(({name}) => isGitName(name)).map(({name}) => path.join(folder, name)),
      looksBare: names.has('head') && (names.has('commondir') || (names.has('objects') && names.has('refs'))),
      hasOddName: entries.some((entry) => entry.isDirectory() && entry.name.includes('\ufffd')),
    };
  }
}

/** @param isBare whether the place is the folder of a bare repository instead of a `.git` */
function add(place: string, found: Map<string, FoundRepository>, isBare: boolean): void {
  const stat = lstatSync(place, {bigint: true, throwIfNoEntry: false});
  if (stat === undefined) return;
  const kind = isBare ? 'bare' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
  const changes = kind === 'file' || kind === 'other' ? ` ${stat.ctimeNs}` : '';
  const identity = `${stat.dev} ${stat.ino}${changes}`;
  found.set(place, {path: place, kind, identity, changedAt: Number(stat.ctimeMs)});
}
