/** Finds the files that deny rules for reading name. In a sandbox, commands find these files empty. */

import {realpathSync} from 'node:fs';
import type {MaskedFiles, Workspace} from '../../contract/permission.ts';
import {tryOr} from '../../util/errors.ts';
import {listEntries} from '../files/file-patterns.ts';
import {getRoots} from '../files/file-zone.ts';
import type {RuleBook} from './rule-book.ts';

/** The sandbox needs an entry for each file. */
const MAX_FILES = 1000;
/** Number of entries of folders that are read at most. */
const MAX_ENTRIES = 20_000;
/** No file has this name. A rule that matches it in a folder therefore matches everything in that folder. */
const ANY_NAME = '\u0001';

/**
 * Returns the files below the workspace that a deny rule matches, the nearest first, and whole folders where it matches
 * everything in them. It skips `.git` and `node_modules`, and returns undefined when there are no such rules.
 */
export function findMaskedFiles(rules: RuleBook, workspace: Workspace): MaskedFiles | undefined {
  const patterns = rules.getPatternRules(['read_file'], 'deny');
  if (patterns.length === 0) return undefined;
  const isDenied = (target: string) => rules.findFileRule('read_file', 'deny', [target], workspace.root) !== undefined;
  const found = new Set<string>(
    listNamed(
      patterns.map(({pattern}) => pattern),
      isDenied,
    ),
  );
  const folders = [...getRoots(workspace)];
  let entryCount = 0;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of listEntries(folder)) {
      entryCount += 1;
      const target = `${folder}/${entry.name}`;
      if (isDenied(target) || (entry.isDirectory() && isDenied(`${target}/${ANY_NAME}`))) found.add(target);
      else if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') folders.push(target);
      if (found.size > MAX_FILES) return createMask(found, `more than ${MAX_FILES} files match them`);
      if (entryCount > MAX_ENTRIES) return createMask(found, `there are more than ${MAX_ENTRIES} files`);
    }
  }
  return createMask(found);
}

/** Returns the files that absolute patterns without wildcards name; they may lie outside of the workspace. */
function listNamed(patterns: readonly string[], isDenied: (target: string) => boolean): string[] {
  const absolute = patterns.flatMap((pattern) => (/^\/\/[^*?[\]\\]+$/.test(pattern) ? [pattern.slice(1)] : []));
  return absolute.filter(isDenied);
}

function createMask(found: ReadonlySet<string>, why?: string): MaskedFiles {
  // A file may have been deleted since, and a link may lead nowhere.
  const paths = [...found].slice(0, MAX_FILES).flatMap((target) => tryOr(() => realpathSync(target), []));
  const note = why && `(not all files of the deny rules for read_file are hidden from this command: ${why})`;
  return {paths, ...(note !== undefined && {note})};
}
