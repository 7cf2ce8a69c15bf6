/**
 * Manages the folder of a run's worktree, and the file in it by which the next start recovers the changes after a
 * crash.
 */
import {existsSync, readFileSync} from 'node:fs';
import {chmod, lstat, mkdir, readdir, rename, rm, rmdir} from 'node:fs/promises';
import path from 'node:path';
import {z} from 'zod';
import {WORKTREES} from '../../core/contract/worktree.ts';
import {getErrorCode, ignoreMissing} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';
import {runProgram} from '../../core/util/processes.ts';

const START = 'start.json';
const VERSION = 1;

interface WorktreePaths {
  readonly folder: string;
  /** Folder that contains the tree, under the name of the original folder, since many tools name a project by it. */
  readonly trees: string;
  readonly git: string;
  /** The run's own folder with its transcript, where patches and bundles are stored. */
  readonly keepIn: string;
}

export function getWorktreesFolder(sessionFolder: string): string {
  return path.join(sessionFolder, WORKTREES);
}

export function getWorktreePaths(sessionFolder: string, runId: string): WorktreePaths {
  const folder = path.join(getWorktreesFolder(sessionFolder), runId);
  return {
    folder,
    trees: path.join(folder, 'tree'),
    git: path.join(folder, 'state.git'),
    keepIn: path.join(sessionFolder, 'subagents', runId),
  };
}

const startSchema = z.object({
  version: z.literal(VERSION),
  top: z.string(),
  label: z.string(),
  /** Repository of which the tree is a copy. `start` is the id of the git tree at the start. */
  origin: z.object({top: z.string(), prefix: z.string(), objectFormat: z.string(), start: z.string()}).readonly(),
});

type WorktreeStart = Readonly<z.infer<typeof startSchema>>;
export type Origin = WorktreeStart['origin'];

/** Writes the file once the tree is complete. From then on the tree may contain changes that must not be lost. */
export async function writeStart(folder: string, start: Omit<WorktreeStart, 'version'>): Promise<void> {
  const file = startSchema.parse({version: VERSION, ...start});
  await writeWhole(path.join(folder, START), JSON.stringify(file), {mode: 0o600});
}

/** Removes the file once the changes are brought back or stored. From then on the tree may be deleted. */
export async function removeStart(folder: string): Promise<void> {
  await rm(path.join(folder, START), {force: true});
}

/** Undefined when the tree was never complete. @throws Error for a file that cannot be read */
export function readStart(folder: string): WorktreeStart | undefined {
  const file = path.join(folder, START);
  return existsSync(file) ? startSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** Removes the tree, including folders without write permission, which package caches create. */
export async function removeTree(folder: string): Promise<void> {
  // Remove this file first, so that after a crash a half-removed tree does not look like one in which a run deleted
  // files.
  await removeStart(folder);
  // Node would hold the names of all files in memory, and takes twice as long.
  const {exitCode} = await runProgram('rm', ['-rf', '--', folder]);
  if (exitCode !== 0) {
    await makeFoldersWritable(folder);
    await rm(folder, {recursive: true, force: true});
  }
  await rmdir(path.dirname(folder)).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(getErrorCode(error) ?? '')) throw error;
  });
}

async function makeFoldersWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, {withFileTypes: true})) {
    if (entry.isDirectory()) await makeFoldersWritable(path.join(folder, entry.name));
  }
}

/**
 * Returns a path that does not exist yet: `changes.patch`, then `changes-2.patch`. A continued run may store several.
 */
export async function findUnusedPath(folder: string, name: string): Promise<string> {
  const {name: start, ext} = path.parse(name);
  for (let count = 1; ; count += 1) {
    const file = path.join(folder, count === 1 ? name : `${start}-${count}${ext}`);
    if ((await lstat(file).catch(ignoreMissing)) === undefined) return file;
  }
}

/**
 * Stores a file as a whole or not at all, readable only by its owner.
 * @param write writes the file under another name
 * @returns the path of the file
 */
export async function keepFile(folder: string, name: string, write: (draft: string) => Promise<void>): Promise<string> {
  await mkdir(folder, {recursive: true, mode: 0o700});
  const file = await findUnusedPath(folder, name);
  const draft = `${file}.draft`;
  await write(draft);
  await chmod(draft, 0o600);
  await rename(draft, file);
  return file;
}
