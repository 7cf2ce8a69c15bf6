/** Chooses which files of git's list go into a snapshot: no huge files, and none that git cannot add. */
import {accessSync, constants, lstatSync, realpathSync, type Stats} from 'node:fs';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import {MiniCcError} from '../../core/util/errors.ts';
import {getDefaultMode} from './file-state.ts';

/** Larger files are left out. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Limits for new or changed files in one snapshot. */
const MAX_NEW_FILES = 20_000;
const MAX_NEW_BYTES = 256 * 1024 * 1024;
/** Files that are checked in a row before other work of the process gets its turn. */
const FILES_AT_ONCE = 500;

interface FilteredFiles {
  readonly added: readonly Buffer[];
  /** By name, of added files: permission bits that differ from those of a new file. */
  readonly modes: ReadonlyMap<string, number>;
  readonly removed: readonly Buffer[];
  readonly leftOut: readonly string[];
}

/** @param names as git lists them, relative to `top`. @throws MiniCcError `TOO_LARGE` */
export async function filterSnapshotFiles(top: string, names: readonly Buffer[]): Promise<FilteredFiles> {
  const added: Buffer[] = [];
  const modes = new Map<string, number>();
  const removed: Buffer[] = [];
  const leftOut: string[] = [];
  const realFolders = new Map<string, boolean>();
  let bytes = 0;
  // Git lists a modified and deleted file twice.
  const unique = [...new Map(names.map((name) => [name.toString('latin1'), name])).values()];
  for (const [index, name] of unique.entries()) {
    if (index % FILES_AT_ONCE === 0) await setImmediate();
    const shown = name.toString();
    // A name that is not UTF-8 cannot be noted. A name that ends in a slash is a nested repository.
    if (!Buffer.from(shown).equals(name) || shown.endsWith('/')) {
      leftOut.push(shown);
      continue;
    }
    const file = path.join(top, shown);
    const folder = path.dirname(file);
    if (!realFolders.has(folder)) realFolders.set(folder, isReal(folder));
    const stat = realFolders.get(folder) ? lstatIfReachable(file) : undefined;
    if (!stat || stat.isDirectory()) removed.push(name);
    else if (isIncluded(file, stat)) {
      added.push(name);
      const mode = stat.mode & 0o7777;
      if (stat.isFile() && mode !== getDefaultMode((mode & 0o100) !== 0)) modes.set(shown, mode);
      bytes += stat.size;
    } else leftOut.push(shown);
    if (added.length > MAX_NEW_FILES)
      throw createTooLargeError(`more than ${MAX_NEW_FILES.toLocaleString('en')} new files`);
    if (bytes > MAX_NEW_BYTES) throw createTooLargeError(`more than ${MAX_NEW_BYTES / 1024 / 1024} MB of new files`);
  }
  return {added, modes, removed, leftOut};
}

function isIncluded(file: string, stat: Stats): boolean {
  if (stat.isSymbolicLink()) return true;
  return stat.isFile() && stat.size <= MAX_FILE_BYTES && isReadable(file);
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined when the file does not exist or cannot be reached. */
function lstatIfReachable(file: string): Stats | undefined {
  try {
    return lstatSync(file, {throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}

/** Whether the folder exists and its path has no links. */
function isReal(folder: string): boolean {
  try {
    return realpathSync(folder) === folder;
  } catch {
    return false;
  }
}

function createTooLargeError(what: string): MiniCcError {
  return new MiniCcError('TOO_LARGE', `the workspace is too large: ${what}`);
}
