/** What git ignores does not come back, but for the files that the run's tools wrote: those were meant. */
import {lstat} from 'node:fs/promises';
import path from 'node:path';
import {orAbsent} from '../../core/file-errors.ts';
import type {Snapshots} from './snapshots.ts';

/** Of one file that nobody can say who wrote. */
const MOST_BYTES = 10 * 1024 * 1024;

export interface IgnoredFiles {
  /** Written by tools: part of the next snapshot. Relative to the tree's top. */
  readonly taken: ReadonlySet<string>;
  /** Relative; a folder ends with a slash. */
  readonly left: readonly string[];
}

/** @param written by the run's tools, absolute. @param top of the tree */
export async function ignoredIn(snapshots: Snapshots, top: string, written: readonly string[]): Promise<IgnoredFiles> {
  const ignored = await snapshots.ignored();
  const taken = new Set<string>();
  for (const file of written) {
    const name = path.relative(top, file);
    const isIgnored = ignored.some((each) => each === name || (each.endsWith('/') && name.startsWith(each)));
    if (isIgnored && (await lstat(file).catch(orAbsent))?.isFile()) taken.add(name);
  }
  if (taken.size === 0) return {taken, left: ignored};
  await snapshots.takeAlso([...taken]);
  return {taken, left: await snapshots.ignored()};
}

/** After a crash nobody knows which were meant: single files are taken, folders are what builds and installs leave. */
export async function ignoredByCrash(snapshots: Snapshots, top: string): Promise<IgnoredFiles> {
  const taken = new Set<string>();
  for (const name of await snapshots.ignored()) {
    const about = await lstat(path.join(top, name));
    if (about.isFile() && about.size <= MOST_BYTES) taken.add(name);
  }
  if (taken.size > 0) await snapshots.takeAlso([...taken]);
  return {taken, left: await snapshots.ignored()};
}
