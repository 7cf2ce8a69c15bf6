/**
 * Checks repositories that a confined command made. Git runs programs that a repository names, later and outside of the
 * sandbox. So a repository that names any is set aside: it is renamed, so that git does not find it until a person has
 * looked.
 */

import {closeSync, constants, lstatSync, openSync, readFileSync, realpathSync, renameSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import {getErrorMessage, tryOr} from '../../core/util/errors.ts';
import {isGitName, readRepository} from '../../core/util/files/git-folder.ts';
import {formatFileName, isInside} from '../../core/util/paths.ts';
import {quoteForShell} from '../../core/util/text.ts';
import type {ProtectedPlaces} from '../protected-places.ts';
import {type FoundRepository, MAX_FOLDERS, type RepositoryFinder, type RepositoryList} from './find-repositories.ts';
import {findNamedPrograms} from './named-programs.ts';

const MAX_NAMED = 5;
/** Possible difference between the clocks of the file system and of the process, in milliseconds. */
const CLOCK_ERROR_MS = 1000;

/**
 * Must be called just before the command starts.
 * @param before what `finder` found in the roots
 * @param confined the folders that the command may write, and the places in them that it cannot change
 * @returns a function to call once when the command has ended. It returns lines about the repositories that the command
 * made
 */
export function watchRepositories(
  finder: RepositoryFinder,
  before: RepositoryList,
  {roots, places}: {readonly roots: readonly string[]; readonly places: Pick<ProtectedPlaces, 'readOnly' | 'pinned'>},
): () => string[] {
  const isProtected = (place: string) => places.pinned.includes(place) || isInside(place, places.readOnly);
  const startedAt = Date.now();
  const isOwn = (folder: string) => before.found.has(folder) && isProtected(folder);
  /** Returns what must stay the same for a repository to count as unchanged. */
  const describe = (each: FoundRepository) =>
    (each.kind === 'folder' || each.kind === 'bare') && isProtected(each.path)
      ? each.identity
      : `${each.identity} ${findNamedPrograms(each, isOwn).join()}`;
  const known = new Map([...before.found.values()].map((each) => [each.path, describe(each)]));
  const mounted = [...before.found.values()].filter(({path: place}) => isProtected(place));
  const identities = new Set(mounted.map(getFolderIdentity).filter((identity) => identity !== undefined));
  const isNew = (each: FoundRepository) => {
    if (known.has(each.path)) return known.get(each.path) !== describe(each);
    // The repository was mounted and moved together with the folder around it.
    if (identities.has(getFolderIdentity(each) ?? '')) return false;
    // When the first search was incomplete, a repository that is older than the command may be the user's own.
    return before.isComplete || each.changedAt > startedAt - CLOCK_ERROR_MS;
  };
  const gitFolders = mounted.filter(({kind}) => kind !== 'file').map(({path: place}) => place);
  const findPlanted = watchPlantedEntries(finder, gitFolders);
  return () => {
    const plantedLines = findPlanted();
    const after = finder.find(roots);
    const made = [...after.found.values()].filter(isNew);
    // Examine all before the first is renamed, because one may point to another.
    const named = new Map(made.map((each) => [each, findNamedPrograms(each, isOwn)]));
    const harmless = made.filter((each) => named.get(each)!.length === 0 && isUsable(each)).map(getFolder);
    const hostile = made.filter((each) => named.get(each)!.length > 0);
    const isOuter = (each: FoundRepository) =>
      !hostile.some(({path: place}) => place !== each.path && isInside(each.path, [place]));
    const lines = hostile.filter(isOuter).map((each) => setAside(each, named.get(each)!));
    const kinds = harmless.length === 1 ? 'a git repository' : `${harmless.length} git repositories`;
    if (harmless.length > 0) lines.push(`(this command made ${kinds}: ${formatPlaces(harmless, roots)})`);
    return [...plantedLines, ...lines, ...describeUnseen(before, after, roots)];
  };
}

/** Undefined for a file or a link, because what it names depends on its place. */
function getFolderIdentity({kind, identity}: FoundRepository): string | undefined {
  return kind === 'folder' || kind === 'bare' ? identity : undefined;
}

function getFolder({kind, path: place}: FoundRepository): string {
  return kind === 'bare' ? place : path.dirname(place);
}

/**
 * False for an empty `.git`, such as another command's placeholder, and for what git keeps in a `.git` for its
 * worktrees.
 */
function isUsable(each: FoundRepository): boolean {
  if (each.kind === 'bare') return !each.path.split(path.sep).some(isGitName);
  return readRepository(getFolder(each)) !== undefined;
}

/** Renames the `.git`, or the `HEAD` of a bare repository, and changes nothing in it. */
function setAside(each: FoundRepository, named: readonly string[]): string {
  const [folder, name] =
    each.kind === 'bare' ? [each.path, 'HEAD'] : [path.dirname(each.path), path.basename(each.path)];
  const place = path.join(folder, name);
  const shown = `${named.slice(0, MAX_NAMED).map(formatFileName).join(', ')}${named.length > MAX_NAMED ? ' and more' : ''}`;
  const what = `${formatFileName(each.path)}, a git repository that this command made or changed, names what git would run (${shown})`;
  try {
    const aside = renameAside(folder, name);
    const back = `mv ${quoteForShell(aside)} ${quoteForShell(place)}`;
    return `(${what}: it is set aside as ${formatFileName(aside)}, and neither git nor mini-cc uses it. To put it back once you have looked at it: ${back})`;
  } catch (error) {
    return `(${what}, and it could not be set aside: ${getErrorMessage(error)}. Start no git in ${formatFileName(folder)} before you have looked at it)`;
  }
}

function renameAside(folder: string, name: string): string {
  // Another command may replace the folder by a link meanwhile, and the rename must not follow it.
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const opened = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : folder;
    if (realpathSync(opened) !== folder) throw new Error('its folder was moved meanwhile');
    for (let count = 1; ; count += 1) {
      const aside = `${name}.set-aside-${count}`;
      if (lstatSync(`${opened}/${aside}`, {throwIfNoEntry: false}) !== undefined) continue;
      renameSync(`${opened}/${name}`, `${opened}/${aside}`);
      return path.join(folder, aside);
    }
  } finally {
    closeSync(descriptor);
  }
}

function describeUnseen(before: RepositoryList, after: RepositoryList, roots: readonly string[]): string[] {
  const unread = after.unread.filter((folder) => !before.unread.includes(folder));
  return [
    ...(unread.length === 0
      ? []
      : [
          `(mini-cc could not look for git repositories in ${formatPlaces(unread, roots)}: they cannot be read or opened by name)`,
        ]),
    ...(after.isComplete
      ? []
      : [
          `(the workspace has more than ${MAX_FOLDERS.toLocaleString('en')} folders: mini-cc did not look for git repositories in all of them)`,
        ]),
  ];
}

/** Formats places in the first root relative to it. */
function formatPlaces(places: readonly string[], [root = '/']: readonly string[]): string {
  const names = places.slice(0, MAX_NAMED).map((place) => {
    if (place === root) return 'the workspace itself';
    return formatFileName(isInside(place, [root]) ? path.relative(root, place) : place);
  });
  return `${names.join(', ')}${places.length > MAX_NAMED ? ` and ${places.length - MAX_NAMED} more` : ''}`;
}

const TODO = path.join('rebase-merge', 'git-rebase-todo');
const EXEC_STEP = /^\s*(?:exec|x)\s/m;

/**
 * Removes what a confined command can plant in a git folder in which it may commit and what takes effect later, outside
 * of the sandbox: links through which git writes elsewhere (`.git/logs/HEAD` → `~/.bashrc`), and programs in the steps
 * of a rebase. Must be called just before the command starts.
 * @param gitFolders folders in which the command may write
 * @returns a function to call once when the command has ended. It returns a line for each thing that it removed
 */
function watchPlantedEntries(finder: RepositoryFinder, gitFolders: readonly string[]): () => string[] {
  const before = new Map(gitFolders.map((each) => [each, {links: finder.listLinks(each), todo: readTodo(each)}]));
  return () =>
    [...before].flatMap(([folder, {links, todo}]) => [
      ...[...finder.listLinks(folder)].filter(([place, target]) => links.get(place) !== target).map(removeLink),
      ...setTodoAside(folder, todo),
    ]);
}

function removeLink([place, target]: readonly [string, string]): string {
  const what = `a link from ${formatFileName(place)} to ${formatFileName(target)}`;
  try {
    unlinkSync(place);
    return `(this command made ${what}: git would have written through it, so it was removed)`;
  } catch (error) {
    return `(this command made ${what}, and it could not be removed: ${getErrorMessage(error)}. Start no git there before you have looked at it)`;
  }
}

function readTodo(folder: string): string | undefined {
  const file = path.join(folder, TODO);
  const isFile = lstatSync(file, {throwIfNoEntry: false})?.isFile();
  return isFile ? tryOr(() => readFileSync(file, 'utf8'), undefined) : undefined;
}

/**
 * Sets the steps of a stopped rebase aside when the command wrote programs into them, so that git does not run these.
 */
function setTodoAside(folder: string, before: string | undefined): string[] {
  const now = readTodo(folder);
  if (now === undefined || now === before || !EXEC_STEP.test(now)) return [];
  const file = path.join(folder, TODO);
  const aside = renameAside(path.dirname(file), path.basename(file));
  const back = `mv ${quoteForShell(aside)} ${quoteForShell(file)}`;
  return [
    `(the rebase that this command left runs programs in its next steps: the steps are set aside as ${formatFileName(aside)}. To put them back once you have looked at them: ${back})`,
  ];
}
