/**
 * The project's index, with which the first capture of its files begins: what git knows of them need not be read again. A file counts as known where the project's git would say that it has not changed, and where git stored its
 * bytes as they are.
 */
import {readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import {type GitOptions, git, parseSizes, splitNames} from './git.ts';
import {forgetStat, getMode, getModifiedAt, getSize, type IndexEntry, parseIndex} from './git-index.ts';

const FILE_MODES = ['100644', '100755', '120000'];
const SUBMODULE_MODE = '160000';
/** Attributes by which git stores other bytes than those of the file. Those of line ends show in its size. */
const CONVERSIONS = ['ident', 'filter', 'working-tree-encoding'];
const LINE_ENDS = ['text', 'eol', 'crlf'];
const NUL = Buffer.alloc(1);

interface ProjectIndexOptions extends Pick<GitOptions, 'limitMs' | 'signal' | 'known'> {
  /** Files outside of it are left out. */
  readonly root: string;
  /** The top of the checkout. */
  readonly top: string;
  /** The commits of submodules are included. */
  readonly submodules?: boolean | undefined;
}

/** @returns all files in git's order, those that are not known without a stat; undefined when the index cannot be used as it is */
export async function readProjectIndex({
  root,
  top,
  submodules = false,
  ...options
}: ProjectIndexOptions): Promise<IndexEntry[] | undefined> {
  const asked = await git(root, ['rev-parse', '--git-path', 'index'], options);
  const file = path.resolve(root, asked.stdout.toString().replace(/\n$/, ''));
  if (asked.exitCode !== 0) return undefined;
  // Before the bytes: an index that is written meanwhile is newer than that.
  const writtenAt = await stat(file).catch(() => undefined);
  const bytes = await readFile(file).catch(() => undefined);
  const parsed = writtenAt && bytes && parseIndex(bytes);
  // In the midst of a merge a file has several entries.
  if (!parsed || parsed.some(({stage}) => stage !== 0)) return undefined;
  const prefix = Buffer.from(path.relative(top, root) === '' ? '' : `${path.relative(top, root)}/`);
  const modes = submodules ? [...FILE_MODES, SUBMODULE_MODE] : FILE_MODES;
  const entries = parsed.filter(
    (entry) => modes.includes(getMode(entry)) && entry.name.subarray(0, prefix.length).equals(prefix),
  );
  const converted = await findConverted(top, entries, options);
  if (!converted) return undefined;
  const second = Math.floor(writtenAt.mtimeMs / 1000);
  // A file that was written in the same second as the index may have changed since without a trace.
  const isKnown = (entry: IndexEntry) => !entry.isFlagged && getModifiedAt(entry) < second && !converted.has(entry);
  return entries.map((entry) => (isKnown(entry) ? entry : forgetStat(entry)));
}

/** Files whose bytes git may have stored otherwise. Undefined when git cannot say so. */
async function findConverted(
  top: string,
  entries: readonly IndexEntry[],
  options: GitOptions,
): Promise<ReadonlySet<IndexEntry> | undefined> {
  const input = Buffer.concat(entries.flatMap(({name}) => [name, NUL]));
  const [attributes, lineEnds] = await Promise.all([
    git(top, ['check-attr', '--all', '-z', '--stdin'], {...options, input}).catch(() => undefined),
    git(top, ['config', '--get', 'core.autocrlf'], options),
  ]);
  if (attributes?.exitCode !== 0) return undefined;
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
  const ids = [...new Set(doubtful.map(({entry}) => entry.id))];
  const batch = {...options, input: `${ids.join('\n')}\n`};
  const known = parseSizes(ids.length === 0 ? '' : (await git(top, ['cat-file', '--batch-check'], batch)).stdout);
  const found = new Set(named.filter(({name}) => certain.has(name)).map(({entry}) => entry));
  for (const {entry} of doubtful) if (known.get(entry.id) !== getSize(entry)) found.add(entry);
  return found;
}
