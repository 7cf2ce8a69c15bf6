/**
 * Copies and reads the project's index, with which the index of trees begins, so that files that git knows need not be read
 * again. A file counts as known when the project's git would say that it has not changed, and when git stored its bytes
 * unconverted.
 */
import {lstatSync} from 'node:fs';
import {copyFile, stat, utimes} from 'node:fs/promises';
import {type GitOptions, git, gitOrThrow, parseSizes, readNames, splitNames} from './git.ts';

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

/** `known`: git has its present content. `read`: its content must be read. `removed`: trees do not contain it. */
interface ProjectEntry extends IndexEntry {
  readonly how: 'known' | 'read' | 'removed';
}

/** Number of entries that are in memory at the same time. */
const ENTRIES_AT_ONCE = 10_000;

/** @returns false when the project has no index */
export async function copyIndex(index: string, copy: string): Promise<boolean> {
  // Read the time before the copy. Git compares the content of files that were written in the second of the index or
  // later.
  const writtenAt = await stat(index).catch(() => undefined);
  if (!writtenAt) return false;
  await copyFile(index, copy);
  const second = Math.floor(writtenAt.mtimeMs / 1000);
  await utimes(copy, second, second);
  return true;
}

/**
 * Reads the entries of an index of the project, some at a time. Those of one file come together, removals first.
 * @param isTaken whether trees contain the file
 */
export async function* readProjectIndex(
  top: string,
  index: string,
  isTaken: (entry: IndexEntry) => boolean,
  options: GitOptions,
): AsyncGenerator<readonly ProjectEntry[]> {
  const listing = ['ls-files', '-z', '--stage', '-v', '--full-name'];
  let entries: ProjectEntry[] = [];
  for await (const lines of readNames(top, listing, {...options, env: {GIT_INDEX_FILE: index}})) {
    for (const line of lines) {
      const entry = parseEntry(line, isTaken);
      // During a merge a file has several entries.
      if (entries.length >= ENTRIES_AT_ONCE && !entries.at(-1)?.name.equals(entry.name)) {
        yield await markConverted(top, entries, options);
        entries = [];
      }
      entries.push(entry);
    }
  }
  yield await markConverted(top, entries, options);
}

/** @param line `tag mode id stage`, a tab, and the name */
function parseEntry(line: Buffer, isTaken: (entry: IndexEntry) => boolean): ProjectEntry {
  const end = line.indexOf('\t');
  const [tag, mode = '', id = '', stage] = line.toString('latin1', 0, end).split(' ');
  const entry = {name: line.subarray(end + 1), mode, id};
  // Stage 2 is ours during a merge.
  if ((stage !== '0' && stage !== '2') || !isTaken(entry)) return {...REMOVED, name: entry.name, how: 'removed'};
  // A tag other than H means that git does not check the file.
  return {...entry, how: tag === 'H' ? 'known' : 'read'};
}

async function markConverted(
  top: string,
  entries: readonly ProjectEntry[],
  options: GitOptions,
): Promise<readonly ProjectEntry[]> {
  const pick = (how: ProjectEntry['how']) => entries.filter((entry) => entry.how === how);
  const known = pick('known');
  const converted = new Set<IndexEntry>(await findConverted(top, known, options));
  const checked = known.map((entry) => (converted.has(entry) ? {...entry, how: 'read' as const} : entry));
  return [...pick('removed'), ...pick('read'), ...checked];
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
