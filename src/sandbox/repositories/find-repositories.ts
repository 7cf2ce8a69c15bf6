/**
 * Finds all repositories below some folders: each `.git`, in any spelling, and each bare repository. It searches every
 * folder, even node_modules, because git looks for a repository wherever a person or a program starts it.
 */
import {type Dirent, lstatSync, readdirSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import {tryOr} from '../../core/util/errors.ts';
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
/** Limit of examined entries in a git folder. Links beyond it are not found. */
const MAX_ENTRIES = 50_000;
/** Git writes below these folders. In `objects` only the first level has folders. Other places do not need links. */
const DEEP = ['logs', 'refs', 'rebase-merge', 'rebase-apply', 'sequencer', 'worktrees'];
/** Clocks of file systems tick this coarsely, in milliseconds. A folder may change twice in one tick. */
const CLOCK_TICK_MS = 50;

interface KnownFolder {
  readonly inode: number;
  /** When a name in it was last changed, in milliseconds since 1970, to less than a microsecond. */
  readonly changedAt: number;
  /** When the folder was read, in milliseconds since 1970. */
  readonly readAt: number;
  /** Number of entries. */
  readonly size: number;
  /** Absolute paths of the folders in this folder. */
  readonly folders: readonly string[];
  /** Absolute paths of the links in this folder. */
  readonly links: readonly string[];
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

  /**
   * Returns the links in those places of a git folder where git writes, with their targets. Folders that cannot be read
   * are left out, since git cannot use them either.
   */
  listLinks(gitFolder: string): ReadonlyMap<string, string> {
    const links = new Map<string, string>();
    let left = MAX_ENTRIES;
    const look = (folder: string, isDeep: boolean) => {
      const entries = left < 0 ? undefined : tryOr(() => this.#read(folder), undefined);
      if (!entries) return;
      this.#known.set(folder, entries);
      left -= entries.size;
      for (const link of entries.links) {
        const target = tryOr(() => readlinkSync(link), '');
        links.set(link, target);
      }
      for (const inner of entries.folders) {
        const name = path.basename(inner);
        if (isDeep || (folder === gitFolder && DEEP.includes(name))) look(inner, true);
        else if (folder === gitFolder && name === 'objects') look(inner, false);
      }
    };
    look(gitFolder, false);
    return links;
  }

  #read(folder: string): KnownFolder {
    const {ino: inode, ctimeMs: changedAt} = lstatSync(folder);
    const known = this.#known.get(folder);
    if (known?.inode === inode && known.changedAt === changedAt && changedAt + CLOCK_TICK_MS < known.readAt) {
      return known;
    }
    const readAt = Date.now();
    const entries = readdirSync(folder, {withFileTypes: true});
    const names = new Set(entries.map(({name}) => name.toLowerCase()));
    const getPath = ({name}: Dirent) => path.join(folder, name);
    return {
      inode,
      changedAt,
      readAt,
      size: entries.length,
      folders: entries.filter((entry) => entry.isDirectory()).map(getPath),
      links: entries.filter((entry) => entry.isSymbolicLink()).map(getPath),
      git: entries.filter(({name}) => isGitName(name)).map(getPath),
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
