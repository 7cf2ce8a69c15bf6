/** The files that bash finds for a pattern of file names, and all files below a folder: found before a command runs. */
import {type Dirent, readdirSync} from 'node:fs';
import path from 'node:path';
import {Glob} from '../../util/glob.ts';
import {expandHome} from './resolve-links.ts';

/** So many entries of folders are looked at, at most. */
const MAX_ENTRIES = 20_000;

/**
 * What a command with this pattern may read: the folders that bash lists, and the links that match, which may lead
 * elsewhere. A plain file lies in a folder of the result.
 * @param cwd absolute: where the pattern is expanded
 * @param withFiles also the plain files that match, for rules about files
 * @returns undefined when the folders have too many entries, or when a name that matches begins with `-`, since a program
 * could take it for an option
 */
export function expandPattern(pattern: string, cwd: string, withFiles: boolean): string[] | undefined {
  const full = expandHome(pattern);
  const steps = full.split('/').filter((step) => step !== '');
  let folders = [path.isAbsolute(full) ? '/' : cwd];
  const found = new Set<string>();
  let entryCount = 0;
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    if (!/[*?[]/.test(step)) {
      // Not normalized: `..` behind a link leads elsewhere.
      folders = folders.map((folder) => `${folder}/${step}`);
      if (isLast) for (const folder of folders) found.add(folder);
      continue;
    }
    const matches = createStepMatcher(step);
    const next: string[] = [];
    for (const folder of folders) {
      found.add(folder);
      for (const entry of listEntries(folder)) {
        entryCount += 1;
        if (entryCount > MAX_ENTRIES) return undefined;
        if (!matches(entry.name)) continue;
        if (entry.name.startsWith('-')) return undefined;
        const target = `${folder}/${entry.name}`;
        if (entry.isSymbolicLink() || (isLast && withFiles)) found.add(target);
        if (entry.isSymbolicLink() || entry.isDirectory()) next.push(target);
      }
    }
    folders = next;
  }
  return [...found];
}

/** Files below a folder, the nearest first, without `.git` and `node_modules`. Where there are very many, the first ones. */
export function listFilesBelow(root: string): string[] {
  const files: string[] = [];
  const folders = [root];
  let entryCount = 0;
  for (let folder = folders.shift(); folder !== undefined && entryCount < MAX_ENTRIES; folder = folders.shift()) {
    for (const entry of listEntries(folder)) {
      entryCount += 1;
      const target = `${folder}/${entry.name}`;
      if (entry.isFile()) files.push(target);
      else if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') folders.push(target);
    }
  }
  return files;
}

/** The entries of a folder; none of one that cannot be listed. */
export function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, {withFileTypes: true});
  } catch {
    // Nothing matches in a folder that cannot be listed.
    return [];
  }
}

/** Rather too much: characters in brackets match any character. */
function createStepMatcher(step: string): (name: string) => boolean {
  const glob = new Glob(step.replaceAll('\\', '\\\\').replace(/\[[^\]]*\]/g, '?'));
  return (name) => (!name.startsWith('.') || /^[.[]/.test(step)) && glob.matches(name);
}
