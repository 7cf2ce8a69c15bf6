/** The files that deny rules for reading name: where a sandbox is used, a command finds them empty. */
import {realpathSync} from 'node:fs';
import type {MaskedFiles, Workspace} from '../../contract/permission.ts';
import {listEntries} from '../files/file-patterns.ts';
import {getRoots} from '../files/file-zone.ts';
import type {RuleBook} from './rule-book.ts';

/** The sandbox needs an entry for each file. */
const MAX_FILES = 1000;
/** So many entries of folders are looked at. */
const MAX_ENTRIES = 20_000;
/** No file has this name: a rule that matches it in a folder matches all that is in the folder. */
const ANY_NAME = '\u0001';

/**
 * The files below the workspace that a deny rule matches, and whole folders where it matches all in them, the nearest
 * first. `.git` and `node_modules` are not looked into. Undefined when there are no such rules.
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

/** Files outside of the workspace that a pattern names without stars. */
function listNamed(patterns: readonly string[], isDenied: (target: string) => boolean): string[] {
  const absolute = patterns.flatMap((pattern) => (/^\/\/[^*?[\]\\]+$/.test(pattern) ? [pattern.slice(1)] : []));
  return absolute.filter(isDenied);
}

function createMask(found: ReadonlySet<string>, why?: string): MaskedFiles {
  const paths = [...found].slice(0, MAX_FILES).flatMap((target) => resolve(target) ?? []);
  const note = why && `(not all files of the deny rules for read_file are hidden from this command: ${why})`;
  return {paths, ...(note !== undefined && {note})};
}

/** Where the path leads. Undefined for a link that leads nowhere, and for a file that was deleted meanwhile. */
function resolve(target: string): string | undefined {
  try {
    return realpathSync(target);
  } catch {
    return undefined;
  }
}
