/**
 * Lists the places that stay read-only in a writable workspace because they control programs that later run outside the
 * sandbox: git runs its hooks and the programs that its configuration names, and mini-cc reads its settings.
 */
import {lstatSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {MiniCcError, tryOr} from '../core/util/errors.ts';
import {isGitFolder, readSettings} from '../core/util/files/git-folder.ts';
import {isInside} from '../core/util/paths.ts';
import {type Placeholder, Placeholders} from './placeholders.ts';
import type {FoundRepository} from './repositories/find-repositories.ts';

export interface ProtectedPlaces {
  /** Existing files and folders that are mounted read-only. */
  readonly readOnly: readonly string[];
  /** Places that may be written, but not renamed or removed, because they contain protected places. */
  readonly pinned: readonly string[];
  /** Places that do not exist and that the command must not create. */
  readonly missing: readonly Placeholder[];
}

type MutablePlaces = {-readonly [Key in keyof ProtectedPlaces]: ProtectedPlaces[Key][number][]};

/** Folders of mini-cc, and of Claude Code, whose agents mini-cc reads. */
const OWN_FOLDERS = ['.mini-cc', '.claude'];
/** Content of a placeholder file. It is a comment, so programs that read the file meanwhile find no settings in it. */
const EMPTY_NOTE = '# empty while a command of mini-cc runs\n';
/** Bash reads only the first of `.bash_profile`, `.bash_login` and `.profile` that exists, so a placeholder calls the next. */
const readNext = (name: string) => `${EMPTY_NOTE}[ -r ~/${name} ] && . ~/${name}\n`;
/**
 * Files that the user's shells, git and npm read at start. They matter when the workspace contains the home directory.
 */
const START_UP_FILES: Readonly<Record<string, string>> = {
  '.bash_profile': readNext('.bash_login'),
  '.bash_login': readNext('.profile'),
  ...Object.fromEntries(
    ['.bashrc', '.bash_logout', '.profile', '.zshrc', '.zprofile', '.zshenv', '.zlogin', '.gitconfig', '.npmrc'].map(
      (name) => [name, EMPTY_NOTE],
    ),
  ),
};
const START_UP_FOLDERS = ['.config/git', '.config/fish', '.config/systemd', '.config/autostart', '.local/bin', '.ssh'];
/** Git looks for hooks, further settings and attributes in these folders, and few commands write them. */
const GIT_READ_ONLY = ['hooks', 'modules', 'info'];
/**
 * Git takes its configuration from the folder that this file names. `.` is the default, so the placeholder changes
 * nothing.
 */
const COMMON_FOLDER = '.\n';
/** Number of nested repositories, nearest first, in which a command may commit. Others are read-only as a whole. */
const MAX_WRITABLE = 4;
/**
 * Number of nested repositories that are mounted, since each mount takes time. The others are compared after the
 * command.
 */
const MAX_MOUNTED = 100;

/**
 * Lists the protected places. Each command needs a new list.
 * @param roots absolute, with links resolved
 * @param nested all repositories in the roots, nearest first
 * @throws MiniCcError `SANDBOX_CANNOT_PROTECT` for a place that is a link: a mount cannot keep a link from being
 * replaced.
 */
export function protectedPlaces(
  roots: readonly string[],
  home: string,
  nested: Iterable<FoundRepository> = [],
): ProtectedPlaces {
  const found: MutablePlaces = {readOnly: [], pinned: [], missing: []};
  for (const root of roots) {
    for (const name of OWN_FOLDERS) protect(path.join(root, name), found);
    if (isGitFolder(root)) addRepository(root, roots, found);
    const git = path.join(root, '.git');
    if (getKind(git) === 'directory' && !Placeholders.isOne({path: git})) addRepository(git, roots, found);
    else protect(git, found);
    if (isInside(home, [root])) protectStartUpFiles(home, found);
  }
  addNested([...nested], roots, found);
  return found;
}

/**
 * Whether a missing place that `protectedPlaces` lists is a file outside of all `.git`. While a command runs, git would
 * list its placeholder as a file of the workspace.
 * @param roots absolute, with links resolved
 */
export function needsFiles(roots: readonly string[], home: string): boolean {
  return roots.some((root) => isInside(home, [root]) || isGitFolder(root));
}

export interface GuardedPlaces extends Pick<ProtectedPlaces, 'readOnly' | 'missing'> {
  /** Folders of the home with settings of mini-cc and Claude Code, which are read-only. */
  readonly settings: readonly string[];
  /** Workspaces and folders for temporary files inside `settings`, which stay writable. */
  readonly inSettings: readonly string[];
}

/**
 * Lists the places that stay read-only for a command that may otherwise write everywhere: those of the workspace, and
 * what exists of the home's settings and start-up files, whose links are followed. New worktrees are git's own work.
 * @param temporary the session's folder for temporary files
 */
export function guardedPlaces(
  roots: readonly string[],
  {home, miniCcHome, temporary}: {readonly home: string; readonly miniCcHome: string; readonly temporary: string},
  {found}: {readonly found: ReadonlyMap<string, FoundRepository>},
): GuardedPlaces {
  const {readOnly, missing} = protectedPlaces(roots, home, found.values());
  const listExisting = (names: readonly string[]) => [
    ...new Set(names.flatMap((name) => tryOr(() => [realpathSync(path.resolve(home, name))], []))),
  ];
  const isWorktrees = (place: string) => path.basename(place) === 'worktrees' && isGitFolder(path.dirname(place));
  const settings = listExisting([...OWN_FOLDERS, miniCcHome]);
  const startUp = listExisting([...Object.keys(START_UP_FILES), ...START_UP_FOLDERS]);
  return {
    settings,
    inSettings: [...roots, temporary].filter((place) => isInside(place, settings)),
    readOnly: [
      ...new Set([...readOnly.filter((place) => !isWorktrees(place) && !settings.includes(place)), ...startUp]),
    ],
    missing,
  };
}

/**
 * Removes the placeholders that a killed mini-cc left in a workspace. Never throws. @param root absolute, with links
 * resolved
 */
export function removeLeftPlaceholders(root: string, home: string): void {
  try {
    Placeholders.removeLeft(protectedPlaces([root], home).missing);
  } catch {
    // The workspace cannot be protected or read, so no command made placeholders in it.
  }
}

function addNested(nested: readonly FoundRepository[], roots: readonly string[], found: MutablePlaces): void {
  const own = new Set(roots.flatMap((root) => [root, path.join(root, '.git')]));
  let writable = 0;
  let mounted = 0;
  for (const {path: place, kind} of nested) {
    // A link cannot be mounted. Its target is listed as a repository itself, or lies where the command cannot write.
    if (own.has(place) || kind === 'other' || mounted === MAX_MOUNTED) continue;
    if (isInside(place, found.readOnly) || Placeholders.isOne({path: place})) continue;
    mounted += 1;
    if (kind === 'folder' && isGitFolder(place) && writable < MAX_WRITABLE) {
      writable += 1;
      addRepository(place, roots, found);
    } else found.readOnly.push(place);
  }
}

function protectStartUpFiles(home: string, found: MutablePlaces): void {
  for (const [name, content] of Object.entries(START_UP_FILES)) protect(path.join(home, name), found, content);
  for (const name of START_UP_FOLDERS) protect(firstMissing(home, name), found);
}

/** Every commit writes the git folder itself. The files and folders in it that configure git stay read-only. */
function addRepository(git: string, roots: readonly string[], found: MutablePlaces): void {
  const at = (name: string) => path.join(git, name);
  const configs = [at('config'), at('config.worktree')];
  const folders = GIT_READ_ONLY.map(at);
  const common = at('commondir');
  const objects = at('objects');
  const objectsInfo = at('objects/info');
  // This file names folders elsewhere from which git takes objects. The folders above it must not be renamed.
  const alternates = at('objects/info/alternates');
  const worktrees = at('worktrees');
  const all = [...configs, ...folders, common, objects, objectsInfo, alternates, worktrees];
  if (all.some((place) => getKind(place) === 'other')) {
    // The command could replace a link, for example that of the hooks, so the whole folder becomes read-only.
    if (roots.includes(git)) throw cannotProtect(git, 'it contains links');
    found.readOnly.push(git);
    return;
  }
  if (!roots.includes(git)) found.pinned.push(git);
  for (const place of folders) protect(place, found);
  for (const place of configs) protect(place, found, '');
  protect(common, found, COMMON_FOLDER);
  // A new worktree creates this folder. It is checked after the command.
  if (getKind(worktrees) !== 'missing') found.readOnly.push(worktrees);
  if (getKind(objects) === 'directory') {
    found.pinned.push(objects);
    if (getKind(objectsInfo) === 'missing') protect(objectsInfo, found);
    else {
      found.pinned.push(objectsInfo);
      protect(alternates, found, '');
    }
  }
  for (const place of findNamedPaths(git)) {
    if (!roots.some((root) => isInside(place, [root]) && place !== root)) continue;
    if (getKind(place) !== 'other' && getKind(path.dirname(place)) === 'directory') protect(place, found);
  }
}

/**
 * Returns folders of hooks and included settings that the configuration names. Husky's hooks call files in the folder
 * above.
 */
function findNamedPaths(git: string): string[] {
  return (readSettings(path.join(git, 'config')) ?? []).flatMap(({key, value}) => {
    if (/^include(?:if\..*)?\.path$/s.test(key)) return [path.resolve(git, value)];
    if (key !== 'core.hookspath') return [];
    const place = path.resolve(path.dirname(git), value);
    return [path.basename(place) === '_' ? path.dirname(place) : place];
  });
}

/** @param content content of the placeholder when it is a file */
function protect(place: string, found: MutablePlaces, content?: string): void {
  const placeholder = {path: place, ...(content === undefined ? {} : {content})};
  const kind = getKind(place);
  if (kind === 'other') {
    throw cannotProtect(place, 'it is a link');
  }
  if (kind !== 'missing' && !Placeholders.isOne(placeholder)) found.readOnly.push(place);
  else if (!found.missing.some((other) => other.path === place)) found.missing.push(placeholder);
}

function cannotProtect(place: string, why: string): MiniCcError {
  return new MiniCcError(
    'SANDBOX_CANNOT_PROTECT',
    `The sandbox cannot keep ${place} from being replaced, because ${why}: make it a real one, or set sandbox to off`,
  );
}

/**
 * Returns the first part of the path that does not exist, such as `.config` for `.config/git` in a home without
 * `.config`.
 */
function firstMissing(home: string, name: string): string {
  let place = home;
  for (const part of name.split('/')) {
    place = path.join(place, part);
    if (getKind(place) === 'missing') break;
  }
  return place;
}

function getKind(place: string): 'missing' | 'file' | 'directory' | 'other' {
  const stat = lstatSync(place, {throwIfNoEntry: false});
  if (stat === undefined) return 'missing';
  if (stat.isFile()) return 'file';
  return stat.isDirectory() ? 'directory' : 'other';
}
