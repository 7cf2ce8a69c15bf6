/** Puts a file in place whole: readers see the old content or the new, never half of it. */
import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import {newMark} from '../../core/secrets/redaction.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {codeOf} from '../../core/util/file-errors.ts';

/** Keeps mode and owner of a file that is there; makes the directories of one that is not. `path` has its links resolved. */
export async function replaceFile(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), {recursive: true});
  await writeFileAtomic(path, content);
}

/** @throws MiniCcError `MARK` when the new text has a mark where a key was. @param shown the path for messages */
export function assertNoNewMark(before: string, after: string, shown: string): void {
  const mark = newMark(before, after);
  if (mark === undefined) return;
  throw new MiniCcError(
    'MARK',
    `${shown}: ${mark} stands for a value that mini-cc hides, and would be written in its place. Nothing was changed. Leave that part of the file as it is, or let the user put the value in.`,
  );
}

/** @throws MiniCcError when something other than a regular file is at `path`. */
export async function isExistingFile(path: string, shown: string): Promise<boolean> {
  try {
    const about = await stat(path);
    if (about.isDirectory()) throw new MiniCcError('DIRECTORY', `${shown} is a directory.`);
    if (!about.isFile()) throw new MiniCcError('NOT_A_FILE', `${shown} is not a regular file: it is not written.`);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
