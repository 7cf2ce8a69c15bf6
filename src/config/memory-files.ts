/**
 * Memory files: AGENTS.md, or else CLAUDE.md, from the repository's root down to the working directory, and the user's
 * own. Their text goes to the model's server, so a file of the project that is a link out of it counts only when the
 * user trusts it.
 */
import {existsSync, lstatSync, readlinkSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Claim, Trusts} from '../core/contract/permission.ts';
import {tryOr, UsageError} from '../core/util/errors.ts';
import {createPrivateFolder} from '../core/util/files/private-file.ts';
import {MAX_MARKDOWN_BYTES, readProjectFile} from '../core/util/files/project-file.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {findLinkOut, isInside, listProjectFolders} from '../core/util/paths.ts';
import {isRead, type UserPlaces} from './layers.ts';

export const MEMORY = ['AGENTS.md', 'CLAUDE.md'];
export const NOTES = 'TOOLS.md';

interface MemoryPlaces extends Pick<UserPlaces, 'cwd' | 'miniCcHome' | 'sources'> {
  /** Says what the user trusts of the project's files. */
  readonly trusts: Trusts;
}

/** Reads the memory files, the farthest first, so that the model reads the nearest last. */
export function memoryFiles(places: MemoryPlaces): MemoryFile[] {
  return readNearest(places, MEMORY, path.join(places.miniCcHome, 'AGENTS.md'));
}

/** Reads notes on tools. Subagents get them together with the memory files. */
export function toolNotes(places: MemoryPlaces): MemoryFile[] {
  return readNearest(places, [NOTES], path.join(places.miniCcHome, NOTES));
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
  const old = isFile(file) ? readProjectFile(file, MAX_MARKDOWN_BYTES).toString() : '';
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
export function createMemoryDeps(places: MemoryPlaces) {
  const {cwd, miniCcHome} = places;
  return {
    readMemory: () => [...memoryFiles(places), ...toolNotes(places)],
    listMemoryFiles: () => listMemoryFiles(cwd, miniCcHome),
    prepareMemoryFile: (file: string) => prepareMemoryFile(file, cwd),
    addNote: (file: string, note: string) => addNote(file, note, cwd),
  };
}

export type MemoryDeps = ReturnType<typeof createMemoryDeps>;

/** Lists files of the project that are links out of it, with their targets. */
export function memoryClaims(cwd: string): Claim[] {
  const folders = listProjectFolders(cwd);
  return folders.flatMap((folder) =>
    [...MEMORY, NOTES].flatMap((name) => getLinkClaim(path.join(folder, name), folders[0]!) ?? []),
  );
}

/** @param names in each folder the first existing file counts @param own the user's file */
function readNearest({cwd, trusts, sources}: MemoryPlaces, names: readonly string[], own: string): MemoryFile[] {
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
  // A link to itself, or a link through a file, cannot be read.
  return tryOr(() => statSync(file, {throwIfNoEntry: false})?.isFile() ?? false, false);
}

interface MemoryFile {
  readonly path: string;
  readonly text: string;
  /** True when the file is longer and the rest is left out. */
  readonly isCut: boolean;
  /** Memory file that names this one. */
  readonly importedBy?: string;
}

/** Longer files are cut, because every request costs their tokens. */
const MAX_CHARS = 40_000;
const MAX_IMPORTS = 20;
/** Documents may import documents, up to this depth. */
const MAX_DEPTH = 5;
/** Only documents are imported. The model reads data and sources when it needs them. */
const DOCUMENT = /\.(?:md|mdc|markdown|txt|rst|adoc)$/i;

/** @returns undefined when the path is not a readable file */
function readMemoryFile(file: string): MemoryFile | undefined {
  const text = tryOr(() => readProjectFile(file, MAX_MARKDOWN_BYTES).toString(), undefined);
  if (text === undefined) return undefined;
  return {path: file, text: text.slice(0, MAX_CHARS).toWellFormed(), isCut: text.length > MAX_CHARS};
}

/**
 * Returns the files, each followed by the documents that it names: `@docs/style.md` in a memory file adds that file, as
 * in Claude Code. The text goes to the model's server. For this reason only documents count, and only within the
 * project, or within the folder of the user's own file. Links out of it do not count.
 * @param getRoot returns the folder that bounds the imports of a file
 */
function withImports(files: readonly MemoryFile[], getRoot: (file: string) => string): MemoryFile[] {
  const seen = new Set(files.map((file) => getRealPath(file.path)));
  let left = MAX_IMPORTS;
  const follow = (file: MemoryFile, root: string, depth: number): MemoryFile[] => {
    const imported: MemoryFile[] = [];
    for (const name of depth < MAX_DEPTH ? findImports(file.text) : []) {
      const target = path.resolve(path.dirname(file.path), name);
      const real = getRealPath(target);
      if (real === undefined || seen.has(real) || left === 0) continue;
      // The real name counts, because a link may have another one.
      if (!DOCUMENT.test(real) || !isInside(real, [getRealPath(root) ?? root])) continue;
      const read = readMemoryFile(real);
      if (!read) continue;
      seen.add(real);
      left -= 1;
      const found = {...read, path: target, importedBy: file.path};
      imported.push(found, ...follow(found, root, depth + 1));
    }
    return imported;
  };
  return files.flatMap((file) => [file, ...follow(file, getRoot(file.path), 0)]);
}

/** Finds names behind an `@` at the start of a word, outside code. */
function findImports(text: string): string[] {
  const prose = text.replaceAll(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/(?:^|[\s(])@([^\s@]+)/g)].map(([, name = '']) => name.replace(/[),.;:!?]+$/, ''));
}

/** Returns undefined when the file does not exist or cannot be reached. */
function getRealPath(file: string): string | undefined {
  return tryOr(() => realpathSync(file), undefined);
}
