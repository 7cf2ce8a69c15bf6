/** Lists the files that bash would find for a pattern, and all files below a folder, before a command runs. */

import {type Dirent, readdirSync} from 'node:fs';
import path from 'node:path';
import {tryOr} from '../../util/errors.ts';
import {Glob} from '../../util/glob.ts';
import {expandHome} from './resolve-links.ts';

/** Number of entries of folders that are read at most. */
const MAX_ENTRIES = 20_000;

/**
 * Returns what a command with this pattern may read: the folders that bash lists, and the links that match, which may
 * lead elsewhere, and the files that match. It stops early in folders with very many entries.
 * @param cwd absolute path of the folder where the pattern is expanded
 */
export function expandPattern(pattern: string, cwd: string): string[] {
  const full = expandHome(pattern);
  const steps = full.split('/').filter((step) => step !== '');
  let folders = [path.isAbsolute(full) ? '/' : cwd];
  const found = new Set<string>();
  let entryCount = 0;
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    if (!/[*?[]/.test(step)) {
      // The path is not normalized, because `..` behind a link leads elsewhere.
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
        if (entryCount > MAX_ENTRIES) return [...found];
        if (!matches(entry.name)) continue;
        const target = `${folder}/${entry.name}`;
        if (entry.isSymbolicLink() || isLast) found.add(target);
        if (entry.isSymbolicLink() || entry.isDirectory()) next.push(target);
      }
    }
    folders = next;
  }
  return [...found];
}

/**
 * Lists the files below a folder, the nearest first, without `.git` and `node_modules`. In very large folders it stops
 * early.
 */
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

/** Returns the entries of a folder, or none if it cannot be listed. */
export function listEntries(folder: string): Dirent[] {
  return tryOr(() => readdirSync(folder, {withFileTypes: true}), []);
}

/** The matcher matches too much rather than too little: brackets match any character. */
function createStepMatcher(step: string): (name: string) => boolean {
  const glob = new Glob(step.replaceAll('\\', '\\\\').replace(/\[[^\]]*\]/g, '?'));
  return (name) => (!name.startsWith('.') || /^[.[]/.test(step)) && glob.matches(name);
}
