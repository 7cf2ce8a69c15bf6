/**
 * Creates files that only the user can read, such as conversations, with any umask. It also restricts existing files.
 */
import {appendFileSync, chmodSync, closeSync, fchmodSync, fstatSync, mkdirSync, openSync, statSync} from 'node:fs';
import path from 'node:path';
import {getErrorCode} from '../errors.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Permissions of group and others. */
const OTHERS_MASK = 0o077;

/**
 * Opens a file and creates its folder; removes the permissions of others from the file. A device or a pipe keeps them,
 * because other programs use it, too.
 * @returns the descriptor
 */
export function openPrivateFile(file: string, flags: 'a' | 'a+' | 'w'): number {
  makeFolders(path.dirname(file), FOLDER_MODE);
  const fd = openSync(file, flags, FILE_MODE);
  const stat = fstatSync(fd);
  if (stat.isFile() && (stat.mode & OTHERS_MASK) !== 0) restrictMode(() => fchmodSync(fd, FILE_MODE));
  return fd;
}

/** Creates a folder of mini-cc and those above it; removes the permissions of others from an existing one. */
export function createPrivateFolder(folder: string): void {
  makeFolders(folder, FOLDER_MODE);
  if ((statSync(folder).mode & OTHERS_MASK) !== 0) restrictMode(() => chmodSync(folder, FOLDER_MODE));
}

/**
 * Creates a folder and those above it, one by one: `mkdirSync` with `recursive` never returns below a folder that
 * answers ENOENT to new names, as /proc does. It serves folders that a person names.
 * @param mode permission bits of new folders
 * @throws Error of the file system
 */
export function makeFolders(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, {mode});
  } catch (error) {
    const above = path.dirname(folder);
    if (getErrorCode(error) === 'ENOENT' && !statSync(above, {throwIfNoEntry: false})) {
      makeFolders(above, mode);
      makeFolders(folder, mode);
    } else if (!statSync(folder, {throwIfNoEntry: false})?.isDirectory()) throw error;
  }
}

/**
 * Runs `work` with a umask that makes new files readable by the user alone, for code of Node that creates files without
 * a mode. `work` must not start other programs.
 */
export function withPrivateUmask<T>(work: () => T): T {
  const before = process.umask(OTHERS_MASK);
  try {
    return work();
  } finally {
    process.umask(before);
  }
}

export function appendPrivateFile(file: string, text: string): void {
  const fd = openPrivateFile(file, 'a');
  try {
    appendFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/**
 * Changes a mode. On a file system without modes (FAT, a mounted Windows disk) the mode stays, and that is no error.
 */
function restrictMode(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EROFS'].includes(getErrorCode(error) ?? '')) throw error;
  }
}
