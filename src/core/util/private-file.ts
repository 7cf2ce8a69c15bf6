/** Files that hold conversations: readable by the user alone, whatever the umask, and whatever they were before. */
import {appendFileSync, chmodSync, closeSync, fchmodSync, fstatSync, mkdirSync, openSync, statSync} from 'node:fs';
import path from 'node:path';

const FILE = 0o600;
const FOLDER = 0o700;
/** All that is not the owner's. */
const OTHERS = 0o077;

/** Opens it, and makes its folder; a file that others could read is narrowed. @returns its descriptor. */
export function openPrivateFile(file: string, flags: 'a' | 'a+' | 'w'): number {
  mkdirSync(path.dirname(file), {recursive: true, mode: FOLDER});
  const fd = openSync(file, flags, FILE);
  if ((fstatSync(fd).mode & OTHERS) !== 0) narrow(() => fchmodSync(fd, FILE));
  return fd;
}

/** A folder that is mini-cc's own: made, with those above it, or narrowed. */
export function createPrivateFolder(folder: string): void {
  mkdirSync(folder, {recursive: true, mode: FOLDER});
  if ((statSync(folder).mode & OTHERS) !== 0) narrow(() => chmodSync(folder, FOLDER));
}

/** For what is written now and then. */
export function appendPrivateFile(file: string, text: string): void {
  const fd = openPrivateFile(file, 'a');
  try {
    appendFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** A file system without modes (FAT, a mounted Windows disk) keeps its own: that is no reason not to work there. */
function narrow(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && ['EPERM', 'ENOTSUP', 'EROFS'].includes(String(error.code)))) {
      throw error;
    }
  }
}
