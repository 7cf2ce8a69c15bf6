/** Chooses which files of git's list a capture takes, and says why it leaves others out. */
import {accessSync, constants, lstatSync, realpathSync, type Stats} from 'node:fs';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import {MiniCcError, tryOr} from '../../core/util/errors.ts';
import {isGitName} from '../../core/util/files/git-folder.ts';
import {isInside} from '../../core/util/paths.ts';
import {getDefaultMode} from './file-state.ts';

export interface CaptureLimits {
  /** Bytes above which a file is left out. */
  readonly fileBytes: number;
  /** Number of new or changed files above which a capture fails. `bytes` limits their total size. */
  readonly files: number;
  readonly bytes: number;
}

interface ChoiceOptions {
  readonly top: string;
  /** With limits, names that are not UTF-8 are left out too, because they cannot be recorded. */
  readonly limits?: CaptureLimits | undefined;
  /** Whether the commits of submodules are captured instead of their files. */
  readonly submodules?: boolean | undefined;
  /** Absolute paths that are left out and not reported. */
  readonly without?: readonly string[] | undefined;
}

type LeftOutReason =
  | 'it cannot be read'
  | 'it is a git repository of its own'
  | 'git refuses its name'
  | 'it is too large';

export interface LeftOutFile {
  /** Name relative to the top. A nested repository ends with a slash. */
  readonly name: string;
  readonly why: LeftOutReason;
}

interface ChosenFiles {
  readonly added: readonly Buffer[];
  /** Permission bits of added files, by name, when they differ from those of a new file. */
  readonly modes: ReadonlyMap<string, number>;
  readonly removed: readonly Buffer[];
  readonly leftOut: readonly LeftOutFile[];
}

/** Arguments with which git lists the files that differ from its index. */
export const LIST_DIFFERING: readonly string[] =
  'ls-files -z --full-name --modified --deleted --others --exclude-standard'.split(' ');

/** Number of files that are checked before other work of the process gets its turn. */
const FILES_AT_ONCE = 500;

/** @param names names as git lists them, relative to `top`. @throws MiniCcError `TOO_LARGE` */
export async function chooseFiles(
  names: readonly Buffer[],
  {top, limits, submodules = false, without = []}: ChoiceOptions,
): Promise<ChosenFiles> {
  const added: Buffer[] = [];
  const modes = new Map<string, number>();
  const removed: Buffer[] = [];
  const leftOut: LeftOutFile[] = [];
  const realFolders = new Map<string, boolean>();
  const isReachable = (folder: string) => {
    if (!realFolders.has(folder)) realFolders.set(folder, isReal(Buffer.from(folder, 'latin1')));
    return realFolders.get(folder)!;
  };
  const place = Buffer.from(`${top}${path.sep}`);
  let bytes = 0;
  // Git lists a file twice when it is both modified and deleted.
  const unique = new Map(names.map((name) => [name.toString('latin1'), name])).values();
  for (const [index, name] of [...unique].entries()) {
    if (index % FILES_AT_ONCE === 0) await setImmediate();
    const shown = name.toString();
    const file = Buffer.concat([place, name]);
    if (isInside(path.join(top, shown), without)) continue;
    const stat = isReachable(path.dirname(file.toString('latin1'))) ? lstatIfReachable(file) : undefined;
    const why = findReason(name, file, stat, limits);
    if (why !== undefined) leftOut.push({name: shown, why});
    else if (!stat || (stat.isDirectory() && !(submodules && lstatIfReachable(`${file}/.git`)))) removed.push(name);
    else {
      added.push(name);
      const mode = stat.mode & 0o7777;
      if (stat.isFile() && mode !== getDefaultMode((mode & 0o100) !== 0)) modes.set(shown, mode);
      bytes += stat.size;
    }
    if (limits && added.length > limits.files)
      throw createTooLargeError(`more than ${limits.files.toLocaleString('en')} new files`);
    if (limits && bytes > limits.bytes)
      throw createTooLargeError(`more than ${limits.bytes / 1024 / 1024} MB of new files`);
  }
  return {added, modes, removed, leftOut};
}

function findReason(
  name: Buffer,
  file: Buffer,
  stat: Stats | undefined,
  limits: CaptureLimits | undefined,
): LeftOutReason | undefined {
  const shown = name.toString();
  // Git lists an untracked repository with a slash at the end.
  if (shown.endsWith('/')) return 'it is a git repository of its own';
  if (limits && !Buffer.from(shown).equals(name)) return 'it cannot be read';
  if (!stat || stat.isDirectory()) return undefined;
  if (shown.split('/').some(isGitName)) return 'git refuses its name';
  if (stat.isSymbolicLink()) return undefined;
  if (!stat.isFile() || !isReadable(file)) return 'it cannot be read';
  return limits && stat.size > limits.fileBytes ? 'it is too large' : undefined;
}

function isReadable(file: Buffer): boolean {
  return tryOr(() => accessSync(file, constants.R_OK) ?? true, false);
}

/** Undefined when the file does not exist or cannot be reached. */
function lstatIfReachable(file: Buffer | string): Stats | undefined {
  return tryOr(() => lstatSync(file, {throwIfNoEntry: false}), undefined);
}

/** Whether the folder exists and its path has no links. */
export function isReal(folder: Buffer | string): boolean {
  return tryOr(() => realpathSync.native(folder, 'buffer').equals(Buffer.from(folder)), false);
}

function createTooLargeError(what: string): MiniCcError {
  return new MiniCcError('TOO_LARGE', `the workspace is too large: ${what}`);
}
