/** Names the files of a project that mini-cc, its searches or git would read and that are no regular files or too large. */
import {statSync} from 'node:fs';
import path from 'node:path';
import {tryOr} from '../core/util/errors.ts';
import {findReadableRepository, getControlFiles} from '../core/util/files/git-folder.ts';
import {explainSkipped, MAX_JSON_BYTES, MAX_MARKDOWN_BYTES} from '../core/util/files/project-file.ts';
import {listProjectFolders} from '../core/util/paths.ts';
import {IGNORE_FILES, MAX_IGNORE_BYTES} from '../core/util/ripgrep.ts';
import {MEMORY, NOTES} from './memory-files.ts';

const CLAUDE_SETTINGS = ['settings.json', 'settings.local.json'];

/** @returns one line for each file */
export function describeSkippedFiles(cwd: string): string[] {
  const repository = findReadableRepository(cwd);
  const gitFiles = repository === undefined ? [] : getControlFiles(repository);
  const describe = (files: readonly string[], maxBytes: number, effect: string) =>
    files.flatMap((file) => {
      const why = explainSkipped(file, maxBytes);
      return why === undefined ? [] : [`${file} ${why}: ${effect}`];
    });
  const inFolders = (names: readonly string[]) =>
    listProjectFolders(cwd).flatMap((folder) => names.map((name) => path.join(folder, name)));
  // A `.git` may be a folder.
  const pointers = inFolders(['.git']).filter((file) => !tryOr(() => statSync(file).isDirectory(), false));
  return [
    ...describe(pointers, Number.POSITIVE_INFINITY, 'git passes over it'),
    ...describe(inFolders([...MEMORY, NOTES]), MAX_MARKDOWN_BYTES, 'it is not read'),
    ...describe(
      CLAUDE_SETTINGS.map((name) => path.join(cwd, '.claude', name)),
      MAX_JSON_BYTES,
      'it is not read',
    ),
    ...describe(inFolders(IGNORE_FILES), MAX_IGNORE_BYTES, 'searches use no ignore files'),
    ...describe(gitFiles, Number.POSITIVE_INFINITY, 'mini-cc runs no git here'),
  ];
}
