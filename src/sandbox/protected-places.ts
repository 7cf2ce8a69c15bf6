/**
 * What stays read-only in a writable workspace, because it controls programs that later run outside the sandbox: git
 * runs its hooks and the programs that its configuration names, and mini-cc reads its settings.
 */
import {lstatSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/paths.ts';
import {type Placeholder, Placeholders} from './placeholders.ts';

export interface ProtectedPlaces {
  /** Existing files and folders that are mounted read-only. */
  readonly readOnly: readonly string[];
  /** May be written, but not renamed or removed, because they contain protected places. */
  readonly pinned: readonly string[];
  /** They do not exist, and the command must not create them. */
  readonly missing: readonly Placeholder[];
}

interface MutablePlaces {
  readonly readOnly: string[];
  readonly pinned: string[];
  readonly missing: Placeholder[];
}

/** The folders of mini-cc, and of Claude Code, whose agents it reads. */
const OWN_FOLDERS = ['.mini-cc', '.claude'];
/** The content of a placeholder file: a comment, so that programs that read it meanwhile find no settings in it. */
const EMPTY_NOTE = '# empty while a command of mini-cc runs\n';
/** Bash reads only the first of `.bash_profile`, `.bash_login` and `.profile` that exists, so a placeholder calls the next. */
const readNext = (name: string) => `${EMPTY_NOTE}[ -r ~/${name} ] && . ~/${name}\n`;
/** What the user's shells, git and npm read when they start. Matters when the workspace contains the home directory. */
const START_UP_FILES: Readonly<Record<string, string>> = {
  '.bash_profile': readNext('.bash_login'),
  '.bash_login': readNext('.profile'),
  ...Object.fromEntries(
    [
      ...['.bashrc', '.bash_logout', '.profile', '.zshrc', '.zprofile', '.zshenv', '.zlogin'],
      ...['.gitconfig', '.npmrc'],
    ].map((name) => [name, EMPTY_NOTE]),
  ),
};
const START_UP_FOLDERS = ['.config/git', '.config/fish', '.config/systemd', '.config/autostart', '.local/bin', '.ssh'];
/** Here git looks for further configuration and hooks; few commands write here. */
const GIT_READ_ONLY = ['worktrees', 'modules'];
/** Git takes its configuration from the folder that this file names. `.` is the default, so it changes nothing. */
const COMMON_FOLDER = {name: 'commondir', content: '.\n'};
/** Nested repositories are looked for two levels deep in at most so many folders. */
const MAX_FOLDERS = 500;
const SKIPPED = new Set(['node_modules', '.git', ...OWN_FOLDERS]);

/**
 * Called for each command. @param roots absolute, links resolved.
 * @throws MiniCcError `SANDBOX_CANNOT_PROTECT` for a place that is a link: a mount cannot keep a link from being replaced.
 */
export function protectedPlaces(roots: readonly string[], home: string): ProtectedPlaces {
  const found: MutablePlaces = {readOnly: [], pinned: [], missing: []};
  for (const root of roots) {
    for (const name of OWN_FOLDERS) protect(path.join(root, name), found);
    if (isRepository(root)) addRepository(root, roots, found);
    const git = path.join(root, '.git');
    if (getKind(git) === 'directory' && !Placeholders.isOne({path: git})) addRepository(git, roots, found);
    else protect(git, found);
    for (const nested of repositoriesBelow(root, roots)) protect(nested, found);
    if (isInside(home, [root])) protectStartUpFiles(home, found);
  }
  return found;
}

function protectStartUpFiles(home: string, found: MutablePlaces): void {
  for (const [name, content] of Object.entries(START_UP_FILES)) protect(path.join(home, name), found, content);
  for (const name of START_UP_FOLDERS) protect(firstMissing(home, name), found);
}

/** Every commit writes the git folder itself; what configures git in it stays read-only. */
function addRepository(git: string, roots: readonly string[], found: MutablePlaces): void {
  const hooks = path.join(git, 'hooks');
  const config = path.join(git, 'config');
  // Git reads the second one after `git sparse-checkout` was used.
  const configs = [config, path.join(git, 'config.worktree')];
  const common = path.join(git, COMMON_FOLDER.name);
  const others = GIT_READ_ONLY.map((name) => path.join(git, name));
  if ([hooks, ...configs, common, ...others].some((place) => getKind(place) === 'other')) {
    // A link (of the hooks, for example) could be replaced, so the whole folder becomes read-only.
    if (roots.includes(git)) throw cannotProtect(git, 'it contains links');
    found.readOnly.push(git);
    return;
  }
  if (!roots.includes(git)) found.pinned.push(git);
  protect(hooks, found);
  for (const place of configs) protect(place, found, '');
  protect(common, found, COMMON_FOLDER.content);
  for (const place of others) if (getKind(place) !== 'missing') found.readOnly.push(place);
  const text = getKind(config) === 'file' ? readFileSync(config, 'utf8') : '';
  for (const place of findNamedPaths(text, git)) {
    if (!roots.some((root) => isInside(place, [root]) && place !== root)) continue;
    if (getKind(place) !== 'other' && getKind(path.dirname(place)) === 'directory') protect(place, found);
  }
}

/** Hooks in other folders and included configuration files. Husky's hooks call files in the folder above. */
function findNamedPaths(config: string, git: string): string[] {
  const top = path.dirname(git);
  const value = (key: string) =>
    [...config.matchAll(new RegExp(`^\\s*${key}\\s*=\\s*"?([^"\\n]+?)"?\\s*$`, 'gim'))].map(([, text]) => text!);
  const hooks = value('hooksPath').map((place) => path.resolve(top, place));
  return [
    ...hooks.map((place) => (path.basename(place) === '_' ? path.dirname(place) : place)),
    ...value('path').map((place) => path.resolve(git, place)),
  ];
}

/** @param content the placeholder's content when it is a file. */
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

/** Git treats every folder with these entries as a repository, and reads hooks and configuration from it. */
export function isRepository(folder: string): boolean {
  const has = (name: string) => getKind(path.join(folder, name)) !== 'missing';
  return has('HEAD') && ((has('objects') && has('refs')) || has(COMMON_FOLDER.name));
}

/** The `.git` of nested repositories, a file or a folder. Read-only as a whole: commits there are rare. */
function repositoriesBelow(root: string, roots: readonly string[]): string[] {
  const named = findSubmodules(root).map((place) => path.resolve(root, place));
  const near = listFolders(root);
  const folders = [...new Set([...named, ...near, ...near.slice(0, MAX_FOLDERS).flatMap(listFolders)])];
  return folders
    .slice(0, MAX_FOLDERS)
    .filter((folder) => isInside(folder, [root]) && !roots.includes(folder))
    .map((folder) => path.join(folder, '.git'))
    .filter((git) => getKind(git) === 'file' || getKind(git) === 'directory');
}

function findSubmodules(root: string): string[] {
  const file = path.join(root, '.gitmodules');
  if (getKind(file) !== 'file') return [];
  return [...readFileSync(file, 'utf8').matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, place]) => place!);
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, {withFileTypes: true})
      .filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name))
      .map((entry) => path.join(folder, entry.name));
  } catch {
    // A folder that this user may not read.
    return [];
  }
}

/** The first part of the path that does not exist: `.config` for `.config/git` in a home without `.config`. */
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
