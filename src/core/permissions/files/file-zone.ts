/** Finds the zone in which a file lies, and the files that are protected in every zone. */
import {existsSync, lstatSync, realpathSync} from 'node:fs';
import type {NotesPlace, Workspace} from '../../contract/permission.ts';
import {WORKTREES} from '../../contract/worktree.ts';
import {tryOr} from '../../util/errors.ts';
import {isInside} from '../../util/paths.ts';
import {listWords} from '../../util/text.ts';

/**
 * `workspace`: the project and `--add-dir`. `own`: files of mini-cc that agents may read. `secret`: keys. `system`:
 * files of the system and of package stores that every confined command sees. `outside`: all other files.
 */
type FileZone = 'workspace' | 'own' | 'secret' | 'system' | 'outside';

export interface ZonePaths {
  /** Folders of mini-cc that agents may read: cut outputs and transcripts of the current session. */
  readonly ownFolders: () => readonly string[];
  /** Files and folders with keys. Reading them is asked about or refused, even inside the workspace. */
  readonly secretPaths: readonly string[];
  /** Folders of the system and of package stores, which agents read without a question. */
  readonly systemFolders?: readonly string[];
}

/**
 * Returns the zone of the innermost path that contains the file, as the sandbox does.
 * @param target absolute, with links resolved
 */
export function getFileZone(target: string, workspace: Workspace, paths: ZonePaths): FileZone {
  const own = paths.ownFolders();
  const all: readonly (readonly [string, FileZone])[] = [
    ...(paths.systemFolders ?? []).map((folder) => [folder, 'system'] as const),
    ...paths.secretPaths.map((folder) => [folder, 'secret'] as const),
    ...own.map((folder) => [folder, 'own'] as const),
    ...(workspace.notes ? ([[workspace.notes.folder, 'own']] as const) : []),
    // These are the worktrees of other runs. A run's own worktree is its workspace.
    ...own.map((folder) => [`${folder}/${WORKTREES}`, 'secret'] as const),
    ...getRoots(workspace).map((folder) => [folder, 'workspace'] as const),
  ];
  let innermost: readonly [string, FileZone] = ['', 'outside'];
  for (const each of all) {
    const [folder, zone] = each;
    const contains = zone === 'secret' ? isInsideAnyCase(target, folder) : isInside(target, [folder]);
    if (contains && folder.length > innermost[0].length) innermost = each;
  }
  return innermost[1];
}

export function getRoots({root, extraRoots}: Workspace): readonly string[] {
  return [root, ...extraRoots];
}

/** Works like `isInside`, but ignores case, for file systems on which `.SSH` is `.ssh`. */
function isInsideAnyCase(target: string, folder: string): boolean {
  return isInside(target.toLowerCase(), [folder.toLowerCase()]);
}

/** Returns the paths as given, and the targets of those that are links. */
export function withLinkTargets(paths: readonly string[]): string[] {
  // Most of these paths do not exist. `lstat` without an exception is ten times as fast as a failing `realpath`.
  const resolve = (place: string) => (lstatSync(place, {throwIfNoEntry: false}) ? realpathSync.native(place) : place);
  return [...new Set(paths.flatMap((place) => [place, tryOr(() => resolve(place), place)]))];
}

/**
 * Whether a write is asked about in every mode except bypassPermissions. This applies to files that contain keys or may
 * change what runs later.
 * @param target absolute, with links resolved
 */
export function isAlwaysAsked(target: string, workspace: Workspace, paths: ZonePaths): boolean {
  const zone = getFileZone(target, workspace, paths);
  return (
    isProtected(removeWorktree(target, workspace)) || zone === 'secret' || zone === 'own' || completesRepository(target)
  );
}

/** Git treats any folder with these entries as a repository, and reads the settings and hooks in it. */
const REPOSITORY_PARTS = ['HEAD', 'objects', 'refs'];
const IN_REPOSITORY = new Set([...REPOSITORY_PARTS, 'config', 'config.worktree', 'hooks', 'commondir']);

/** Whether a write turns a folder into a repository, or changes what git would run in one. @param target absolute */
function completesRepository(target: string): boolean {
  const names = target.split('/');
  return names.some((name, index) => {
    if (!IN_REPOSITORY.has(name)) return false;
    const folder = names.slice(0, index).join('/');
    return REPOSITORY_PARTS.every((part) => part === name || existsSync(`${folder}/${part}`));
  });
}

/**
 * Returns the path below the worktree: a worktree lies in a folder of mini-cc, but its files are those of the project.
 */
function removeWorktree(target: string, workspace: Workspace): string {
  if (workspace.confinement !== 'worktree') return target;
  const root = getRoots(workspace)
    .filter((folder) => isInside(target, [folder]))
    .sort((a, b) => a.length - b.length)[0];
  return root === undefined ? target : target.slice(root.length);
}

const PROTECTED_FOLDERS = new Set(['.git', '.mini-cc', '.claude', '.ssh', '.gnupg', '.aws']);
/** Folders of `.config` that name programs which run later. */
const IN_CONFIG = new Set(['git', 'fish', 'systemd', 'autostart']);
const PROTECTED_FILES = new Set(
  listWords(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc .zshrc .zprofile .zshenv .zlogin
  .zlogout config.fish .netrc .npmrc .gitconfig .gitmodules .git-credentials .envrc
`),
);

/** Whether the file is a note, and not one that may change what runs later. @param target absolute, with links resolved */
export function isInNotes(target: string, {folder}: NotesPlace): boolean {
  return isInside(target, [folder]) && !isProtected(target.slice(folder.length)) && !completesRepository(target);
}

/** Whether the names in a path make it protected. @param target absolute, with links resolved */
export function isProtected(target: string): boolean {
  const names = target.split('/').map(normalizeName);
  return (
    names.some(
      (name, at) => PROTECTED_FOLDERS.has(name) || (name === '.config' && IN_CONFIG.has(names[at + 1] ?? '')),
    ) || PROTECTED_FILES.has(names.at(-1) ?? '')
  );
}

/**
 * Normalizes a name as the most lenient file system does: without case, dots at the end, streams or invisible
 * characters.
 */
function normalizeName(name: string): string {
  const normal = name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return /^git~\d+$/.test(normal) ? '.git' : normal;
}
