/**
 * Finds how a file came to a path where the previous snapshot had none: it was created there, moved there, or became
 * visible. Also finds whether a file changed before a command began.
 */
import {existsSync, lstatSync, statSync} from 'node:fs';
import path from 'node:path';
import {tryOr} from '../../core/util/errors.ts';
import {type FileState, getContentId} from '../trees/file-state.ts';
import type {FileChange} from './ledger.ts';

/** Milliseconds by which the clock of a file system may be behind. */
const CLOCK_LAG_MS = 20;

interface StateChange {
  readonly before: FileState;
  readonly after: FileState;
}

/** Returns the ids of contents that were removed from some path. A new file with such a content was moved. */
export function findRemovedContents(changes: readonly StateChange[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({before, after}) => (after === null ? (getContentId(before) ?? []) : [])));
}

/**
 * Returns the facts about the origin of a changed file that the ledger records.
 * @param since start of the command in milliseconds since the epoch
 * @param removed see `findRemovedContents`
 */
export function getFileOrigin(
  file: string,
  {before, after}: StateChange,
  {root, since, removed}: {readonly root: string; readonly since: number; readonly removed: ReadonlySet<string>},
): Pick<FileChange, 'madeFolders' | 'unseen'> {
  if (before !== null) return {};
  const madeFolders = listFoldersMadeSince(file, root, since);
  const isMoved = removed.has(getContentId(after) ?? '');
  return {
    ...(madeFolders.length > 0 ? {madeFolders} : {}),
    ...(!isMoved && isOlder(file, since) ? {unseen: true} : {}),
  };
}

/** False on file systems that do not store when a file was created: they report 0. */
function isOlder(file: string, time: number): boolean {
  const createdAt = lstatSync(file, {throwIfNoEntry: false})?.birthtimeMs ?? 0;
  return createdAt > 0 && createdAt < time - CLOCK_LAG_MS;
}

/** Returns the folders above a file that do not exist yet, outermost first. */
export function listMissingFolders(file: string): string[] {
  const missing: string[] = [];
  for (let folder = path.dirname(file); !existsSync(folder); folder = path.dirname(folder)) missing.unshift(folder);
  return missing;
}

/**
 * Returns the folders above a file, below `root`, that were created at `time` (milliseconds since the epoch) or later.
 */
function listFoldersMadeSince(file: string, root: string, time: number): string[] {
  const made: string[] = [];
  for (let folder = path.dirname(file); folder.startsWith(`${root}${path.sep}`); folder = path.dirname(folder)) {
    const stat = lstatSync(folder, {throwIfNoEntry: false});
    if (!stat || stat.birthtimeMs < time) break;
    made.unshift(folder);
  }
  return made;
}

/** Milliseconds since the epoch by the clock of a file system. */
export interface Span {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/**
 * Returns whether `lastChangedIn` works for the files of `root` with a span by the clock of `folder`: both get their times
 * from the same file system. Only Linux is known to note the time when a file is moved.
 */
export function canTellTimes(root: string, folder: string): boolean {
  return process.platform === 'linux' && tryOr(() => statSync(root).dev === statSync(folder).dev, false);
}

/**
 * Returns whether a file below `root` last changed in the span, or was removed in it. False when that is not certain, because
 * a folder between them changed later: the folder may have been moved.
 */
export function lastChangedIn({from, to}: Span, file: string, root: string): boolean {
  const places = [file];
  while (places.at(-1)!.length > root.length) places.push(path.dirname(places.at(-1)!));
  // Where a file stands in place of a folder, the places below it are missing too.
  const found = places.flatMap((place) => tryOr(() => lstatSync(place, {throwIfNoEntry: false}), undefined) ?? []);
  const [nearest, ...above] = found;
  if (!nearest || nearest.ctimeMs < from || nearest.dev !== found.at(-1)!.dev) return false;
  // No command in it moves the root, where files come and go all the time.
  return [nearest, ...above.slice(0, -1)].every(({ctimeMs}) => ctimeMs < to);
}
