/** Holds what `write_file` and `edit_file` share: access, lock, checks before the change, and the replacement. */
import {constants} from 'node:fs';
import {access, type FileHandle} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import type {Workspace} from '../../core/contract/permission.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {ToolContext, TrialContext} from '../../core/contract/tool.ts';
import {findNewMark} from '../../core/secrets/redaction.ts';
import {MAX_WHOLE_BYTES} from '../../core/turn/file-ledger.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {ignoreAbsent, OpenFolder, openRegularFile, withRegularFile} from '../../core/util/files/open-folder.ts';
import {type NewContent, writeWholeIn} from '../../core/util/files/whole-file.ts';
import {getText} from '../../core/util/messages.ts';
import {textResult} from '../../core/util/tool-output.ts';
import type {EditorBuffers} from './editor-buffers.ts';
import {getPermittedPlace, shownPath} from './model-paths.ts';

/** Lets one agent at a time change a file, because two that edit it at once would lose an update. */
export class FileLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @param buffers present when an editor takes part in reading and writing */
  constructor(readonly buffers?: EditorBuffers) {}

  /** Runs `work` when all earlier work on `path` has ended, with success or not. @throws the errors of `work` */
  async run<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(path);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(path, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(path) === mine) this.#last.delete(path);
    }
  }
}

/** A file that a tool is about to change, under its lock. */
export interface FileToChange {
  /** Absolute, with links resolved. */
  readonly path: string;
  /** Path as results name it. */
  readonly shown: string;
  /** Undefined when there is no such file. */
  readonly old: OldFile | undefined;
  /**
   * Replaces the whole content. Readers see the old content or the new one.
   * @param texts the old and the new text, or their parts that differ
   * @throws MiniCcError `MARK` when the new text has a mark in place of a key; `NOT_WRITTEN`, `DAMAGED`, `CHANGED` as
   * `writeWholeIn`
   */
  replace(content: NewContent, texts: {readonly before: string; readonly after: string}): Promise<void>;
}

export interface OldFile {
  readonly handle: FileHandle;
  /** Size in bytes. */
  readonly size: number;
  /** The whole content; undefined for a file that is too large to be in memory. */
  readonly content: Buffer | undefined;
}

/**
 * Checks that the file for which the call was permitted may be changed and that this agent has read its current content,
 * then calls `change`. From the check to the write the file is reached by the descriptor of its folder, so that a link
 * that is put there meanwhile is not followed.
 * @throws MiniCcError `DIRECTORY`, `NOT_A_FILE`, `LINK`, `NOT_READ`, `STALE`; Error of the file system
 */
export async function changeFile(
  locks: FileLocks,
  context: ToolContext,
  change: (file: FileToChange) => Promise<ToolResult>,
): Promise<ToolResult> {
  const path = await getPermittedPlace(context);
  return locks.run(path, () => changeOpened(path, locks, context, change));
}

/**
 * Does the same checks as `changeFile` without the change. When a file is too large for memory, only its stamp is
 * checked.
 * @returns the problem as the result of the call would report it
 * @throws MiniCcError as `changeFile`
 */
export async function findChangeProblem(
  locks: FileLocks,
  context: TrialContext,
  change: (file: FileToChange) => Promise<ToolResult>,
): Promise<string | undefined> {
  const path = await getPermittedPlace(context);
  const result = await changeOpened(path, locks, context, change, {isTrial: true});
  return result.isError ? getText(result.content ?? '') : undefined;
}

async function changeOpened(
  path: string,
  {buffers}: FileLocks,
  {workspace, files, signal}: TrialContext,
  change: (file: FileToChange) => Promise<ToolResult>,
  {isTrial = false} = {},
): Promise<ToolResult> {
  const shown = shownPath(path, workspace);
  let folder = await OpenFolder.open(dirname(path)).catch(ignoreAbsent);
  let handle: FileHandle | undefined;
  let byEditor: Awaited<ReturnType<EditorBuffers['write']>>;
  try {
    handle = folder && (await openToChange(folder, basename(path), shown));
    const stamp = await handle?.stat({bigint: true});
    const isLarge = stamp !== undefined && stamp.size > MAX_WHOLE_BYTES;
    const disk = isLarge ? undefined : await handle?.readFile();
    const content = disk && ((await buffers?.read({path, content: disk, stamp: stamp!}, workspace, signal)) ?? disk);
    if (stamp) files.assertFresh(path, content ?? stamp);
    if (isTrial && isLarge) return textResult('');
    const result = await change({
      path,
      shown,
      old: handle && {handle, size: Number(stamp!.size), content},
      async replace(next, {before, after}) {
        assertNoNewMark(before, after, shown);
        if (isTrial) return;
        folder ??= await OpenFolder.open(dirname(path), {create: true});
        if (Buffer.isBuffer(next) && !isLarge) byEditor = await buffers?.write(path, next, disk, workspace, signal);
        if (byEditor) {
          files.recordWrite(path, byEditor.content);
          return;
        }
        const written = await writeWholeIn(folder, basename(path), next, {over: stamp ?? 'nothing'});
        files.recordWrite(path, Buffer.isBuffer(next) && next.length <= MAX_WHOLE_BYTES ? next : written);
      },
    });
    return byEditor ? addEditorNote(result, byEditor) : result;
  } finally {
    await handle?.close();
    await folder?.close();
  }
}

function addEditorNote(
  result: ToolResult,
  {note, isSaved}: {readonly note: string; readonly isSaved: boolean},
): ToolResult {
  const content = [getText(result.content ?? ''), note].filter((part) => part !== '').join('\n');
  return {...result, content, ...(!isSaved && {facts: {...result.facts, changed: []}})};
}

/** Undefined when there is no such file. */
async function openToChange(folder: OpenFolder, name: string, shown: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await openRegularFile(folder, name);
    // A replacement would succeed even without write permission on the file, against the will of its owner.
    if (handle) await folder.use(name, (place) => access(place, constants.W_OK));
    return handle;
  } catch (error) {
    await handle?.close();
    const code = getErrorCode(error) ?? '';
    if (code === 'DIRECTORY') throw new MiniCcError(code, `${shown} is a directory.`);
    if (code === 'NOT_A_FILE') throw new MiniCcError(code, `${shown} is not a regular file: it is not written.`);
    if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
      const why = code === 'EROFS' ? 'its file system is read-only' : 'permission denied';
      throw new MiniCcError(code, `${shown} may not be read and written: ${why}.`);
    }
    throw error;
  }
}

function assertNoNewMark(before: string, after: string, shown: string): void {
  const mark = findNewMark(before, after);
  if (mark === undefined) return;
  throw new MiniCcError(
    'MARK',
    `${shown}: ${mark} stands for a value that mini-cc hides, and would be written in its place. Nothing was changed. Leave that part of the file as it is, or let the user put the value in.`,
  );
}

/** A question has no signal. */
const NEVER = new AbortController().signal;

/**
 * Reads a file for the diff that a question shows. Undefined when it is missing, no regular file, unreadable, or large.
 * @param path absolute, with links resolved
 */
export async function readForPreview(
  path: string,
  {buffers}: FileLocks,
  workspace: Workspace,
): Promise<Buffer | undefined> {
  try {
    return await withRegularFile(path, async (handle) => {
      const stamp = await handle.stat({bigint: true});
      if (stamp.size > MAX_WHOLE_BYTES) return undefined;
      const content = await handle.readFile();
      return (await buffers?.read({path, content, stamp}, workspace, NEVER)) ?? content;
    });
  } catch {
    // The question is shown without a diff, and the call itself reports the problem.
    return undefined;
  }
}
