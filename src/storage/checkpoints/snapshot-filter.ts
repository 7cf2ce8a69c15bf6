/** What git would take into a snapshot, looked at once more: it must neither swallow huge files nor fail at odd ones. */
import {accessSync, constants, lstatSync, realpathSync, type Stats} from 'node:fs';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import {MiniCcError} from '../../core/util/errors.ts';
import {modeOfNew} from './file-state.ts';

/** Larger files are left out. */
const MOST_FILE_BYTES = 10 * 1024 * 1024;
/** What one snapshot may take in anew. */
const MOST_NEW_FILES = 20_000;
const MOST_NEW_BYTES = 256 * 1024 * 1024;
/** Each look is short; many of them must not stop everything else. */
const LOOKS_AT_ONCE = 500;

export interface SortedOut {
  readonly added: readonly Buffer[];
  /** By the names of those that are added: permissions that do not follow from whether a file is executable. */
  readonly modes: ReadonlyMap<string, number>;
  readonly removed: readonly Buffer[];
  readonly leftOut: readonly string[];
}

/** @param names as git lists them, relative to `top`. @throws MiniCcError `TOO_LARGE` */
export async function sortedOut(top: string, names: readonly Buffer[]): Promise<SortedOut> {
  const added: Buffer[] = [];
  const modes = new Map<string, number>();
  const removed: Buffer[] = [];
  const leftOut: string[] = [];
  const realFolders = new Map<string, boolean>();
  let bytes = 0;
  // One that is modified and deleted is listed twice.
  const each = [...new Map(names.map((name) => [name.toString('latin1'), name])).values()];
  for (const [index, name] of each.entries()) {
    if (index % LOOKS_AT_ONCE === 0) await setImmediate();
    const shown = name.toString();
    // A name that is no text cannot be noted down; what ends so is a repository of its own.
    if (!Buffer.from(shown).equals(name) || shown.endsWith('/')) {
      leftOut.push(shown);
      continue;
    }
    const file = path.join(top, shown);
    const folder = path.dirname(file);
    if (!realFolders.has(folder)) realFolders.set(folder, isReal(folder));
    const about = realFolders.get(folder) ? lookAt(file) : undefined;
    if (!about || about.isDirectory()) removed.push(name);
    else if (isTakenIn(file, about)) {
      added.push(name);
      const mode = about.mode & 0o7777;
      if (about.isFile() && mode !== modeOfNew((mode & 0o100) !== 0)) modes.set(shown, mode);
      bytes += about.size;
    } else leftOut.push(shown);
    if (added.length > MOST_NEW_FILES) throw tooMuch(`more than ${MOST_NEW_FILES.toLocaleString('en')} new files`);
    if (bytes > MOST_NEW_BYTES) throw tooMuch(`more than ${MOST_NEW_BYTES / 1024 / 1024} MB of new files`);
  }
  return {added, modes, removed, leftOut};
}

function isTakenIn(file: string, about: Stats): boolean {
  if (about.isSymbolicLink()) return true;
  return about.isFile() && about.size <= MOST_FILE_BYTES && isReadable(file);
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined for what is not there, or cannot be reached. */
function lookAt(file: string): Stats | undefined {
  try {
    return lstatSync(file, {throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}

/** It is there, and no link is on the way to it. */
function isReal(folder: string): boolean {
  try {
    return realpathSync(folder) === folder;
  } catch {
    return false;
  }
}

function tooMuch(what: string): MiniCcError {
  return new MiniCcError('TOO_LARGE', `the workspace is too large: ${what}`);
}
