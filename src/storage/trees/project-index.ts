/**
 * Copies and reads the project's index, with which the index of trees begins, so that files that git knows need not be read
 * again. A file counts as known when the project's git would say that it has not changed, and when git stored its bytes
 * unconverted.
 */
import {lstatSync} from 'node:fs';
import {copyFile, stat, utimes} from 'node:fs/promises';
import {tryOr} from '../../core/util/errors.ts';
import {type GitOptions, gitOrThrow, parseSizes, readNames, readSetting} from './git.ts';

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

/** Formats entries as `update-index --index-info` reads them. */
export function formatEntries(entries: readonly IndexEntry[]): Buffer {
  return Buffer.concat(entries.flatMap(({name, mode, id}) => [Buffer.from(`${mode} ${id}\t`), name, NUL]));
}

/** `known`: git has its present content. `read`: its content must be read. `removed`: trees do not contain it. */
interface ProjectEntry extends IndexEntry {
  readonly how: 'known' | 'read' | 'removed';
}

/** Number of entries that are in memory at the same time. */
const ENTRIES_AT_ONCE = 10_000;

/** Prints the attributes of the files below the path `$2`, an empty part, and the entries of the index. */
const LIST_ALL = `
git ls-files -z -- "$2" | git check-attr --all -z --stdin || exit
printf '\\0'
git ls-files -z --stage -v --full-name`;

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
 * Reads the entries of an index of the project, some at a time. The entries of one file come together, removals first.
 * @param within path relative to `top`; trees contain only files below it
 * @param isTaken whether trees contain the file
 */
export async function* readProjectIndex(
  {top, index, within = ''}: {readonly top: string; readonly index: string; readonly within?: string},
  isTaken: (entry: IndexEntry) => boolean,
  options: GitOptions,
): AsyncGenerator<readonly ProjectEntry[]> {
  const lineEnds = (await readSetting(top, 'core.autocrlf', options)) ?? '';
  const converted: Conversions = {isAutomatic: !['', 'false'].includes(lineEnds), certain: new Set(), maybe: new Set()};
  const env = {GIT_INDEX_FILE: index, GIT_LITERAL_PATHSPECS: '1'};
  let [attribute, isAttribute]: [string[], boolean] = [[], true];
  let entries: ProjectEntry[] = [];
  for await (const parts of readNames(top, ['ls-files', within || '.'], {...options, env, script: LIST_ALL})) {
    for (const part of parts) {
      if (isAttribute) {
        if (part.length === 0 && attribute.length === 0) isAttribute = false;
        else if (attribute.push(part.toString('latin1')) === 3) attribute = noteAttribute(attribute, converted);
        continue;
      }
      const entry = parseEntry(part, isTaken);
      // During a merge a file has several entries.
      if (entries.length >= ENTRIES_AT_ONCE && !entries.at(-1)?.name.equals(entry.name)) {
        yield await markConverted(top, entries, converted, options);
        entries = [];
      }
      entries.push(entry);
    }
  }
  yield await markConverted(top, entries, converted, options);
}

/** Names in Latin-1 of files with attributes of conversions. */
interface Conversions {
  /** Whether git converts line ends of all files. */
  readonly isAutomatic: boolean;
  readonly certain: Set<string>;
  readonly maybe: Set<string>;
}

/** @returns an empty list for the next attribute */
function noteAttribute([name = '', attribute = '', value]: readonly string[], {certain, maybe}: Conversions): string[] {
  if (value !== 'unset' && CONVERSIONS.includes(attribute)) certain.add(name);
  if (value !== 'unset' && LINE_ENDS.includes(attribute)) maybe.add(name);
  return [];
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
  conversions: Conversions,
  options: GitOptions,
): Promise<readonly ProjectEntry[]> {
  const pick = (how: ProjectEntry['how']) => entries.filter((entry) => entry.how === how);
  const known = pick('known');
  const converted = new Set<IndexEntry>(await findConverted(top, known, conversions, options));
  const checked = known.map((entry) => (converted.has(entry) ? {...entry, how: 'read' as const} : entry));
  return [...pick('removed'), ...pick('read'), ...checked];
}

/** Returns files whose bytes git may have stored in another form. */
async function findConverted(
  top: string,
  entries: readonly IndexEntry[],
  {isAutomatic, certain, maybe}: Conversions,
  options: GitOptions,
): Promise<readonly IndexEntry[]> {
  if (!isAutomatic && certain.size + maybe.size === 0) return [];
  const named = entries.map((entry) => ({entry, name: entry.name.toString('latin1')}));
  const doubtful = named.filter(({name}) => isAutomatic || maybe.has(name));
  const ids = [...new Set(doubtful.map(({entry}) => entry.id))];
  const batch = {...options, input: `${ids.join('\n')}\n`};
  const stored = parseSizes(
    ids.length === 0 ? '' : (await gitOrThrow(top, ['cat-file', '--batch-check'], batch)).stdout,
  );
  // A size that differs from the stored one shows a conversion or a change. After a change, git compares the content
  // anyway.
  const isOtherSize = ({entry}: {readonly entry: IndexEntry}) => stored.get(entry.id) !== getSize(top, entry.name);
  const other = new Set(doubtful.filter(isOtherSize));
  return named.filter((each) => certain.has(each.name) || other.has(each)).map(({entry}) => entry);
}

function getSize(top: string, name: Buffer): number | undefined {
  return tryOr(() => lstatSync(Buffer.concat([Buffer.from(`${top}/`), name])).size, undefined);
}
