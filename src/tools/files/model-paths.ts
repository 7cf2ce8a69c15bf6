/** Resolves paths as models write them: relative to the agent's cwd, with `~`, sometimes misspelt. */
import {existsSync} from 'node:fs';
import {readdir, realpath} from 'node:fs/promises';
import {homedir} from 'node:os';
import {basename, dirname, join, relative, resolve} from 'node:path';
import leven from 'leven';
import type {Workspace} from '../../core/contract/permission.ts';
import type {ToolContext} from '../../core/contract/tool.ts';
import {describeBrokenLink, getErrorCode, ignoreMissing, MiniCcError} from '../../core/util/errors.ts';
import {isSamePath} from '../../core/util/files/open-place.ts';
import {isInside} from '../../core/util/paths.ts';

/** Returns the absolute path. Links are not resolved, and the path need not exist. */
export function absolutePath(path: string, workspace: Workspace): string {
  if (path === '~' || path.startsWith('~/')) return join(workspace.env.HOME ?? homedir(), path.slice(1));
  return resolve(workspace.cwd, path);
}

/** Returns the path as results show it: relative to the agent's cwd when it is inside, otherwise absolute. */
export function shownPath(path: string, {cwd}: Workspace): string {
  return pathFrom(cwd, path) ?? path;
}

/**
 * Returns the path as a person reads it: relative to the workspace when it is inside, otherwise as the model wrote it.
 */
export function titlePath(path: string, workspace: Workspace): string {
  return pathFrom(workspace.root, absolutePath(path, workspace)) ?? path;
}

/** Returns the path relative to the folder; undefined when it is outside. */
function pathFrom(folder: string, path: string): string | undefined {
  return isInside(path, [folder]) ? relative(folder, path) || '.' : undefined;
}

/** Returns ` in src` for the title of a search; an empty text for the whole workspace. */
export function titleFolder(path: string | undefined, workspace: Workspace): string {
  const shown = path === undefined ? '.' : titlePath(path, workspace);
  return shown === '.' ? '' : ` in ${shown}`;
}

/**
 * Returns the place for which the call of one path was permitted. Its links are not resolved again. The caller must
 * open it without following links, so that a link that was put there since the decision has no effect.
 * @throws Error of the file system
 */
export async function getPermittedPlace({places}: Pick<ToolContext, 'places'>): Promise<string> {
  const [place = ''] = places;
  if (process.platform !== 'darwin') return place;
  // Files are known by their names as the disk spells them.
  const spelt = await realpath(place).catch(ignoreMissing);
  return spelt !== undefined && isSamePath(spelt, place) ? spelt : place;
}

const MAX_SUGGESTIONS = 3;

/** Creates an error that says that `path` does not exist and which paths were probably meant. */
export async function createNotFoundError(path: string, workspace: Workspace): Promise<MiniCcError> {
  const shown = shownPath(path, workspace);
  const broken = describeBrokenLink(path);
  if (broken !== undefined) return new MiniCcError('NOT_FOUND', `${shown} ${broken}.`);
  const suggestions = await nearest(path, workspace);
  const meant = suggestions.length > 0 ? ` Did you mean ${suggestions.join(', ')}?` : '';
  return new MiniCcError('NOT_FOUND', `${shown} does not exist (cwd: ${workspace.cwd}).${meant}`);
}

async function nearest(path: string, workspace: Workspace): Promise<string[]> {
  // The agent's cwd may have changed, and models often write a path relative to the workspace's root.
  const fromRoot = resolve(workspace.root, relative(workspace.cwd, path));
  if (fromRoot !== path && existsSync(fromRoot)) return [fromRoot];
  const directory = dirname(path);
  const wanted = basename(path).toLowerCase();
  // Suggestions are optional, so a directory that cannot be listed yields none.
  const names = await readdir(directory).catch(() => []);
  return names
    .map((name) => ({name, distance: distanceTo(wanted, name.toLowerCase())}))
    .filter(({distance}) => distance <= Math.max(2, Math.floor(wanted.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({name}) => shownPath(join(directory, name), workspace));
}

/** Edit distance of two names. The same name with another extension has distance 1. */
function distanceTo(wanted: string, name: string): number {
  const sameStem = wanted.replace(/\.[^.]+$/, '') === name.replace(/\.[^.]+$/, '');
  // Cap the distance, so that a short wanted name does not match every name.
  return sameStem ? 1 : leven(wanted, name, {maxDistance: Math.max(3, wanted.length)});
}

const TRANSCRIPT = 'session.jsonl';

/**
 * Finds a transcript that was renamed when its run was archived, because its old path was printed and must stay usable.
 * @returns the transcript's present path; undefined when it was not archived, or `path` names no transcript
 */
export async function archivedTranscript(path: string): Promise<string | undefined> {
  if (basename(path) !== TRANSCRIPT || basename(dirname(dirname(path))) !== 'subagents') return undefined;
  const folder = dirname(path);
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR') return [];
    throw error;
  });
  if (names.includes(TRANSCRIPT)) return undefined;
  const newest = names
    .filter((name) => name.startsWith(`${TRANSCRIPT}.deleted.`))
    .sort()
    .at(-1);
  return newest === undefined ? undefined : join(folder, newest);
}
