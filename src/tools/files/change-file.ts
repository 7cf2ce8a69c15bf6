/** What `write_file` and `edit_file` have in common: access, lock, checks before the change, and the replacement. */
import {mkdir, readFile, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type {Access, Workspace} from '../../core/contract/permission.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {ToolContext} from '../../core/contract/tool.ts';
import {findNewMark} from '../../core/secrets/redaction.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {absolutePath, assertPermitted, shownPath, writeTarget} from './paths.ts';

/** Lets one agent at a time change a file: two that edit it at once would lose an update. */
export class FileLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all earlier work on `path` has ended, with success or not. @throws what `work` throws. */
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

/** @param preview makes the diff that a question shows; it is called only then. */
export function writeAccess(path: string, workspace: Workspace, preview: (absolute: string) => string): Access[] {
  const absolute = absolutePath(path, workspace);
  return [
    {
      kind: 'write',
      path: absolute,
      get preview() {
        return preview(absolute);
      },
    },
  ];
}

/** A file that a tool is about to change, under its lock. */
export interface FileToChange {
  /** Absolute, links resolved. */
  readonly path: string;
  /** The path as results name it. */
  readonly shown: string;
  /** The current content; undefined when there is no such file. */
  readonly old: Buffer | undefined;
  /**
   * Replaces the content as a whole; readers see the old content or the new one.
   * @param texts the old and the new text. @throws MiniCcError `MARK` when the new text has a mark where a key was.
   */
  replace(content: Buffer, texts: {readonly before: string; readonly after: string}): Promise<void>;
}

/**
 * Checks that the file may be changed and that this agent has seen its current content, then calls `change`.
 * @throws MiniCcError `NOT_PERMITTED`, `DIRECTORY`, `NOT_A_FILE`, `NOT_READ`, `STALE`; the file system's error.
 */
export async function changeFile(
  named: string,
  locks: FileLocks,
  context: ToolContext,
  change: (file: FileToChange) => Promise<ToolResult>,
): Promise<ToolResult> {
  const {workspace, files} = context;
  const path = await writeTarget(absolutePath(named, workspace));
  assertPermitted(path, context);
  return locks.run(path, async () => {
    const shown = shownPath(path, workspace);
    const exists = await isExistingFile(path, shown);
    if (exists) await files.assertFresh(path);
    return change({
      path,
      shown,
      old: exists ? await readFile(path) : undefined,
      async replace(content, {before, after}) {
        assertNoNewMark(before, after, shown);
        await mkdir(dirname(path), {recursive: true});
        // Keeps mode and owner of a file that exists.
        await writeFileAtomic(path, content);
        files.recordWrite(path, content);
      },
    });
  });
}

function assertNoNewMark(before: string, after: string, shown: string): void {
  const mark = findNewMark(before, after);
  if (mark === undefined) return;
  throw new MiniCcError(
    'MARK',
    `${shown}: ${mark} stands for a value that mini-cc hides, and would be written in its place. Nothing was changed. Leave that part of the file as it is, or let the user put the value in.`,
  );
}

async function isExistingFile(path: string, shown: string): Promise<boolean> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new MiniCcError('DIRECTORY', `${shown} is a directory.`);
    if (!stats.isFile()) throw new MiniCcError('NOT_A_FILE', `${shown} is not a regular file: it is not written.`);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
