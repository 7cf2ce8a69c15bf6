/**
 * Finds all repositories below some folders: each `.git`, in any spelling, and each bare repository. No folder is left
 * out, node_modules neither: git looks for a repository wherever a person or a program starts it.
 */
import {type BigIntStats, lstatSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {isGitFolder, isGitName} from '../../core/util/files/git-folder.ts';

export interface FoundRepository {
  /** The `.git`, or the folder of a bare repository. */
  readonly path: string;
  /** A `.git` that is a folder, a file, something else such as a link, or a bare repository. */
  readonly kind: 'folder' | 'file' | 'other' | 'bare';
  /** Changes when another file or folder takes its place. For a file and a link it changes with the content too. */
  readonly identity: string;
  /** When its entry was last changed; no program can set this time. Milliseconds since 1970. */
  readonly changedAt: number;
}

export interface RepositoryList {
  /** By path, the nearest first. */
  readonly found: ReadonlyMap<string, FoundRepository>;
  /** Folders that could not be looked into. */
  readonly unread: readonly string[];
  /** False when there are more than `MAX_FOLDERS`. */
  readonly isComplete: boolean;
}

/** Limit for one search, nearest first: about 80 ms where the folders are known already, and four times that at first. */
export const MAX_FOLDERS = 20_000;
/** The clock of file systems ticks this coarsely: a folder may change twice in one tick, in milliseconds. */
const CLOCK_TICK_MS = 50;

interface KnownFolder {
  readonly inode: bigint;
  readonly changedNs: bigint;
  /** When it was read, milliseconds since 1970. */
  readonly readAt: number;
  /** Names of the folders in it. */
  readonly folders: readonly string[];
  /** Names of each `.git` in it. */
  readonly git: readonly string[];
  readonly looksBare: boolean;
  /** It has a name that is not UTF-8, so that what lies there cannot be opened by name. */
  readonly hasOddName: boolean;
}

/** Reads again only folders that changed since the last search: a new entry changes the time of its folder. */
export class RepositoryFinder {
  #known = new Map<string, KnownFolder>();

  /** @param roots absolute, links resolved. Never throws. */
  find(roots: readonly string[]): RepositoryList {
    const found = new Map<string, FoundRepository>();
    const unread: string[] = [];
    const seen = new Map<string, KnownFolder>();
    const folders = [...roots];
    for (let at = 0; at < folders.length && at < MAX_FOLDERS; at += 1) {
      const folder = folders[at]!;
      // One root may lie in another.
      if (seen.has(folder)) continue;
      try {
        const entries = this.#read(folder);
        seen.set(folder, entries);
        if (entries.hasOddName) unread.push(folder);
        for (const name of entries.folders) folders.push(path.join(folder, name));
        for (const name of entries.git) addEntry(path.join(folder, name), found);
        if (entries.looksBare && !found.has(folder) && isGitFolder(folder)) addBare(folder, found);
      } catch {
        unread.push(folder);
      }
    }
    this.#known = seen;
    return {found, unread, isComplete: folders.length <= MAX_FOLDERS};
  }

  #read(folder: string): KnownFolder {
    const {ino: inode, ctimeNs: changedNs, ctimeMs} = lstatSync(folder, {bigint: true});
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
      folders: entries.filter((entry) => entry.isDirectory()).map(({name}) => name),
      git: entries.map(({name}) => name).filter(isGitName),
      looksBare: names.has('head') && (names.has('commondir') || (names.has('objects') && names.has('refs'))),
      hasOddName: entries.some((entry) => entry.isDirectory() && entry.name.includes('\ufffd')),
    };
  }
}

function addEntry(entry: string, found: Map<string, FoundRepository>): void {
  const stat = lstatSync(entry, {bigint: true, throwIfNoEntry: false});
  if (stat === undefined) return;
  const kind = stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
  found.set(entry, describe(entry, kind, stat));
}

function addBare(folder: string, found: Map<string, FoundRepository>): void {
  found.set(folder, describe(folder, 'bare', lstatSync(folder, {bigint: true})));
}

function describe(
  place: string,
  kind: FoundRepository['kind'],
  {dev, ino, ctimeNs, ctimeMs}: BigIntStats,
): FoundRepository {
  const changes = kind === 'file' || kind === 'other' ? ` ${ctimeNs}` : '';
  return {path: place, kind, identity: `${dev} ${ino}${changes}`, changedAt: Number(ctimeMs)};
}
