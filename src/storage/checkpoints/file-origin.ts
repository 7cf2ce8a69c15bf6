/** How a file came to a place where the snapshot before had none: made there, or only come into sight. */
import {existsSync, lstatSync} from 'node:fs';
import path from 'node:path';
import {type FileState, idOf} from './file-state.ts';
import type {Change} from './ledger.ts';

/** Milliseconds that the clock of a file system may be behind. */
const CLOCK_LAG_MS = 20;

export interface Arrival {
  readonly before: FileState;
  readonly after: FileState;
}

/** Contents that went from some place between two snapshots: a file that holds one of them was moved. */
export function goneIn(changes: readonly Arrival[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({before, after}) => (after === null ? (idOf(before) ?? []) : [])));
}

/**
 * What is to be noted beside the change of a file that may have arrived.
 * @param since when the command began, in milliseconds since the epoch. @param gone see `goneIn`.
 */
export function arrivalOf(
  file: string,
  {before, after}: Arrival,
  {root, since, gone}: {readonly root: string; readonly since: number; readonly gone: ReadonlySet<string>},
): Pick<Change, 'madeFolders' | 'unseen'> {
  if (before !== null) return {};
  const madeFolders = madeSince(file, root, since);
  const isMoved = gone.has(idOf(after) ?? '');
  return {
    ...(madeFolders.length > 0 ? {madeFolders} : {}),
    ...(!isMoved && isOlder(file, since) ? {unseen: true} : {}),
  };
}

/** File systems that do not know when a file was made say 0. */
function isOlder(file: string, time: number): boolean {
  const madeAt = lstatSync(file, {throwIfNoEntry: false})?.birthtimeMs ?? 0;
  return madeAt > 0 && madeAt < time - CLOCK_LAG_MS;
}

/** Those above `file` that are not there yet, outermost first. */
export function missingAbove(file: string): string[] {
  const missing: string[] = [];
  for (let folder = path.dirname(file); !existsSync(folder); folder = path.dirname(folder)) missing.unshift(folder);
  return missing;
}

/** Those above `file` and below `root` that came into being at `time` (milliseconds since the epoch) or later. */
export function madeSince(file: string, root: string, time: number): string[] {
  const made: string[] = [];
  for (let folder = path.dirname(file); folder.startsWith(`${root}${path.sep}`); folder = path.dirname(folder)) {
    const about = lstatSync(folder, {throwIfNoEntry: false});
    if (!about || about.birthtimeMs < time) break;
    made.unshift(folder);
  }
  return made;
}
