/** What a pattern of file names leads to, before bash expands it. */
import {type Dirent, readdirSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {escapeRegExp} from '../rules/rule.ts';

/** Entries that are looked at; beyond that it is not known. */
const MOST_ENTRIES = 20_000;

/**
 * The folders that are listed, and of what matches each link: a plain file lies where its folder does.
 * @param isEach plain files too, since rules are about them.
 * @returns undefined when there are too many, or one that could be taken for an option.
 */
export function matchingPlaces(pattern: string, cwd: string, isEach: boolean): string[] | undefined {
  const home = pattern.startsWith('~/') ? path.join(homedir(), pattern.slice(1)) : pattern;
  const steps = home.split('/').filter((step) => step !== '');
  let folders = [path.isAbsolute(home) ? '/' : cwd];
  const places = new Set<string>();
  let seen = 0;
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    if (!/[*?[]/.test(step)) {
      // No normal form: `..` behind a link leads elsewhere.
      folders = folders.map((folder) => `${folder}/${step}`);
      if (isLast) for (const folder of folders) places.add(folder);
      continue;
    }
    const next: string[] = [];
    for (const folder of folders) {
      places.add(folder);
      for (const entry of entriesOf(folder)) {
        seen += 1;
        if (seen > MOST_ENTRIES) return undefined;
        if (!matchesStep(step, entry.name)) continue;
        if (entry.name.startsWith('-')) return undefined;
        const place = `${folder}/${entry.name}`;
        if (entry.isSymbolicLink() || (isLast && isEach)) places.add(place);
        if (entry.isSymbolicLink() || entry.isDirectory()) next.push(place);
      }
    }
    folders = next;
  }
  return [...places];
}

/** Files below a folder, the nearest first, without those of version control; of very many, the first ones. */
export function filesBelow(folder: string): string[] {
  const files: string[] = [];
  const folders = [folder];
  let seen = 0;
  for (let at = folders.shift(); at !== undefined && seen < MOST_ENTRIES; at = folders.shift()) {
    for (const entry of entriesOf(at)) {
      seen += 1;
      const place = `${at}/${entry.name}`;
      if (entry.isFile()) files.push(place);
      else if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') folders.push(place);
    }
  }
  return files;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, {withFileTypes: true});
  } catch {
    // What cannot be listed matches nothing.
    return [];
  }
}

/** Rather too much: letters in brackets are any letter. */
function matchesStep(step: string, name: string): boolean {
  if (name.startsWith('.') && !/^[.[]/.test(step)) return false;
  const source = step
    .split(/(\*|\?|\[[^\]]*\])/)
    .map((piece, index) => (index % 2 === 0 ? escapeRegExp(piece) : piece === '*' ? '.*' : '.'))
    .join('');
  return new RegExp(`^${source}$`, 's').test(name);
}
