/** The state of a path, for comparison. It names the content by git's blob id, by which the content is found again. */
import {createHash} from 'node:crypto';
import {lstat, readFile, readlink} from 'node:fs/promises';
import {ignoreMissing} from '../../core/util/errors.ts';

/** `null`: no file; a folder counts as none. `other`: e.g. a socket, whose content is not stored. */
export type FileState = FileOrLink | {readonly kind: 'other'} | null;

export interface FileOrLink {
  readonly kind: 'file' | 'link';
  /** The blob id of the content; for a link, of its target path. */
  readonly id: string;
  readonly executable?: boolean;
  /** All permission bits, where they are known. */
  readonly mode?: number;
}

export function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Undefined for a state without content. */
export function getContentId(state: FileState): string | undefined {
  return state && 'id' in state ? state.id : undefined;
}

/** The state and content of a path now. @throws the error of the file system when it cannot be read */
export async function readFileState(path: string): Promise<{readonly state: FileState; readonly content?: Buffer}> {
  const stat = await lstat(path).catch(ignoreMissing);
  if (!stat || stat.isDirectory()) return {state: null};
  if (stat.isSymbolicLink()) {
    const content = await readlink(path, 'buffer');
    return {state: {kind: 'link', id: blobId(content)}, content};
  }
  if (!stat.isFile()) return {state: {kind: 'other'}};
  const content = await readFile(path);
  const mode = stat.mode & 0o7777;
  const executable = (mode & 0o100) !== 0;
  return {state: {kind: 'file', id: blobId(content), ...(executable ? {executable} : {}), mode}, content};
}

/** The permission bits of new files of this user. */
export function getDefaultMode(executable: boolean): number {
  return (executable ? 0o777 : 0o666) & ~process.umask();
}

/** Compares what both states know: a snapshot may know only whether a file is executable, not its other permissions. */
export function isSameState(a: FileState, b: FileState): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'other' || b.kind === 'other') return false;
  if (a.kind !== b.kind || a.id !== b.id || Boolean(a.executable) !== Boolean(b.executable)) return false;
  return a.mode === undefined || b.mode === undefined || a.mode === b.mode;
}
