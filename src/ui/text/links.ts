/** Finds addresses and files in text, and the addresses by which a terminal opens them (OSC 8). */
import {statSync} from 'node:fs';
import {homedir, hostname} from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`|\\^{}…\u2400-\u2426]+/gi;
/** Matches characters after an address that are not part of it. */
const AFTER = /[.,;:!?*_~\])]+$/;
/** Matches the name of a file, perhaps with a line number: `src/a.ts:12`. */
const FILE = /^((?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.\w+)(?::\d+(?:[:-]\d+)*)?$/;
/** Characters. Terminals ignore longer addresses. */
const MAX_ADDRESS = 2000;

/** Returns the file that a piece of code may name, without its line number. Files outside of the project are left out. */
export function findFile(code: string): string | undefined {
  return code.includes('..') ? undefined : FILE.exec(code)?.[1];
}

/** Finds the addresses in a text, by offsets of characters. */
export function findAddresses(text: string): {readonly start: number; readonly end: number}[] {
  if (!text.includes('://')) return [];
  return [...text.matchAll(ADDRESS)].map(({0: found, index}) => {
    const after = AFTER.exec(found)?.[0] ?? '';
    const bare = found.slice(0, found.length - after.length);
    // A bracket that was opened inside of the address belongs to it.
    const isClosed = after.startsWith(')') && bare.lastIndexOf('(') > bare.lastIndexOf(')');
    return {start: index, end: index + bare.length + (isClosed ? 1 : 0)};
  });
}

/** Returns the address that a terminal opens, in printable ASCII; undefined for a target that is no link. */
export type Linker = (target: string) => string | undefined;

/**
 * @param cwd folder of relative paths
 * @param isRemote true when the terminal is on another machine, whose files are others
 */
export function createLinker(cwd: string, isRemote = process.env.SSH_CONNECTION !== undefined): Linker {
  const resolve: Linker = (target) => {
    if (/^(?:https?|mailto):/i.test(target)) return URL.canParse(target) ? new URL(target).href : undefined;
    if (/^[a-z][a-z\d+.-]*:/i.test(target)) return undefined;
    const file = path.resolve(cwd, target.replace(/^~(?=\/|$)/, homedir()));
    return exists(file) ? `file://${isRemote ? hostname() : ''}${pathToFileURL(file).pathname}` : undefined;
  };
  return (target) => {
    const url = resolve(target);
    return url !== undefined && url.length <= MAX_ADDRESS && /^[!-~]+$/.test(url) ? url : undefined;
  };
}

function exists(file: string): boolean {
  try {
    return statSync(file, {throwIfNoEntry: false}) !== undefined;
  } catch {
    // A name that is too long or leads through a file names nothing.
    return false;
  }
}
