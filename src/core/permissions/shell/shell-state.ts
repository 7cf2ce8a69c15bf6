/** What a command changes in the shell that runs it: its directory by `cd`, its variables, and what its words mean. */
import type {Assignment} from 'unbash';
import {NotProven} from './shell-words.ts';

/**
 * The directories in which the shell may be, relative to where the command started. After `cd a` that is `a` where `cd`
 * succeeded, and the directory before it where `cd` failed.
 */
export type Directories = readonly string[];

export const START: Directories = ['.'];
const MAX_DIRECTORIES = 8;

/** Where the shell may be after a command that succeeded, and after one that failed. */
export interface DirectoriesAfter {
  readonly succeeded: Directories;
  readonly failed: Directories;
}

export function stay(directories: Directories): DirectoriesAfter {
  return {succeeded: directories, failed: directories};
}

/** @throws NotProven when there are too many to follow */
export function mergeDirectories({succeeded, failed}: DirectoriesAfter): Directories {
  return union(succeeded, failed);
}

/** @throws NotProven when there are too many to follow */
export function union(a: Directories, b: Directories): Directories {
  const all = [...new Set([...a, ...b])];
  if (all.length > MAX_DIRECTORIES) throw new NotProven('cd: it may end in too many directories');
  return all;
}

/** The path as seen from where the command started. Not normalized: where `..` leads behind a link is not known here. */
export function joinPath(directory: string, path: string): string {
  if (directory === '.' || path.startsWith('/') || path === '~' || path.startsWith('~/')) return path;
  return path === '.' ? directory : `${directory}/${path}`;
}

/**
 * Whether `..` follows a name, which may be a link. Then `cd` leads to the folder that contains the name, all other
 * programs to the one that contains what the link points to.
 */
export function goesDownAndUp(path: string): boolean {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  return steps.lastIndexOf('..') > steps.findIndex((step) => step !== '..') && steps.some((step) => step !== '..');
}

/** Builtins that change the shell itself: after them it is not known what further words mean. */
export const CHANGES_THE_SHELL: ReadonlySet<string> = new Set([
  ...['source', '.', 'eval', 'export', 'set', 'shopt', 'alias', 'unalias', 'unset', 'declare', 'typeset', 'readonly'],
  ...['local', 'read', 'mapfile', 'readarray', 'trap', 'enable', 'exec', 'pushd', 'popd', 'hash', 'builtin', 'command'],
  ...['printf', 'let', 'getopts', 'complete', 'bind'],
]);

/** Variables before a command that change little of what it does. Others could change which program it runs. */
const HARMLESS_VARIABLES = new Set([
  ...['NODE_ENV', 'CI', 'FORCE_COLOR', 'NO_COLOR', 'LANG', 'LC_ALL', 'TZ', 'COLUMNS', 'PYTHONUNBUFFERED'],
  'RUST_BACKTRACE',
]);

/**
 * @param isPermitted a rule allows the command behind the assignment
 * @throws NotProven for an assignment that could change what runs
 */
export function checkAssignment({name, value, index, append, text}: Assignment, isPermitted: boolean): void {
  const isPlain = value.type === 'Word' && index === undefined && !append && /^\w+=[\w./:@%+-]*$/.test(text);
  if (!isPermitted || !isPlain || !HARMLESS_VARIABLES.has(name)) throw new NotProven('it sets a variable');
}
