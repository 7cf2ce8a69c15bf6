/**
 * Copies the tracked and untracked files of a checkout as they are now, byte by byte; ignored files are left out. What git
 * has stored, and what did not change since, git writes: it takes a fifth of the time.
 */
import {constants, lstatSync, rmSync} from 'node:fs';
import {copyFile, lstat, mkdir, readdir, readlink, realpath, symlink} from 'node:fs/promises';
import path from 'node:path';
import {getErrorMessage, ignoreMissing} from '../../core/util/errors.ts';
import {isGitName} from '../../core/util/files/git-folder.ts';
import {isInside} from '../../core/util/paths.ts';
import {hasStat, type IndexEntry} from '../trees/git-index.ts';
import {readProjectIndex} from '../trees/project-index.ts';
import {gitOrThrow, LIMIT_MS, type Repository} from '../trees/repository.ts';

/** Files that are copied at the same time. */
const AT_ONCE = 64;
const MAX_NAMED = 5;
/** With fewer files, the calls of git take longer than copying. */
const MIN_STORED = 1_000;

interface Copied {
  /** Tracked files that were left out, although they are not deleted. */
  readonly leftOut: readonly string[];
  /** Lines for the user about files that were left out although git does not ignore them. */
  readonly notes: readonly string[];
}

export type WriteStored = (entries: readonly IndexEntry[]) => Promise<void>;

interface Listed {
  readonly path: string;
  readonly tracked: boolean;
  /** Not checked out, because of sparse checkout. */
  readonly skipped: boolean;
}

/**
 * @param hidden absolute paths of folders and files that must not be in the copy
 * @param writeStored writes these files as git stored them into `to`; throws when it could not write all
 * @throws Error when the copy cannot be written, and the signal's reason when it is aborted
 */
export async function copyFiles(
  from: Repository,
  to: string,
  hidden: readonly string[],
  writeStored: WriteStored,
  signal: AbortSignal,
): Promise<Copied> {
  const listed = await listFiles(from, signal);
  const folders = new FolderMaker(from.top, to);
  const stored = listed.length < MIN_STORED ? new Map() : await findStored(from, hidden, folders, signal);
  if (stored.size > 0 && !(await succeeds(writeStored([...stored.values()]), signal))) {
    // A content may be missing in the repository: copy what is in the checkout.
    for (const name of stored.keys()) rmSync(path.join(to, name), {force: true});
    stored.clear();
  }
  const leftOut: string[] = [];
  const unread: string[] = [];
  const nested: string[] = [];
  const refused: string[] = [];
  const copyOne = async (file: Listed) => {
    if (stored.has(file.path)) return;
    const source = path.join(from.top, file.path);
    const isHidden = isInside(source, hidden);
    if (file.skipped || isHidden) leftOut.push(file.path);
    else if (file.path.endsWith('/')) nested.push(file.path);
    else if (file.path.split('/').some(isGitName)) refused.push(file.path);
    else if (await folders.make(path.dirname(file.path))) {
      const unreadable = await copy(source, path.join(to, file.path));
      if (unreadable === undefined) return;
      unread.push(`${file.path} (${unreadable})`);
      leftOut.push(file.path);
    }
  };
  for (let at = 0; at < listed.length; at += AT_ONCE) {
    signal.throwIfAborted();
    await Promise.all(listed.slice(at, at + AT_ONCE).map(copyOne));
  }
  return {
    leftOut,
    notes: [
      ...formatNote('it cannot be read', unread),
      ...formatNote('it is a git repository of its own', nested),
      ...formatNote('git refuses its name', refused),
    ],
  };
}

/** Copies a folder with all that is in it. @param without absolute paths of files. @throws Error when a file cannot be read */
export async function copyFolder(from: string, to: string, without: readonly string[] = []): Promise<void> {
  const entries = await readdir(from, {withFileTypes: true});
  const copyOne = async (name: string, isFolder: boolean) => {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (without.includes(source)) return;
    if (isFolder) {
      await mkdir(target, {recursive: true});
      await copyFolder(source, target, without);
      return;
    }
    const unreadable = await copy(source, target);
    if (unreadable !== undefined) throw new Error(`${source}: ${unreadable}`);
  };
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const some = entries.slice(at, at + AT_ONCE);
    await Promise.all(some.map((entry) => copyOne(entry.name, entry.isDirectory())));
  }
}

/** By its path, each file that looks as it did when git compared it last, if git stored its bytes as they are. */
async function findStored(
  {top}: Repository,
  hidden: readonly string[],
  folders: FolderMaker,
  signal: AbortSignal,
): Promise<Map<string, IndexEntry>> {
  const stored = new Map<string, IndexEntry>();
  for (const entry of (await readProjectIndex({root: top, top, limitMs: LIMIT_MS, signal})) ?? []) {
    signal.throwIfAborted();
    const name = entry.name.toString();
    const source = path.join(top, name);
    if (isInside(source, hidden) || !(await folders.make(path.dirname(name)))) continue;
    const stat = lstatSync(source, {bigint: true, throwIfNoEntry: false});
    if (stat && hasStat(entry, stat)) stored.set(name, entry);
  }
  return stored;
}

async function succeeds(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function formatNote(why: string, files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const more = files.length > MAX_NAMED ? `, and ${files.length - MAX_NAMED} more` : '';
  return [`not in the worktree, since ${why}: ${files.slice(0, MAX_NAMED).join(', ')}${more}`];
}

async function listFiles(from: Repository, signal: AbortSignal): Promise<readonly Listed[]> {
  const args = ['ls-files', '-z', '-t', '--cached', '--others', '--exclude-standard'];
  const lines = (await gitOrThrow(from.top, args, {signal})).toString().split('\0');
  // During a merge, git lists a conflicting file once for each side.
  const files = new Map<string, Listed>();
  for (const line of lines) {
    const [tag, name] = [line[0], line.slice(2)];
    if (name !== '') files.set(name, {path: name, tracked: tag !== '?', skipped: tag === 'S'});
  }
  return [...files.values()];
}

/** Creates each folder of the copy once. A folder that is a link in the original is not part of the repository. */
class FolderMaker {
  readonly #made = new Map<string, Promise<boolean>>();

  constructor(
    private readonly from: string,
    private readonly to: string,
  ) {}

  /** @returns false when the original has no such folder */
  make(folder: string): Promise<boolean> {
    let made = this.#made.get(folder);
    if (made === undefined) {
      made = this.#makeOne(folder);
      this.#made.set(folder, made);
    }
    return made;
  }

  async #makeOne(folder: string): Promise<boolean> {
    const original = path.join(this.from, folder);
    if ((await realpath(original).catch(ignoreMissing)) !== original) return false;
    await mkdir(path.join(this.to, folder), {recursive: true});
    return true;
  }
}

/** A file that was deleted meanwhile is no error. @returns why the file cannot be read, if so */
async function copy(source: string, target: string): Promise<string | undefined> {
  const stat = await lstat(source).catch(ignoreMissing);
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) await symlink(await readlink(source), target);
  // A submodule: git has only its folder here.
  else if (stat.isDirectory()) await mkdir(target, {recursive: true});
  else if (stat.isFile()) {
    try {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) return ignoreMissing(error);
      return getErrorMessage(error).replace(/^EACCES: ([^,]*),.*$/, '$1');
    }
  }
  return undefined;
}
