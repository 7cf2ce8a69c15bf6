/**
 * Reads and writes files of the workspace through the editor that drives the session, so that agents see what a person has
 * typed and not saved. mini-cc opens each file first, by the place that was judged, and hands that place to the editor. An
 * editor follows links, so it is not asked while a command runs that could put one there.
 */
import type {Workspace} from '../../core/contract/permission.ts';
import type {EditorFiles, FileStamp} from '../../core/contract/tool.ts';
import {getRoots} from '../../core/permissions/files/file-zone.ts';
import {MAX_WHOLE_BYTES} from '../../core/turn/file-ledger.ts';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {withRegularFile} from '../../core/util/files/open-folder.ts';
import {isInside} from '../../core/util/paths.ts';
import type {ProcessGroups} from '../../sandbox/launch/process-groups.ts';
import {decodeText, encodeAs, isBinary} from './text-file.ts';

/** Milliseconds in which an editor must answer. One that does not is not asked again to read. */
const READ_MS = 10_000;
const WRITE_MS = 30_000;

/** What mini-cc itself found at a place. */
interface FoundFile {
  /** Absolute, with links resolved. */
  readonly path: string;
  readonly content: Buffer;
  readonly stamp: FileStamp;
}

interface EditorWrite {
  /** Content that the next call finds. */
  readonly content: Buffer;
  readonly isSaved: boolean;
  /** Line for the model. Empty when the file on disk is as asked for. */
  readonly note: string;
}

export class EditorBuffers {
  #isSilent = false;

  /** @param commands the commands of all agents of the session */
  constructor(
    private readonly editor: EditorFiles,
    private readonly commands: ProcessGroups,
  ) {}

  /**
   * Returns the file as the editor would save it now. Undefined when it has no unsaved changes, or was not asked. It never
   * rejects.
   */
  async read(
    {path, content, stamp}: FoundFile,
    workspace: Workspace,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    if (this.#isSilent || !isOffered(path, content, workspace)) return undefined;
    const limit = AbortSignal.timeout(READ_MS);
    const text = await this.commands
      .withoutWriters(async () => {
        const given = await this.editor.read(path, AbortSignal.any([signal, limit]));
        const now = await withRegularFile(path, (handle) => handle.stat({bigint: true}));
        return now?.ino === stamp.ino && now.dev === stamp.dev ? given : undefined;
      })
      // Some editors refuse, e.g. files outside of their project. mini-cc has read the file itself.
      ?.catch(() => undefined);
    this.#isSilent = limit.aborted;
    const file = decodeText(content);
    if (text === undefined || text.length > MAX_WHOLE_BYTES || isSameText(text, file.text)) return undefined;
    return encodeAs(file, text.toWellFormed()).bytes;
  }

  /**
   * Lets the editor write the file, whose folder exists.
   * @param old what mini-cc found on disk; undefined for a new file
   * @returns undefined when the editor is not asked, and nothing was written
   * @throws MiniCcError `CHANGED`, `LINK`, `EDITOR`
   */
  async write(
    path: string,
    next: Buffer,
    old: Buffer | undefined,
    workspace: Workspace,
    signal: AbortSignal,
  ): Promise<EditorWrite | undefined> {
    const {write} = this.editor;
    const areOffered = [old ?? next, next].every((content) => isOffered(path, content, workspace));
    if (!write || this.#isSilent || !areOffered) return undefined;
    return this.commands.withoutWriters(async () => {
      if (!isSameContent(await readNow(path), old)) {
        throw new MiniCcError('CHANGED', `${path} was changed by another program meanwhile: nothing was written.`);
      }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(WRITE_MS)]);
      await write(path, decodeText(next).text, limit).catch((error: unknown) => {
        const why = getErrorMessage(error);
        throw new MiniCcError(
          'EDITOR',
          `The editor did not write ${path}: ${why}. Read it before you change it again.`,
        );
      });
      return describeWrite(await readNow(path), next, old);
    });
  }
}

/** Files in worktrees are copies that no editor shows. Files in other encodings than UTF-8 would come back changed. */
function isOffered(path: string, content: Buffer, workspace: Workspace): boolean {
  if (workspace.copyOf || !isInside(path, getRoots(workspace)) || content.length > MAX_WHOLE_BYTES) return false;
  const {encoding, mark} = decodeText(content);
  return encoding === 'utf8' && mark.length === 0 && !isBinary(content);
}

/** Line ends, and one at the end of the file, are the editor's own affair. */
function isSameText(a: string, b: string): boolean {
  const simplify = (text: string) => text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  return a === b || simplify(a) === simplify(b);
}

/** @returns undefined when nothing is there @throws MiniCcError `LINK`, `DIRECTORY`, `NOT_A_FILE` */
function readNow(path: string): Promise<Buffer | undefined> {
  return withRegularFile(path, (handle) => handle.readFile());
}

function isSameContent(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

function describeWrite(now: Buffer | undefined, next: Buffer, old: Buffer | undefined): EditorWrite {
  if (now && isSameText(decodeText(now).text, decodeText(next).text)) return {content: now, isSaved: true, note: ''};
  if (isSameContent(now, old)) {
    const note = '(The editor has this text and has not saved it: commands and searches still see the old file.)';
    return {content: next, isSaved: false, note};
  }
  const note =
    '(The editor saved another text than this one, e.g. a formatted one: read the file before you change it again.)';
  return {content: next, isSaved: true, note};
}
