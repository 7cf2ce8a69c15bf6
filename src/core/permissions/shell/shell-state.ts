/** Directories in which a command may find itself, relative to where it started: after `cd a`, if that succeeded, `a`. */
import type {Assignment} from 'unbash';
import {NotProven} from './shell-words.ts';

export type Places = readonly string[];

export const START: Places = ['.'];
const MOST_PLACES = 8;

/** Where it may be after a command that succeeded, and after one that failed. */
export interface After {
  readonly succeeded: Places;
  readonly failed: Places;
}

export function stay(places: Places): After {
  return {succeeded: places, failed: places};
}

export function either({succeeded, failed}: After): Places {
  return union(succeeded, failed);
}

/** @throws NotProven when there are too many to follow. */
export function union(a: Places, b: Places): Places {
  const all = [...new Set([...a, ...b])];
  if (all.length > MOST_PLACES) throw new NotProven('cd: it may end in too many places');
  return all;
}

/** No normal form: what `..` leads to is not known here. */
export function under(place: string, path: string): string {
  if (place === '.' || path.startsWith('/') || path === '~' || path.startsWith('~/')) return path;
  return path === '.' ? place : `${place}/${path}`;
}

/** `..` behind a name, which may be a link: `cd` goes back by the name, all others from where the link leads. */
export function goesDownAndUp(path: string): boolean {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  return steps.lastIndexOf('..') > steps.findIndex((step) => step !== '..') && steps.some((step) => step !== '..');
}

/** Change the shell itself: what the words after them mean is no longer known. */
export const CHANGES_THE_SHELL = new Set([
  ...['source', '.', 'eval', 'export', 'set', 'shopt', 'alias', 'unalias', 'unset', 'declare', 'typeset', 'readonly'],
  ...['local', 'read', 'mapfile', 'readarray', 'trap', 'enable', 'exec', 'pushd', 'popd', 'hash', 'builtin', 'command'],
  ...['printf', 'let', 'getopts', 'complete', 'bind'],
]);

/** Words before a command that change little of what it does; others could change which program it is. */
const HARMLESS_VARIABLES = new Set([
  ...['NODE_ENV', 'CI', 'FORCE_COLOR', 'NO_COLOR', 'LANG', 'LC_ALL', 'TZ', 'COLUMNS', 'PYTHONUNBUFFERED'],
  'RUST_BACKTRACE',
]);
/** @throws NotProven for one that could change what runs. */
export function checkAssignment({name, value, index, append, text}: Assignment, isPermitted: boolean): void {
  const isPlain = value.type === 'Word' && index === undefined && !append && /^\w+=[\w./:@%+-]*$/.test(text);
  if (!isPermitted || !isPlain || !HARMLESS_VARIABLES.has(name)) throw new NotProven('it sets a variable');
}
