/**
 * Describes the state of a path, reads it, and brings it back. The state names the content by git's blob id, by which the
 * content can be found.
 */
import {createHash} from 'node:crypto';
import {closeSync, fstatSync, readFileSync, readSync, type Stats} from 'node:fs';
import {lstat, readlink, rename, symlink, unlink} from 'node:fs/promises';
import path from 'node:path';
import {getErrorCode, ignoreMissing, MiniCcError} from '../../core/util/errors.ts';
import {type OpenFolder, openRegularFile, withOpenFolder} from '../../core/util/files/open-folder.ts';
import {openPlaceSync, readLinkSync} from '../../core/util/files/open-place.ts';
import {createName, writeWholeIn} from '../../core/util/files/whole-file.ts';

/** `null`: no file; a folder counts as none. `other`: e.g. a socket or a submodule, whose content is not stored. */
export type FileState = FileOrLink | {readonly kind: 'other'} | null;

interface FileOrLink {
  readonly kind: 'file' | 'link';
  /** Blob id of the content; for a link, of its target path. */
  readonly id: string;
  readonly executable?: boolean;
  /** All permission bits, when they are known. */
  readonly mode?: number;
}

/** Modes of git for a missing path, a link, a file, and a file that the owner may run. */
const [ABSENT, LINK, PLAIN, EXECUTABLE] = ['000000', '120000', '100644', '100755'] as const;

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

/** The state of a path, with the content where there is one. */
export interface ReadState {
  readonly state: FileState;
  readonly content?: Buffer;
}

/**
 * Reads the state and content of a path. No link is followed, also none above it.
 * @param file absolute, with links resolved
 * @throws MiniCcError `LINK`; Error of the file system when it cannot be read
 */
export async function readFileState(file: string, format?: string): Promise<ReadState> {
  const read = await withOpenFolder(path.dirname(file), (folder) =>
    readStateIn(folder, path.basename(file), format),
  ).catch(ignoreMissing);
  return read ?? {state: null};
}

/** Reads the state and content of a name in a folder. @throws as `readFileState` */
async function readStateIn(folder: OpenFolder, name: string, format?: string): Promise<ReadState> {
  const stat = await folder.use(name, (place) => lstat(place)).catch(ignoreMissing);
  if (!stat || stat.isDirectory()) return {state: null};
  if (stat.isSymbolicLink()) {
    const content = await folder.use(name, (place) => readlink(place, 'buffer'));
    return {state: {kind: 'link', id: blobId(content, format)}, content};
  }
  if (!stat.isFile()) return {state: {kind: 'other'}};
  const handle = await openRegularFile(folder, name);
  if (!handle) return {state: null};
  try {
    const content = await handle.readFile();
    const mode = (await handle.stat()).mode & 0o7777;
    const executable = (mode & 0o100) !== 0;
    return {state: {kind: 'file', id: blobId(content, format), ...(executable ? {executable} : {}), mode}, content};
  } finally {
    await handle.close();
  }
}

/** An entry of a tree, as git writes it. */
interface ReadEntry {
  readonly mode: string;
  readonly id: string;
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * Reads what git stores of a file: its mode, and the id of its content. No link is followed.
 * @param file absolute; as bytes, because the name may not be UTF-8
 * @param format object format of the repository
 * @throws MiniCcError `NOT_A_FILE`; Error of the file system, `ELOOP` for a link above the file
 */
export function readEntrySync(file: Buffer, format: string): ReadEntry {
  return withFileSync<ReadEntry>(file, {
    link: (target) => ({mode: LINK, id: blobId(target, format)}),
    file(fd, {size, mode}) {
      const hash = createHash(format ?? 'sha1').update(`blob ${size}\0`);
      const chunk = Buffer.alloc(Math.min(size, CHUNK_BYTES) + 1);
      for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) hash.update(chunk.subarray(0, read));
      return {mode: (mode & 0o100) === 0 ? PLAIN : EXECUTABLE, id: hash.digest('hex')};
    },
  });
}

/** Reads the content of a file, or the target of a link. @throws as `readEntrySync` */
export function readContentSync(file: Buffer): Buffer {
  return withFileSync(file, {link: (target) => target, file: (fd) => readFileSync(fd)});
}

function withFileSync<T>(
  file: Buffer,
  work: {readonly link: (target: Buffer) => T; readonly file: (fd: number, stats: Stats) => T},
): T {
  let fd: number | undefined;
  try {
    fd = openPlaceSync(file);
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new MiniCcError('NOT_A_FILE', `${file} is not a regular file`);
    return work.file(fd, stats);
  } catch (error) {
    if (getErrorCode(error) !== 'ELOOP') throw error;
    return work.link(readLinkSync(file));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** A change of a file from one state to another. */
export interface StateChange {
  readonly from: FileState;
  readonly to: FileState;
  /** Contents by their ids, with that of `to`. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Object format of the repository that stores the contents. */
  readonly format?: string | undefined;
}

/**
 * Changes a file that is as `from` says, as a whole or not at all. It is reached by the descriptor of its folder, and a
 * link in its place is replaced, so that no link is followed.
 * @param file absolute, with links resolved
 * @param keep gets what is there before the change
 * @param note gets the states before and after the change
 * @returns the state before
 * @throws MiniCcError `CHANGED`, `NOT_KEPT`, `IN_THE_WAY`, and as `writeWholeIn`; Error of the file system
 */
export async function changeState(
  file: string,
  {from, to, contents, format}: StateChange,
  {
    keep,
    note,
  }: {
    readonly keep?: (before: ReadState) => Promise<void>;
    readonly note?: (before: FileState, after: FileState) => void;
  } = {},
): Promise<FileState> {
  if (to?.kind === 'other') throw new MiniCcError('NOT_KEPT', 'it was neither a file nor a link before');
  const content = to === null ? undefined : contents.get(to.id);
  if (to && !content) throw new MiniCcError('NOT_KEPT', 'its earlier content is not stored any more');
  const name = path.basename(file);
  const change = async (folder: OpenFolder) => {
    const before = await readStateIn(folder, name, format);
    if (!isSameState(before.state, from)) throw new MiniCcError('CHANGED', 'changed meanwhile');
    await keep?.(before);
    await putStateIn(folder, name, to, content);
    if (note) note(before.state, (await readStateIn(folder, name, format)).state);
    return before.state;
  };
  return withOpenFolder(path.dirname(file), change, {create: to !== null});
}

/** Sorts removals first, deepest first, because one of them may be in the place of a folder that is needed. */
export function sortChanges<T extends {readonly to: FileState; readonly path: string}>(changes: readonly T[]): T[] {
  const getOrder = ({to, path: file}: T) => (to === null ? -file.split('/').length : 1);
  return changes.toSorted((a, b) => getOrder(a) - getOrder(b));
}

async function putStateIn(
  folder: OpenFolder,
  name: string,
  to: FileOrLink | null,
  content: Buffer | undefined,
): Promise<void> {
  if (to === null || content === undefined) return folder.use(name, unlink);
  const now = await folder.use(name, (place) => lstat(place)).catch(ignoreMissing);
  if (now?.isDirectory()) throw new MiniCcError('IN_THE_WAY', `${path.join(folder.path, name)} is a folder now`);
  if (to.kind === 'link') await replaceByLink(folder, name, content);
  else await writeWholeIn(folder, name, content, {mode: getMode(to, now?.isFile() ? now.mode & 0o7777 : undefined)});
}

async function replaceByLink(folder: OpenFolder, name: string, target: Buffer): Promise<void> {
  const draft = createName('draft');
  await folder.use(draft, (place) => symlink(target, place));
  try {
    await folder.use(draft, (from) => folder.use(name, (to) => rename(from, to)));
  } catch (error) {
    await folder.use(draft, unlink).catch(() => undefined);
    throw error;
  }
}

/**
 * Chooses the mode. When only the executable bit is known, the other bits come from the present file, or from those of
 * new files.
 */
function getMode({mode, executable}: FileOrLink, now: number | undefined): number {
  if (mode !== undefined) return mode;
  if (now === undefined) return getDefaultMode(executable === true);
  const isExecutable = (now & 0o100) !== 0;
  if (isExecutable === (executable === true)) return now;
  const readable = (now & 0o444) >> 2;
  return executable ? now | readable : now & ~0o111;
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
