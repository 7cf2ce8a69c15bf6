/** What is at a path, so that two looks can be compared and the content found again: named by git's id of a blob. */
import {createHash} from 'node:crypto';
import {lstat, readFile, readlink} from 'node:fs/promises';
import {orAbsent} from '../../core/util/file-errors.ts';

/** `null`: nothing is there, or a folder, which is nothing by itself. `other`: e.g. a socket; it is not kept. */
export type FileState = FileOrLink | {readonly kind: 'other'} | null;

export interface FileOrLink {
  readonly kind: 'file' | 'link';
  /** Of its content; of a link, of the path that it holds. */
  readonly id: string;
  readonly executable?: boolean;
  /** All permission bits, where they are known. */
  readonly mode?: number;
}

export function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Undefined for what has no content. */
export function idOf(state: FileState): string | undefined {
  return state && 'id' in state ? state.id : undefined;
}

/** What is at `path` now, with its content. @throws the file system's error where it may not be read. */
export async function lookAt(path: string): Promise<{readonly state: FileState; readonly content?: Buffer}> {
  const about = await lstat(path).catch(orAbsent);
  if (!about || about.isDirectory()) return {state: null};
  if (about.isSymbolicLink()) {
    const content = await readlink(path, 'buffer');
    return {state: {kind: 'link', id: blobId(content)}, content};
  }
  if (!about.isFile()) return {state: {kind: 'other'}};
  const content = await readFile(path);
  const mode = about.mode & 0o7777;
  const executable = (mode & 0o100) !== 0;
  return {state: {kind: 'file', id: blobId(content), ...(executable ? {executable} : {}), mode}, content};
}

/** The permissions that this user's new files have. */
export function modeOfNew(executable: boolean): number {
  return (executable ? 0o777 : 0o666) & ~process.umask();
}

/** As far as both know: a checkpoint of a command knows of the permissions only whether a file is executable. */
export function isSame(a: FileState, b: FileState): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'other' || b.kind === 'other') return false;
  if (a.kind !== b.kind || a.id !== b.id || Boolean(a.executable) !== Boolean(b.executable)) return false;
  return a.mode === undefined || b.mode === undefined || a.mode === b.mode;
}
