/** How a file came to a place where the snapshot before had none: made there, or only come into sight. */
import {lstatSync} from 'node:fs';
import {type FileState, idOf} from './file-state.ts';
import type {Change} from './ledger.ts';
import {madeSince} from './made-folders.ts';

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
