/**
 * Removes what a confined command can plant in a git folder in which it may commit and what takes effect later, outside
 * of the sandbox: links through which git writes elsewhere (`.git/logs/HEAD` → `~/.bashrc`), and programs in the steps
 * of a rebase.
 */
import {type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, renameSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import {getErrorMessage, ignoreMissing} from '../../core/util/errors.ts';
import {formatFileName} from '../../core/util/paths.ts';

/** Limit of examined entries in a git folder. Links beyond it are not found. */
const MAX_ENTRIES = 50_000;
/** Git writes below these folders. In `objects` only the first level has folders. Other places do not need links. */
const DEEP = ['logs', 'refs', 'rebase-merge', 'rebase-apply', 'sequencer', 'worktrees'];
const TODO = path.join('rebase-merge', 'git-rebase-todo');
const EXEC_STEP = /^\s*(?:exec|x)\s/m;

interface PlantedEntries {
  /** Must be called once when the command has ended. @returns a line for each thing that was removed */
  finish(): string[];
}

/** Must be called just before the command starts. @param gitFolders folders in which the command may write */
export function watchPlantedEntries(gitFolders: readonly string[]): PlantedEntries {
  const before = new Map(gitFolders.map((folder) => [folder, {links: listLinks(folder), todo: readTodo(folder)}]));
  return {
    finish: () =>
      [...before].flatMap(([folder, {links, todo}]) => [
        ...[...listLinks(folder)].filter(([place, target]) => links.get(place) !== target).map(removeLink),
        ...setTodoAside(folder, todo),
      ]),
  };
}

/** Returns the links in those places of a git folder where git writes, with their targets. */
function listLinks(folder: string): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  let left = MAX_ENTRIES;
  const look = (place: string, isDeep: boolean) => {
    for (const entry of readFolder(place)) {
      left -= 1;
      if (left < 0) return;
      const inner = path.join(place, entry.name);
      if (entry.isSymbolicLink()) links.set(inner, readLink(inner));
      else if (entry.isDirectory() && isDeep) look(inner, true);
      else if (entry.isDirectory() && place === folder && DEEP.includes(entry.name)) look(inner, true);
      else if (entry.isDirectory() && place === folder && entry.name === 'objects') look(inner, false);
    }
  };
  look(folder, false);
  return links;
}

function readFolder(place: string): Dirent[] {
  try {
    return readdirSync(place, {withFileTypes: true});
  } catch {
    // It was removed or cannot be read, so git cannot use it either.
    return [];
  }
}

function readLink(place: string): string {
  try {
    return readlinkSync(place);
  } catch (error) {
    ignoreMissing(error);
    return '';
  }
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
  if (!lstatSync(file, {throwIfNoEntry: false})?.isFile()) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Sets the steps of a stopped rebase aside when the command wrote programs into them, so that git does not run these.
 */
function setTodoAside(folder: string, before: string | undefined): string[] {
  const now = readTodo(folder);
  if (now === undefined || now === before || !EXEC_STEP.test(now)) return [];
  const file = path.join(folder, TODO);
  const aside = `${file}.set-aside-${Date.now()}`;
  renameSync(file, aside);
  return [
    `(the rebase that this command left runs programs in its next steps: the steps are set aside as ${formatFileName(aside)}. To put them back once you have looked at them: mv ${aside} ${file})`,
  ];
}
