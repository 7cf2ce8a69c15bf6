/** What changes the shell for what it runs: variables that are set, and commands of its own. */
import type {Assignment} from 'unbash';
import {NotProven} from './command-parser.ts';

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
