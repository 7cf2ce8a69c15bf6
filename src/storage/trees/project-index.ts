/**
 * Copies the project's index, with which the index of trees begins, so that files that git knows need not be read
 * again. A file counts as known when the project's git would say that it has not changed, and when git stored its bytes
 * unconverted.
 */
import {lstatSync} from 'node:fs';
import {copyFile, stat, utimes} from 'node:fs/promises';
import {type GitOptions, git, gitOrThrow, parseSizes, splitNames} from './git.ts';
import type {Repository} from './repository.ts';

/**
 * Attributes by which git stores other bytes than those of the file. Conversions of line ends show in the file's size.
 */
const CONVERSIONS = ['ident', 'filter', 'working-tree-encoding'];
const LINE_ENDS = ['text', 'eol', 'crlf'];
const NUL = Buffer.alloc(1);

/** An entry as `update-index --index-info` reads it; mode 0 removes the file. */
export interface IndexEntry {
  readonly name: Buffer;
  readonly mode: string;
  readonly id: string;
}

export const REMOVED = {mode: '0', id: '0'.repeat(40)};

interface ProjectIndex {
  /** Entries of all files that trees contain, without the sizes and times that git knows. */
  readonly taken: readonly IndexEntry[];
  /** Entries that must be written into the copy: files that are not known, and files that trees do not contain. */
  readonly changed: readonly IndexEntry[];
}

/**
 * Copies the project's index.
 * @param isTaken whether trees contain the file
 * @returns undefined when the project has no index
 */
export async function copyProjectIndex(
  {top, index}: Pick<Repository, 'top' | 'index'>,
  copy: string,
  isTaken: (entry: IndexEntry) => boolean,
  options: GitOptions,
): Promise<ProjectIndex | undefined> {
  // Read the time before the copy. Git compares the content of files that were written in the second of the index or
  // later.
  const writtenAt = await stat(index).catch(() => undefined);
  if (!writtenAt) return undefined;
  await copyFile(index, copy);
  const second = Math.floor(writtenAt.mtimeMs / 1000);
  await utimes(copy, second, second);
  const listing = ['ls-files', '-z', '--stage', '-v', '--full-name'];
  const listed = await gitOrThrow(top, listing, {...options, env: {GIT_INDEX_FILE: copy}});
  const found = {taken: [] as IndexEntry[], known: [] as IndexEntry[], changed: [] as IndexEntry[]};
  const removed: IndexEntry[] = [];
  for (const line of splitNames(listed.stdout)) {
    // The format is `tag mode id stage`, a tab, and the name.
    const end = line.indexOf('\t');
    const [tag, mode = '', id = '', stage] = line.toString('latin1', 0, end).split(' ');
    const entry = {name: line.subarray(end + 1), mode, id};
    // During a merge a file has several entries; stage 2 is ours.
    if ((stage === '0' || stage === '2') && isTaken(entry)) {
      found.taken.push(entry);
      // A tag other than H means that git does not check the file.
      (tag === 'H' ? found.known : found.changed).push(entry);
    } else removed.push({...REMOVED, name: entry.name});
  }
  const converted = await findConverted(top, found.known, options);
  return {taken: found.taken, changed: [...removed, ...found.changed, ...converted]};
}

/** Returns files whose bytes git may have stored in another form. */
async function findConverted(
  top: string,
  entries: readonly IndexEntry[],
  options: GitOptions,
): Promise<readonly IndexEntry[]> {
  const input = Buffer.concat(entries.flatMap(({name}) => [name, NUL]));
  const [attributes, lineEnds] = await Promise.all([
    gitOrThrow(top, ['check-attr', '--all', '-z', '--stdin'], {...options, input}),
    git(top, ['config', '--get', 'core.autocrlf'], options),
  ]);
  const isAutomatic = !['', 'false'].includes(lineEnds.stdout.toString().trim());
  const [certain, maybe] = [new Set<string>(), new Set<string>()];
  const parts = splitNames(attributes.stdout);
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [name, attribute, value] = parts.slice(at, at + 3).map((part) => part.toString('latin1'));
    if (value === 'unset') continue;
    if (CONVERSIONS.includes(attribute!)) certain.add(name!);
    if (LINE_ENDS.includes(attribute!)) maybe.add(name!);
  }
  if (!isAutomatic && certain.size + maybe.size === 0) return [];
  const named = entries.map((entry) => ({entry, name: entry.name.toString('latin1')}));
  const doubtful = named.filter(({name}) => isAutomatic || maybe.has(name));
  const ids = [...new Set(doubtful.map(({entry}) => entry.id))];
  const batch = {...options, input: `${ids.join('\n')}\n`};
  const stored = parseSizes(
    ids.length === 0 ? '' : (await gitOrThrow(top, ['cat-file', '--batch-check'], batch)).stdout,
  );
  // A size that differs from the stored one shows a conversion, or a change, after which git compares the content
  // anyway.
  for (const {entry, name} of doubtful) if (stored.get(entry.id) !== getSize(top, entry.name)) certain.add(name);
  return named.filter(({name}) => certain.has(name)).map(({entry}) => entry);
}

function getSize(top: string, name: Buffer): number | undefined {
  try {
    return lstatSync(Buffer.concat([Buffer.from(`${top}/`), name])).size;
  } catch {
    return undefined;
  }
}
