/**
 * Writes a file completely or not at all: after an error or a kill, the file has the old content or the new one.
 *
 * The content goes into a temporary file in the same folder, which then gets the file's name. If a file cannot be
 * replaced in this way (a mount, a hard link, or a folder or an owner that does not permit it), it is written in place,
 * after its old content was copied.
 */
import {randomBytes} from 'node:crypto';
import {type BigIntStats, constants, readdirSync, unlinkSync} from 'node:fs';
import {type FileHandle, link, lstat, mkdir, mkdtemp, open, realpath, rename, rm, unlink} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {FileStamp} from '../../contract/tool.ts';
import {getErrorCode, getErrorMessage, ignoreMissing, MiniCcError, tryOr} from '../errors.ts';
import {ignoreAbsent, type OpenFolder, withOpenFolder} from './open-folder.ts';
import {makeFolders} from './private-file.ts';

/** The new content. A function gets the old content to read from, which may not fit into memory. */
export type NewContent = string | Uint8Array | ((old: FileHandle) => AsyncIterable<Uint8Array>);

interface WriteOptions {
  /**
   * Permission bits, also for an existing file. Default: those of the existing file; for a new file, according to the
   * umask.
   */
  readonly mode?: number;
  /** What must be there before anything is written: nothing, or the file with this stamp. Default: any file or link. */
  readonly over?: 'nothing' | FileStamp;
  /** When false, the content may be lost if the whole machine stops. Default: it is on the disk when this returns. */
  readonly durable?: boolean;
}

/**
 * @param file path; if it is a link, the target of the link is written
 * @throws as `writeWholeIn`, and the file system's error when the folder is missing
 */
export async function writeWhole(file: string, content: NewContent, options: WriteOptions = {}): Promise<void> {
  const target = (await realpath(file).catch(ignoreMissing)) ?? file;
  await withOpenFolder(await realpath(path.dirname(target)), (folder) =>
    writeWholeIn(folder, path.basename(target), content, options),
  );
}

/** Does the same for a file that only the user can read, also when an older one is there. Creates its folder. */
export async function writePrivate(
  file: string,
  content: string | Uint8Array,
  options: Pick<WriteOptions, 'durable'> = {},
): Promise<void> {
  await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
  await writeWhole(file, content, {...options, mode: 0o600});
}

interface NewFile {
  /** Path from the folder. */
  readonly name: string;
  readonly text: string;
}

/**
 * Writes files below a folder, with the folders that are missing. No link below the folder is followed.
 * @throws MiniCcError `LINK`, and as `writeWholeIn`
 */
export async function writeBelow(folder: string, files: readonly NewFile[]): Promise<void> {
  makeFolders(folder);
  await withOpenFolder(await realpath(folder), (opened) => writeIn(opened, files));
}

/** Opens each folder once, since that takes longer than to write a small file. */
async function writeIn(folder: OpenFolder, files: readonly NewFile[]): Promise<void> {
  for (const [first, own] of Map.groupBy(files, ({name}) => name.split('/')[0]!)) {
    const below = own.filter(({name}) => name !== first);
    for (const {name, text} of own) if (name === first) await writeWholeIn(folder, name, text, {durable: false});
    if (below.length === 0) continue;
    const opened = await folder.openBelow(first, 0o777);
    try {
      await writeIn(
        opened,
        below.map(({name, text}) => ({name: name.slice(first.length + 1), text})),
      );
    } finally {
      await opened.close();
    }
  }
}

/**
 * @returns the stamp of the written file
 * @throws MiniCcError `NOT_WRITTEN`: the file is unchanged; `DAMAGED`: it has neither content, and the message names
 * the copy of the old one; `CHANGED`: the file is not what `over` requires
 */
export async function writeWholeIn(
  folder: OpenFolder,
  name: string,
  content: NewContent,
  options: WriteOptions = {},
): Promise<FileStamp> {
  const file = path.join(folder.path, name);
  const there = await readStats(folder, name);
  assertExpected(there, options.over, file);
  // A link is replaced, not followed.
  const old = there?.isSymbolicLink() ? undefined : there;
  if (old && !old.isFile()) throw new MiniCcError('NOT_WRITTEN', `${file} is not a regular file: it is not written`);
  const job: Job = {folder, name, file, content, old, options};
  try {
    // A file with several names is written in place. If it were replaced, the other names would still have the old
    // content.
    if (!(old && old.nlink > 1n && (await writeInPlace(job, old)))) await replace(job);
  } catch (error) {
    if (error instanceof MiniCcError || getErrorCode(error) === undefined) throw error;
    const now = old ? 'it is as it was' : 'it was not created';
    throw new MiniCcError('NOT_WRITTEN', `${file} could not be written (${describe(error)}): ${now}.`, {cause: error});
  }
  return (await readStats(folder, name)) as BigIntStats;
}

interface Job {
  readonly folder: OpenFolder;
  readonly name: string;
  /** Path for messages. */
  readonly file: string;
  readonly content: NewContent;
  readonly old: BigIntStats | undefined;
  readonly options: WriteOptions;
}

/** With these errors a file cannot be replaced in its folder or mount, but it may be possible to write it in place. */
const NOT_REPLACEABLE = new Set<unknown>(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EXDEV']);

async function replace(job: Job): Promise<void> {
  try {
    await replaceByRename(job);
  } catch (error) {
    if (!job.old || !NOT_REPLACEABLE.has(getErrorCode(error))) throw error;
    if (!(await writeInPlace(job, job.old))) throw error;
  }
}

async function replaceByRename({folder, name, file, content, old, options}: Job): Promise<void> {
  const draft = createName('draft');
  const mode = options.mode ?? (old ? Number(old.mode & 0o7777n) : undefined);
  const handle = await folder.use(draft, (place) => open(place, 'wx', mode === undefined ? 0o666 : 0o600));
  try {
    try {
      await writeContent(handle, content, folder, name);
      await keepOwner(handle, old);
      if (mode !== undefined) await handle.chmod(mode).catch(ignoreWithoutModes);
      if (options.durable !== false) await flush(handle);
    } finally {
      // Some file systems report only at this point that there is no room.
      await handle.close();
    }
    assertExpected(await readStats(folder, name), options.over, file);
    if (options.over === 'nothing') await giveNewName(folder, draft, name, file);
    else await folder.use(draft, (from) => folder.use(name, (to) => rename(from, to)));
  } catch (error) {
    await folder.use(draft, unlink).catch(ignoreMissing);
    throw error;
  }
}

/** Names the draft by a hard link, which fails if a file already has the name, so that no file is replaced. */
async function giveNewName(folder: OpenFolder, draft: string, name: string, file: string): Promise<void> {
  try {
    await folder.use(draft, (from) => folder.use(name, (to) => link(from, to)));
    await folder.use(draft, unlink);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') throw createChangedError(file);
    if (!NO_HARD_LINKS.has(getErrorCode(error))) throw error;
    await folder.use(draft, (from) => folder.use(name, (to) => rename(from, to)));
  }
}

/** Error codes of file systems without hard links. */
const NO_HARD_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * @returns false when the file may not be written in place either
 * @throws MiniCcError `CHANGED` or `DAMAGED`; the error of the write if the old content was restored
 */
async function writeInPlace({folder, name, file, content, options}: Job, old: BigIntStats): Promise<boolean> {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await folder.use(name, (place) => open(place, flags)).catch(() => undefined);
  if (handle === undefined) return false;
  let copy: KeptCopy | undefined;
  try {
    if (!isSameFile(await handle.stat({bigint: true}), old)) throw createChangedError(file);
    copy = await keepCopy(folder, handle);
    await overwrite(handle, content, copy, file);
    if (options.mode !== undefined) await handle.chmod(options.mode).catch(ignoreWithoutModes);
    await copy.remove();
    return true;
  } finally {
    await copy?.handle.close();
    await handle.close();
  }
}

async function overwrite(handle: FileHandle, content: NewContent, copy: KeptCopy, file: string): Promise<void> {
  try {
    await writeOver(handle, getChunks(content, copy.handle));
  } catch (error) {
    try {
      await writeOver(handle, readAll(copy.handle));
    } catch (worse) {
      const why = `${describe(error)}; then ${describe(worse)}`;
      throw new MiniCcError(
        'DAMAGED',
        `${file} could not be written whole (${why}): it is damaged. Its old content is kept in ${copy.path}.`,
        {cause: error},
      );
    }
    await copy.remove();
    throw error;
  }
}

async function writeOver(handle: FileHandle, chunks: Chunks): Promise<void> {
  await handle.truncate(await writeAll(handle, chunks));
  await flush(handle);
}

interface KeptCopy {
  readonly path: string;
  readonly handle: FileHandle;
  remove(): Promise<void>;
}

/** Copies the old content into the same folder, or into a temporary folder if nothing can be created there. */
async function keepCopy(folder: OpenFolder, from: FileHandle): Promise<KeptCopy> {
  // The name differs from that of a draft, because after a crash this copy may be the only old content.
  const name = createName('kept');
  const create = (place: string) => open(place, 'wx+', 0o600);
  let handle: FileHandle;
  let place = path.join(folder.path, name);
  try {
    handle = await folder.use(name, create);
  } catch {
    place = path.join(await mkdtemp(path.join(await realpath(tmpdir()), 'mini-cc-kept-')), name);
    handle = await create(place);
  }
  const isBeside = path.dirname(place) === folder.path;
  const remove = () => (isBeside ? folder.use(name, unlink) : rm(path.dirname(place), {recursive: true}));
  try {
    await writeAll(handle, readAll(from));
    await flush(handle);
    return {path: place, handle, remove};
  } catch (error) {
    await handle.close();
    await remove();
    throw error;
  }
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Writes the new content. If it is made from the old one, opens the old file for it. */
async function writeContent(handle: FileHandle, content: NewContent, folder: OpenFolder, name: string): Promise<void> {
  const old = typeof content === 'function' ? await openForReading(folder, name) : undefined;
  try {
    await writeAll(handle, getChunks(content, old));
  } finally {
    await old?.close();
  }
}

/**
 * Writes from the start of the file. After a short write another one follows, which reports the error. @returns the
 * number of bytes
 */
async function writeAll(handle: FileHandle, chunks: Chunks): Promise<number> {
  let at = 0;
  for await (const chunk of chunks) {
    for (let done = 0; done < chunk.length; ) {
      const {bytesWritten} = await handle.write(chunk, done, Math.min(chunk.length - done, CHUNK_BYTES), at);
      if (bytesWritten === 0) throw Object.assign(new Error('ENOSPC: a write took no bytes'), {code: 'ENOSPC'});
      done += bytesWritten;
      at += bytesWritten;
    }
  }
  return at;
}

function getChunks(content: NewContent, old: FileHandle | undefined): Chunks {
  if (typeof content === 'function') return content(old!);
  return [typeof content === 'string' ? Buffer.from(content) : content];
}

const CHUNK_BYTES = 4 * 1024 * 1024;
const FIRST_CHUNK_BYTES = 16 * 1024;

/**
 * Reads a file in chunks. They begin small and grow while they are filled, because most files are small, and buffers
 * that are too large pile up as garbage.
 * @param from first byte
 * @param to byte after the last one. Default: the end of the file
 */
export async function* readAll(
  handle: FileHandle,
  {
    from = 0,
    to = Number.POSITIVE_INFINITY,
    signal,
  }: {from?: number; to?: number; signal?: AbortSignal | undefined} = {},
): AsyncGenerator<Buffer> {
  let size = FIRST_CHUNK_BYTES;
  for (let at = from; at < to; ) {
    signal?.throwIfAborted();
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(Math.min(size, to - at)), 0, undefined, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
    if (bytesRead === size) size = Math.min(size * 4, CHUNK_BYTES);
  }
}

/** @throws the error `EPERM` when the file belongs to a user to whom the new file cannot be given */
async function keepOwner(handle: FileHandle, old: BigIntStats | undefined): Promise<void> {
  if (!old) return;
  const now = await handle.stat({bigint: true});
  if (now.uid !== old.uid || now.gid !== old.gid) await handle.chown(Number(old.uid), Number(old.gid));
}

/** Flushes a file to the disk. Some file systems report errors only at this point. */
async function flush(handle: FileHandle): Promise<void> {
  await handle.sync().catch((error: unknown) => {
    if (!['EINVAL', 'ENOSYS', 'ENOTSUP'].includes(getErrorCode(error) ?? '')) throw error;
  });
}

/** On a file system without modes (FAT, a mounted Windows disk) the mode stays, and that is no error. */
function ignoreWithoutModes(error: unknown): void {
  if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(getErrorCode(error) ?? '')) throw error;
}

function openForReading(folder: OpenFolder, name: string): Promise<FileHandle> {
  return folder.use(name, (place) => open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
}

function readStats(folder: OpenFolder, name: string): Promise<BigIntStats | undefined> {
  return folder.use(name, (place) => lstat(place, {bigint: true})).catch(ignoreAbsent);
}

function assertExpected(now: BigIntStats | undefined, over: WriteOptions['over'], file: string): void {
  if (over === undefined) return;
  if (over === 'nothing' ? now !== undefined : !now || !isSameStamp(now, over)) throw createChangedError(file);
}

function createChangedError(file: string): MiniCcError {
  return new MiniCcError('CHANGED', `${file} was changed by another program meanwhile: nothing was written.`);
}

function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return isSameFile(a, b) && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

function isSameFile(a: Pick<FileStamp, 'dev' | 'ino'>, b: Pick<FileStamp, 'dev' | 'ino'>): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/**
 * Returns the message of a file system error without the call and the path that Node adds: `ENOSPC: no space left on
 * device`.
 */
function describe(error: unknown): string {
  return getErrorMessage(error).split(', ')[0]!;
}

/** Creates a short name, because the file's own name may already have the maximum length. */
export function createName(kind: 'draft' | 'kept'): string {
  return `.mini-cc-${kind}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

/**
 * Removes the temporary files that killed processes left in a folder. Files that cannot be removed stay. Never throws.
 */
export function removeDrafts(folder: string): void {
  const names = tryOr(() => readdirSync(folder), []);
  for (const name of names) {
    const pid = /^\.mini-cc-draft-(\d+)-[0-9a-f]{12}$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    tryOr(() => unlinkSync(path.join(folder, name)), undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return getErrorCode(error) === 'EPERM';
  }
}
