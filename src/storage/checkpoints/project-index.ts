/**
 * The project's index as the first index of a session's snapshots: what git knows of the project's files need not be read
 * again. A file counts as known where the project's git would say that it has not changed, and where git stored its bytes
 * as they are.
 */
import {readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import {git, splitNames} from '../git.ts';
import {forgetStat, formatIndex, getMode, getModifiedAt, getSize, type IndexEntry, parseIndex} from '../git-index.ts';

const FILE_MODES = ['100644', '100755', '120000'];
/** Attributes by which git stores other bytes than those of the file. Those of line ends show in its size. */
const CONVERSIONS = ['ident', 'filter', 'working-tree-encoding'];
const LINE_ENDS = ['text', 'eol', 'crlf'];
const NUL = Buffer.alloc(1);

interface ProjectIndexOptions {
  /** The workspace: files outside of it are left out. */
  readonly root: string;
  readonly top: string;
  readonly limitMs: number;
  /** Sizes of contents by id. */
  readonly sizes: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

/** @returns an index file; undefined when the project's cannot be used as it is */
export async function copyProjectIndex({root, top, limitMs, sizes}: ProjectIndexOptions): Promise<Buffer | undefined> {
  const asked = await git(root, ['rev-parse', '--git-path', 'index']);
  const file = path.resolve(root, asked.stdout.toString().replace(/\n$/, ''));
  if (asked.exitCode !== 0) return undefined;
  // Before the bytes: an index that is written meanwhile is newer than that.
  const writtenAt = await stat(file).catch(() => undefined);
  const bytes = await readFile(file).catch(() => undefined);
  const parsed = writtenAt && bytes && parseIndex(bytes);
  // In the midst of a merge a file has several entries.
  if (!parsed || parsed.some(({stage}) => stage !== 0)) return undefined;
  const prefix = Buffer.from(path.relative(top, root) === '' ? '' : `${path.relative(top, root)}/`);
  const entries = parsed.filter(
    (entry) => FILE_MODES.includes(getMode(entry)) && entry.name.subarray(0, prefix.length).equals(prefix),
  );
  const converted = await findConverted(top, entries, limitMs, sizes);
  if (!converted) return undefined;
  const second = Math.floor(writtenAt.mtimeMs / 1000);
  // A file that was written in the same second as the index may have changed since without a trace.
  const isKnown = (entry: IndexEntry) => !entry.isFlagged && getModifiedAt(entry) < second && !converted.has(entry);
  return formatIndex(entries.map((entry) => (isKnown(entry) ? entry : forgetStat(entry))));
}

/** Files whose bytes git may have stored otherwise. Undefined when git cannot say so. */
async function findConverted(
  top: string,
  entries: readonly IndexEntry[],
  limitMs: number,
  sizes: ProjectIndexOptions['sizes'],
): Promise<ReadonlySet<IndexEntry> | undefined> {
  const input = Buffer.concat(entries.flatMap(({name}) => [name, NUL]));
  const [attributes, lineEnds] = await Promise.all([
    git(top, ['check-attr', '--all', '-z', '--stdin'], {input, limitMs}).catch(() => undefined),
    git(top, ['config', '--get', 'core.autocrlf']),
  ]);
  if (!attributes || attributes.exitCode !== 0) return undefined;
  const isAutomatic = !['', 'false'].includes(lineEnds.stdout.toString().trim());
  const [certain, maybe] = [new Set<string>(), new Set<string>()];
  const parts = splitNames(attributes.stdout);
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [name, attribute, value] = parts.slice(at, at + 3).map((part) => part.toString('latin1'));
    if (value === 'unset') continue;
    if (CONVERSIONS.includes(attribute!)) certain.add(name!);
    if (LINE_ENDS.includes(attribute!)) maybe.add(name!);
  }
  const named = entries.map((entry) => ({entry, name: entry.name.toString('latin1')}));
  const doubtful = named.filter(({name}) => isAutomatic || maybe.has(name));
  const known = await sizes([...new Set(doubtful.map(({entry}) => entry.id))]);
  const found = new Set(named.filter(({name}) => certain.has(name)).map(({entry}) => entry));
  for (const {entry} of doubtful) if (known.get(entry.id) !== getSize(entry)) found.add(entry);
  return found;
}
