/**
 * Describes the state of a path, for comparison. The state names the content by git's blob id, by which the content can
 * be found.
 */
import {createHash} from 'node:crypto';
import {lstat, readFile, readlink} from 'node:fs/promises';
import {ignoreMissing} from '../../core/util/errors.ts';

/** `null`: no file; a folder counts as none. `other`: e.g. a socket or a submodule, whose content is not stored. */
export type FileState = FileOrLink | {readonly kind: 'other'} | null;

export interface FileOrLink {
  readonly kind: 'file' | 'link';
  /** Blob id of the content; for a link, of its target path. */
  readonly id: string;
  readonly executable?: boolean;
  /** All permission bits, when they are known. */
  readonly mode?: number;
}

/** Modes of git for a missing path, a link, and a file that the owner may run. */
const [ABSENT, LINK, EXECUTABLE] = ['000000', '120000', '100755'];

/** @param format object format of the repository that stores the content */
export function blobId(content: Buffer, format = 'sha1'): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Undefined for a state without content. */
export function getContentId(state: FileState): string | undefined {
  return state && 'id' in state ? state.id : undefined;
}

/**
 * Converts an entry of a tree to a state. @param mode mode as git writes it. @param permissions all bits, when known
 */
export function toFileState(mode: string, id: string, permissions?: number): FileState {
  if (mode === ABSENT) return null;
  if (mode === LINK) return {kind: 'link', id};
  if (!mode.startsWith('100')) return {kind: 'other'};
  const executable = mode === EXECUTABLE ? {executable: true} : {};
  return {kind: 'file', id, ...executable, ...(permissions !== undefined && {mode: permissions})};
}

/** Reads the state and content of a path. @throws Error of the file system when it cannot be read */
export async function readFileState(
  path: string,
  format?: string,
): Promise<{readonly state: FileState; readonly content?: Buffer}> {
  const stat = await lstat(path).catch(ignoreMissing);
  if (!stat || stat.isDirectory()) return {state: null};
  if (stat.isSymbolicLink()) {
    const content = await readlink(path, 'buffer');
    return {state: {kind: 'link', id: blobId(content, format)}, content};
  }
  if (!stat.isFile()) return {state: {kind: 'other'}};
  const content = await readFile(path);
  const mode = stat.mode & 0o7777;
  const executable = (mode & 0o100) !== 0;
  return {state: {kind: 'file', id: blobId(content, format), ...(executable ? {executable} : {}), mode}, content};
}

/** Returns the permission bits of this user's new files. */
export function getDefaultMode(executable: boolean): number {
  return (executable ? 0o777 : 0o666) & ~process.umask();
}

/** Compares what both states know. A snapshot may know only whether a file is executable, not its other permissions. */
export function isSameState(a: FileState, b: FileState): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'other' || b.kind === 'other') return false;
  if (a.kind !== b.kind || a.id !== b.id || Boolean(a.executable) !== Boolean(b.executable)) return false;
  return a.mode === undefined || b.mode === undefined || a.mode === b.mode;
}
