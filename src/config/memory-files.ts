/**
 * AGENTS.md, else CLAUDE.md: from the repository's root down to the working directory, and the user's own. Their text
 * goes to the model's server, so one of the project that is a link out of it counts only where that is trusted.
 */
import {existsSync, readFileSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Claim, Trusts} from '../core/contract/trust.ts';

/** Longer files are cut here: they are paid for with every request. */
const MAX_CHARS = 40_000;

const MEMORY = ['AGENTS.md', 'CLAUDE.md'];
const NOTES = 'TOOLS.md';

export interface MemoryFile {
  readonly path: string;
  readonly text: string;
}

/** Farthest first, so that the nearest has the last word. */
export function memoryFiles(cwd: string, home: string, trusts: Trusts): MemoryFile[] {
  return readNearest({cwd, home, trusts}, MEMORY, 'AGENTS.md');
}

/** Notes on tools, which subagents get beside the memory files. */
export function toolNotes(cwd: string, home: string, trusts: Trusts): MemoryFile[] {
  return readNearest({cwd, home, trusts}, [NOTES], NOTES);
}

/** Files of the project that are links out of it, with what they lead to. */
export function memoryClaims(cwd: string): Claim[] {
  const folders = foldersFrom(cwd);
  return folders.flatMap((folder) =>
    [...MEMORY, NOTES].flatMap((name) => wayOut(path.join(folder, name), folders[0]!) ?? []),
  );
}

interface Places {
  readonly cwd: string;
  readonly home: string;
  readonly trusts: Trusts;
}

/** @param names of which the first that is there counts, folder by folder; `own` is the user's. */
function readNearest({cwd, home, trusts}: Places, names: readonly string[], own: string): MemoryFile[] {
  const folders = foldersFrom(cwd);
  const counts = (file: string) => {
    if (!isFile(file)) return false;
    const claim = wayOut(file, folders[0]!);
    return claim === undefined || trusts(claim);
  };
  const ofProject = folders.map((folder) => names.map((name) => path.join(folder, name)).find(counts));
  const files = [[path.join(home, own)].find(isFile), ...ofProject].filter((file) => file !== undefined);
  return files.map((file) => ({path: file, text: readFileSync(file, 'utf8').slice(0, MAX_CHARS)}));
}

/** From the repository's root down; outside of a repository only the working directory itself counts. */
function foldersFrom(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    folders.unshift(folder);
    if (existsSync(path.join(folder, '.git'))) return folders;
    if (path.dirname(folder) === folder) return [cwd];
  }
}

/** Undefined for what is not there and what stays within the root. */
function wayOut(file: string, root: string): Claim | undefined {
  if (!isFile(file)) return undefined;
  const target = realpathSync(file);
  return target.startsWith(path.join(realpathSync(root), '/')) ? undefined : {file, key: 'link', value: target};
}

/** Neither a folder nor a pipe, on which reading would wait. */
function isFile(file: string): boolean {
  try {
    return statSync(file, {throwIfNoEntry: false})?.isFile() ?? false;
  } catch (error) {
    // A link in a circle, or one through what is no folder: nothing is there.
    if (error instanceof Error) return false;
    throw error;
  }
}
