/**
 * What stays read-only in a workspace that may be written: whoever writes it rules over programs that run outside of
 * the sandbox later. Git runs its hooks and what its configuration names, and mini-cc reads its settings.
 */
import {lstatSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/inside.ts';
import {type Placeholder, Placeholders} from './placeholders.ts';

export interface ProtectedPlaces {
  /** Read-only as they are. */
  readonly kept: readonly string[];
  /** May be written, but not renamed or removed: what lies in them is protected. */
  readonly pinned: readonly string[];
  /** Not there, and not to be made. */
  readonly absent: readonly Placeholder[];
}

interface Found {
  readonly kept: string[];
  readonly pinned: string[];
  readonly absent: Placeholder[];
}

/** Of mini-cc, and of the program whose agents it reads. */
const OWN = ['.mini-cc', '.claude'];
/** In place of a file that is not there: whoever reads it meanwhile finds nothing in it. */
const NOTHING = '# empty while a command of mini-cc runs\n';
/** Bash reads the first of `.bash_profile`, `.bash_login` and `.profile` alone. */
const NEXT = (name: string) => `${NOTHING}[ -r ~/${name} ] && . ~/${name}\n`;
/** What shells, git and npm of the user read when they start: matters where the workspace holds the home directory. */
const START_UP_FILES: Readonly<Record<string, string>> = {
  '.bash_profile': NEXT('.bash_login'),
  '.bash_login': NEXT('.profile'),
  ...Object.fromEntries(
    [
      ...['.bashrc', '.bash_logout', '.profile', '.zshrc', '.zprofile', '.zshenv', '.zlogin'],
      ...['.gitconfig', '.npmrc'],
    ].map((name) => [name, NOTHING]),
  ),
};
const START_UP_FOLDERS = ['.config/git', '.config/fish', '.config/systemd', '.config/autostart', '.local/bin', '.ssh'];
/** In these git looks for further configuration and hooks; few commands write there. */
const GIT_KEPT = ['worktrees', 'modules'];
/** As a file's content it says: where it always was. Git takes its configuration from the folder that it names. */
const COMMON_FOLDER = {name: 'commondir', content: '.\n'};
/** Repositories further down are looked for this deep, in this many folders at most. */
const MOST_FOLDERS = 500;
const SKIPPED = new Set(['node_modules', '.git', ...OWN]);

/**
 * Looked up for each command. @param roots absolute, with links resolved
 * @throws MiniCcError `SANDBOX_CANNOT_HOLD` for a place that is a link: nothing keeps that from being replaced.
 */
export function protectedPlaces(roots: readonly string[], home: string): ProtectedPlaces {
  const found: Found = {kept: [], pinned: [], absent: []};
  for (const root of roots) {
    for (const name of OWN) keep(path.join(root, name), found);
    if (isRepository(root)) addRepository(root, roots, found);
    const git = path.join(root, '.git');
    if (kindOf(git) === 'directory' && !Placeholders.isOne({path: git})) addRepository(git, roots, found);
    else keep(git, found);
    for (const nested of repositoriesBelow(root, roots)) keep(nested, found);
    if (isInside(home, [root])) keepStartUp(home, found);
  }
  return found;
}

function keepStartUp(home: string, found: Found): void {
  for (const [name, content] of Object.entries(START_UP_FILES)) keep(path.join(home, name), found, content);
  for (const name of START_UP_FOLDERS) keep(firstMissing(home, name), found);
}

/** The folder with HEAD, objects and refs is written by every commit; what has power over git is not. */
function addRepository(git: string, roots: readonly string[], found: Found): void {
  const hooks = path.join(git, 'hooks');
  const config = path.join(git, 'config');
  // The second one is read once `git sparse-checkout` has been used.
  const configs = [config, path.join(git, 'config.worktree')];
  const common = path.join(git, COMMON_FOLDER.name);
  const others = GIT_KEPT.map((name) => path.join(git, name));
  if ([hooks, ...configs, common, ...others].some((place) => kindOf(place) === 'other')) {
    // A link, e.g. of the hooks: whatever it leads to, it could be replaced. Nothing here is written then.
    if (roots.includes(git)) throw cannotHold(git, 'it holds links');
    found.kept.push(git);
    return;
  }
  if (!roots.includes(git)) found.pinned.push(git);
  keep(hooks, found);
  for (const place of configs) keep(place, found, '');
  keep(common, found, COMMON_FOLDER.content);
  for (const place of others) if (kindOf(place) !== 'missing') found.kept.push(place);
  const text = kindOf(config) === 'file' ? readFileSync(config, 'utf8') : '';
  for (const place of namedIn(text, git)) {
    if (!roots.some((root) => isInside(place, [root]) && place !== root)) continue;
    if (kindOf(place) !== 'other' && kindOf(path.dirname(place)) === 'directory') keep(place, found);
  }
}

/** Hooks elsewhere and included configuration. Husky's hooks call files in the folder above. */
function namedIn(config: string, git: string): string[] {
  const top = path.dirname(git);
  const value = (key: string) =>
    [...config.matchAll(new RegExp(`^\\s*${key}\\s*=\\s*"?([^"\\n]+?)"?\\s*$`, 'gim'))].map(([, text]) => text!);
  const hooks = value('hooksPath').map((place) => path.resolve(top, place));
  return [
    ...hooks.map((place) => (path.basename(place) === '_' ? path.dirname(place) : place)),
    ...value('path').map((place) => path.resolve(git, place)),
  ];
}

/** @param content of the placeholder, where a file is meant. */
function keep(place: string, found: Found, content?: string): void {
  const placeholder = {path: place, ...(content === undefined ? {} : {content})};
  const kind = kindOf(place);
  if (kind === 'other') {
    throw cannotHold(place, 'it is a link');
  }
  if (kind !== 'missing' && !Placeholders.isOne(placeholder)) found.kept.push(place);
  else if (!found.absent.some((other) => other.path === place)) found.absent.push(placeholder);
}

function cannotHold(place: string, why: string): MiniCcError {
  return new MiniCcError(
    'SANDBOX_CANNOT_HOLD',
    `The sandbox cannot keep ${place} from being replaced, because ${why}: make it a real one, or set sandbox to off`,
  );
}

/** Git takes any folder for a repository that holds these, with its hooks and configuration beside them. */
export function isRepository(folder: string): boolean {
  const has = (name: string) => kindOf(path.join(folder, name)) !== 'missing';
  return has('HEAD') && ((has('objects') && has('refs')) || has(COMMON_FOLDER.name));
}

/** `.git` of other repositories, a file or a folder: commits there are rare enough to ask for. */
function repositoriesBelow(root: string, roots: readonly string[]): string[] {
  const named = submodulesOf(root).map((place) => path.resolve(root, place));
  const near = foldersIn(root);
  const folders = [...new Set([...named, ...near, ...near.slice(0, MOST_FOLDERS).flatMap(foldersIn)])];
  return folders
    .slice(0, MOST_FOLDERS)
    .filter((folder) => isInside(folder, [root]) && !roots.includes(folder))
    .map((folder) => path.join(folder, '.git'))
    .filter((git) => kindOf(git) === 'file' || kindOf(git) === 'directory');
}

function submodulesOf(root: string): string[] {
  const file = path.join(root, '.gitmodules');
  if (kindOf(file) !== 'file') return [];
  return [...readFileSync(file, 'utf8').matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, place]) => place!);
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, {withFileTypes: true})
      .filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name))
      .map((entry) => path.join(folder, entry.name));
  } catch {
    // Who may not read it finds no repository in it either.
    return [];
  }
}

/** `.config/git` where only the home is there: `.config`. */
function firstMissing(home: string, name: string): string {
  let place = home;
  for (const part of name.split('/')) {
    place = path.join(place, part);
    if (kindOf(place) === 'missing') break;
  }
  return place;
}

function kindOf(place: string): 'missing' | 'file' | 'directory' | 'other' {
  const stat = lstatSync(place, {throwIfNoEntry: false});
  if (stat === undefined) return 'missing';
  if (stat.isFile()) return 'file';
  return stat.isDirectory() ? 'directory' : 'other';
}
