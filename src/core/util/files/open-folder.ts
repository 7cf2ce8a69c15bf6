/**
 * Keeps a folder open by its descriptor. Files that are opened, renamed or removed through it are in this very folder,
 * even if a folder above it was replaced by a link in the meantime.
 */
import {constants} from 'node:fs';
import {type FileHandle, lstat, mkdir, open, realpath, rmdir} from 'node:fs/promises';
import path from 'node:path';
import {getErrorCode, ignoreMissing, MiniCcError} from '../errors.ts';
import {HAS_DESCRIPTORS, isSamePath} from './open-place.ts';

/** Linux's O_PATH, which Node does not define. Such a descriptor needs no permission to list the folder. */
const O_PATH = 0x200000;
const FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

interface OpenOptions {
  /** Creates the folder and those above it if they are missing. */
  readonly create?: boolean;
  /** Permission bits of folders that are created. Default: according to the umask. */
  readonly mode?: number;
}

export class OpenFolder {
  /** Absolute path without links. */
  readonly path: string;
  /**
   * Undefined on systems where a path cannot contain a descriptor. There the path is checked before and after each use.
   */
  private readonly handle: FileHandle | undefined;

  private constructor(folder: string, handle: FileHandle | undefined) {
    this.path = folder;
    this.handle = handle;
  }

  /**
   * @param folder absolute, with links resolved. A link in it is an error, because it was put there after that
   * @throws MiniCcError `LINK`; the file system's error, `ENOENT` among them
   */
  static async open(folder: string, {create = false, mode = 0o777}: OpenOptions = {}): Promise<OpenFolder> {
    if (!HAS_DESCRIPTORS) {
      if (create) await mkdir(folder, {recursive: true, mode});
      const opened = new OpenFolder(folder, undefined);
      await opened.#assertSamePath();
      return opened;
    }
    let at = new OpenFolder('/', await open('/', FOLDER_FLAGS));
    for (const step of folder.split('/').filter((name) => name !== '')) {
      const parent = at;
      try {
        at = await parent.openBelow(step, create ? mode : undefined);
      } finally {
        await parent.close();
      }
    }
    return at;
  }

  /**
   * Opens a folder of this one. The caller closes it.
   * @param createMode permission bits of the folder if it is missing; undefined for an error then
   * @throws as `open`
   */
  async openBelow(name: string, createMode?: number): Promise<OpenFolder> {
    const openIt = () => this.use(name, (file) => open(file, FOLDER_FLAGS));
    const handle = await openIt().catch(async (error: unknown) => {
      const code = getErrorCode(error);
      if (code === 'ENOENT' && createMode !== undefined) {
        await this.use(name, (file) => mkdir(file, {mode: createMode})).catch(ignoreExisting);
        return openIt();
      }
      if (code === 'ENOTDIR' || code === 'ELOOP') await this.assertNoLink(name);
      throw error;
    });
    return new OpenFolder(path.join(this.path, name), handle);
  }

  /** @throws MiniCcError `LINK` when a link has this name */
  async assertNoLink(name: string): Promise<void> {
    if (!(await this.use(name, (file) => lstat(file))).isSymbolicLink()) return;
    throw createLinkError(path.join(this.path, name));
  }

  /**
   * Calls `work` with a path that leads to the name in this folder. The last part of that path may be a link, which
   * `work` must not follow.
   * @throws what `work` throws; errors of the file system name the real path
   */
  async use<T>(name: string, work: (file: string) => Promise<T>): Promise<T> {
    if (this.handle === undefined) await this.#assertSamePath();
    const folder = this.handle === undefined ? this.path : `/proc/self/fd/${this.handle.fd}`;
    try {
      const result = await work(`${folder}/${name}`);
      if (this.handle === undefined) await this.#assertSamePath();
      return result;
    } catch (error) {
      // Node's messages end with the path.
      if (error instanceof Error) error.message = error.message.replaceAll(`${folder}/`, path.join(this.path, '/'));
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }

  async #assertSamePath(): Promise<void> {
    if (!isSamePath(await realpath(this.path), this.path)) throw createLinkError(this.path);
  }
}

function createLinkError(place: string): MiniCcError {
  return new MiniCcError('LINK', `${place} is a link now, which was put there meanwhile: it is not followed.`);
}

function ignoreExisting(error: unknown): void {
  if (getErrorCode(error) !== 'EEXIST') throw error;
}

/**
 * Calls `work` with a folder that is held open, and closes it.
 * @throws as `OpenFolder.open`, and what `work` throws
 */
export async function withOpenFolder<T>(
  folder: string,
  work: (folder: OpenFolder) => Promise<T>,
  options?: OpenOptions,
): Promise<T> {
  const opened = await OpenFolder.open(folder, options);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/**
 * Calls `work` with a regular file, and closes it. No link is followed.
 * @param place absolute, with links resolved
 * @returns undefined when nothing is there
 * @throws as `OpenFolder.open` and `openRegularFile`, and what `work` throws
 */
export async function withRegularFile<T>(
  place: string,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const handle = await withOpenFolder(path.dirname(place), (folder) =>
    openRegularFile(folder, path.basename(place)),
  ).catch(ignoreMissing);
  try {
    return handle && (await work(handle));
  } finally {
    await handle?.close();
  }
}

const KEPT_FOLDER = new Set(['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'LINK']);

/**
 * Removes a folder if it is empty and no link leads to it.
 * @returns whether it was removed
 * @throws the file system's error, `EACCES` among them
 */
export async function removeEmptyFolder(folder: string): Promise<boolean> {
  try {
    await withOpenFolder(path.dirname(folder), (parent) => parent.use(path.basename(folder), (place) => rmdir(place)));
    return true;
  } catch (error) {
    if (!KEPT_FOLDER.has(getErrorCode(error) ?? '')) throw error;
    return false;
  }
}

const FILE_FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a regular file of the folder. It never waits for the other end of a pipe.
 * @returns undefined when nothing has this name. The caller closes the handle
 * @throws MiniCcError `DIRECTORY`, `NOT_A_FILE`, `LINK`; the file system's error, `EACCES` among them
 */
export async function openRegularFile(folder: OpenFolder, name: string): Promise<FileHandle | undefined> {
  const file = path.join(folder.path, name);
  const before = await folder.use(name, (place) => lstat(place)).catch(ignoreAbsent);
  if (before === undefined) return undefined;
  if (before.isSymbolicLink()) throw createLinkError(file);
  // Opening a device may already have an effect, so the kind of the file is checked first.
  assertRegular(before, file);
  const handle = await folder.use(name, (place) => open(place, constants.O_RDONLY | FILE_FLAGS));
  try {
    assertRegular(await handle.stat(), file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Resolves an `ENOENT` to undefined. @throws every other error */
export function ignoreAbsent(error: unknown): undefined {
  if (getErrorCode(error) !== 'ENOENT') throw error;
}

function assertRegular(stats: {isFile(): boolean; isDirectory(): boolean}, file: string): void {
  if (stats.isDirectory()) throw new MiniCcError('DIRECTORY', `${file} is a directory`);
  if (!stats.isFile()) throw new MiniCcError('NOT_A_FILE', `${file} is not a regular file`);
}
