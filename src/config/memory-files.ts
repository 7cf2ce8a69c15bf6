/**
 * Memory files: AGENTS.md, or else CLAUDE.md, from the repository's root down to the working directory, and the user's
 * own. Their text goes to the model's server, so a file of the project that is a link out of it counts only when the
 * user trusts it.
 */
import {existsSync, lstatSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Claim, Trusts} from '../core/contract/permission.ts';
import {UsageError} from '../core/util/errors.ts';
import {createPrivateFolder} from '../core/util/files/private-file.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {findLinkOut, isInside, listProjectFolders} from '../core/util/paths.ts';
import {isRead, type SettingSource} from './layers.ts';
import {type MemoryFile, readMemoryFile, withImports} from './memory-imports.ts';

const MEMORY = ['AGENTS.md', 'CLAUDE.md'];
const NOTES = 'TOOLS.md';

/** Reads the memory files, the farthest first, so that the model reads the nearest last. */
export function memoryFiles(
  cwd: string,
  home: string,
  trusts: Trusts,
  sources?: readonly SettingSource[],
): MemoryFile[] {
  return readNearest(cwd, {trusts, sources}, MEMORY, path.join(home, 'AGENTS.md'));
}

/** Reads notes on tools. Subagents get them together with the memory files. */
export function toolNotes(cwd: string, home: string, trusts: Trusts, sources?: readonly SettingSource[]): MemoryFile[] {
  return readNearest(cwd, {trusts, sources}, [NOTES], path.join(home, NOTES));
}

/** Lists the files for new notes: of the repository, of the working directory and of the user. They need not exist. */
export function listMemoryFiles(cwd: string, home: string): {file: string; label: string}[] {
  const [root = cwd] = listProjectFolders(cwd);
  const folders = root === cwd ? [root] : [root, cwd];
  const ofProject = folders.map((folder) => {
    const name = MEMORY.find((each) => existsSync(path.join(folder, each))) ?? MEMORY[0]!;
    return {file: path.join(folder, name), label: `${path.relative(cwd, path.join(folder, name))} (this project)`};
  });
  return [...ofProject, {file: path.join(home, 'AGENTS.md'), label: `${path.join(home, 'AGENTS.md')} (all projects)`}];
}

/**
 * Appends a note as an item of a list.
 * @throws UsageError for a file of the project that is a link out of it; what `writeWhole` throws
 */
export async function addNote(file: string, note: string, cwd: string): Promise<void> {
  prepareMemoryFile(file, cwd);
  const old = isFile(file) ? readFileSync(file, 'utf8') : '';
  const start = old === '' || old.endsWith('\n') ? old : `${old}\n`;
  await writeWhole(file, `${start}- ${note}\n`);
}

/**
 * Checks a memory file before it is written or opened.
 * @throws UsageError for a file of the project that is a link out of it
 */
function prepareMemoryFile(file: string, cwd: string): void {
  const [root = cwd] = listProjectFolders(cwd);
  if (!isInside(file, [root])) {
    createPrivateFolder(path.dirname(file));
    return;
  }
  const isLink = lstatSync(file, {throwIfNoEntry: false})?.isSymbolicLink() ?? false;
  // Writing through a link to nothing would create a file at its other end.
  if (isLink && !existsSync(file))
    throw new UsageError(`${file} is a link to ${readlinkSync(file)}, which is not there.`);
  const target = findLinkOut(existsSync(file) ? file : path.dirname(file), root);
  if (target !== undefined) throw new UsageError(`${file} leads out of the project, to ${target}: write it there.`);
}

/** Functions of memory files for commands. */
export function createMemoryDeps(cwd: string, home: string, trusts: Trusts, sources?: readonly SettingSource[]) {
  return {
    readMemory: () => [...memoryFiles(cwd, home, trusts, sources), ...toolNotes(cwd, home, trusts, sources)],
    listMemoryFiles: () => listMemoryFiles(cwd, home),
    prepareMemoryFile: (file: string) => prepareMemoryFile(file, cwd),
    addNote: (file: string, note: string) => addNote(file, note, cwd),
  };
}

/** Lists files of the project that are links out of it, with their targets. */
export function memoryClaims(cwd: string): Claim[] {
  const folders = listProjectFolders(cwd);
  return folders.flatMap((folder) =>
    [...MEMORY, NOTES].flatMap((name) => getLinkClaim(path.join(folder, name), folders[0]!) ?? []),
  );
}

interface Wanted {
  readonly trusts: Trusts;
  readonly sources: readonly SettingSource[] | undefined;
}

/** @param names in each folder the first existing file counts @param own the user's file */
function readNearest(cwd: string, {trusts, sources}: Wanted, names: readonly string[], own: string): MemoryFile[] {
  const folders = listProjectFolders(cwd);
  const counts = (file: string) => {
    if (!isFile(file)) return false;
    const claim = getLinkClaim(file, folders[0]!);
    return claim === undefined || trusts(claim);
  };
  const read = isRead('project', sources) ? folders : [];
  const ofProject = read.map((folder) => names.map((name) => path.join(folder, name)).find(counts));
  const files = [isRead('user', sources) && isFile(own) ? own : undefined, ...ofProject].filter(
    (file) => file !== undefined,
  );
  return withImports(
    files.flatMap((file) => readMemoryFile(file) ?? []),
    (file) => (file === own ? path.dirname(own) : folders[0]!),
  );
}

/** Returns the claim of a link that leads out of the root. Undefined for other files and missing ones. */
function getLinkClaim(file: string, root: string): Claim | undefined {
  if (!isFile(file)) return undefined;
  const target = findLinkOut(file, root);
  return target === undefined ? undefined : {file, key: 'link', value: target};
}

/** Says whether the path is a file, and not a folder or a pipe, where reading would wait. */
function isFile(file: string): boolean {
  try {
    return statSync(file, {throwIfNoEntry: false})?.isFile() ?? false;
  } catch (error) {
    // A link to itself, or a link through a file, cannot be read.
    if (error instanceof Error) return false;
    throw error;
  }
}
