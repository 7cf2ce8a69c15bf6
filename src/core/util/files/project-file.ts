/**
 * Reads files that a project brings: only regular ones, within a limit, and without waiting for the other end of a
 * pipe. A clone may hold anything.
 */
import {closeSync, constants, type Dirent, fstatSync, opendirSync, openSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {MiniCcError, tryOr} from '../errors.ts';

const MEGABYTE = 1024 * 1024;
export const MAX_JSON_BYTES = 4 * MEGABYTE;
export const MAX_MARKDOWN_BYTES = MEGABYTE;
/** Definitions (agents, commands, skills) that are read in one place, and folders below each other. */
export const MAX_DEFINITIONS = 1000;
export const MAX_FOLDER_DEPTH = 8;
/** Size of the definitions of one place together. */
export const MAX_DEFINITIONS_BYTES = 4 * MEGABYTE;
const MAX_ENTRIES = 5000;

/**
 * Reads a file whole. Links are followed.
 * @param mayWait true for a file that the user typed, which may be a pipe (`<(…)`)
 * @throws MiniCcError `DIRECTORY`, `NOT_A_FILE`, `TOO_LARGE` with the end of a sentence; the file system's error
 */
export function readProjectFile(file: string, maxBytes: number, mayWait = false): Buffer {
  // Opening a device may already have an effect, so the kind of the file is checked first.
  assertReadable(statSync(file), maxBytes, mayWait);
  // A pipe may have taken its place. Without O_NONBLOCK, opening it would wait until a process writes into it.
  const handle = openSync(file, constants.O_RDONLY | (mayWait ? 0 : constants.O_NONBLOCK));
  try {
    assertReadable(fstatSync(handle), maxBytes, mayWait);
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Says why a file is skipped that exists and is not readable by its kind or size; undefined for any other. */
export function explainSkipped(file: string, maxBytes: number): string | undefined {
  try {
    assertReadable(statSync(file), maxBytes, false);
    return undefined;
  } catch (error) {
    return error instanceof MiniCcError ? error.message : undefined;
  }
}

interface FileKind {
  readonly size: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
}

function assertReadable(stat: FileKind, maxBytes: number, mayWait: boolean): void {
  if (stat.isDirectory()) throw new MiniCcError('DIRECTORY', 'is a folder, not a file');
  if (!stat.isFile() && !(mayWait && stat.isFIFO())) throw new MiniCcError('NOT_A_FILE', 'is not a regular file');
  if (stat.size <= maxBytes) return;
  const [size, most] = [(stat.size / MEGABYTE).toFixed(1), maxBytes / MEGABYTE];
  throw new MiniCcError('TOO_LARGE', `has ${size} MB, and at most ${most} MB are read`);
}

/**
 * Lists the entries of a folder in the order of their names, at most 5,000.
 * @throws the file system's error
 */
export function listProjectFolder(folder: string): {readonly entries: readonly Dirent[]; readonly isCut: boolean} {
  const entries: Dirent[] = [];
  const opened = opendirSync(folder);
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (entries.length === MAX_ENTRIES) return {entries: sort(entries), isCut: true};
      entries.push(entry);
    }
  } finally {
    opened.closeSync();
  }
  return {entries: sort(entries), isCut: false};
}

/**
 * Lists the markdown files below a folder, by the order of their names. A folder that cannot be read has none.
 * @param isFollowed tells of each entry whether it may be read or entered
 * @param onCut called when there are too many files or folders
 */
export function listMarkdownFiles(
  top: string,
  isFollowed: (file: string, entry: Dirent) => boolean,
  onCut: () => void,
): string[] {
  const files: string[] = [];
  let folders = 0;
  const visit = (folder: string, depth: number) => {
    folders += 1;
    const {entries, isCut} = tryOr(() => listProjectFolder(folder), {entries: [], isCut: false});
    if (isCut) onCut();
    for (const entry of entries) {
      if (files.length > MAX_DEFINITIONS || folders > MAX_DEFINITIONS) return onCut();
      const file = path.join(folder, entry.name);
      if (!isFollowed(file, entry)) continue;
      const isMarkdown = !entry.isDirectory() && /\.md$/i.test(entry.name);
      if (isMarkdown) files.push(file);
      else if (entry.isFile()) continue;
      else if (depth < MAX_FOLDER_DEPTH) visit(file, depth + 1);
      else onCut();
    }
  };
  visit(top, 1);
  return files;
}

function sort(entries: readonly Dirent[]): readonly Dirent[] {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
