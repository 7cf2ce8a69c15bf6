/** Where the worktree of a run lies, and what is written down there for the case that mini-cc dies. */
import {existsSync, readFileSync} from 'node:fs';
import {chmod, lstat, readdir, rm, rmdir} from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import {z} from 'zod';
import {WORKTREES} from '../../core/contract/worktree.ts';
import {codeOf, orAbsent} from '../../core/util/file-errors.ts';
import type {Repository} from './repository.ts';

const START = 'start.json';
const VERSION = 1;

export interface Places {
  readonly folder: string;
  /** Holds the tree under the name of the original, by which many tools name a project. */
  readonly trees: string;
  readonly git: string;
  /** The run's own folder, with its transcript. */
  readonly keepIn: string;
}

export function worktreesOf(sessionFolder: string): string {
  return path.join(sessionFolder, WORKTREES);
}

export function placesOf(sessionFolder: string, runId: string): Places {
  const folder = path.join(worktreesOf(sessionFolder), runId);
  return {
    folder,
    trees: path.join(folder, 'tree'),
    git: path.join(folder, 'state.git'),
    keepIn: path.join(sessionFolder, 'subagents', runId),
  };
}

export interface Origin extends Pick<Repository, 'top' | 'prefix' | 'objectFormat'> {
  /** The tree that the worktree began with. */
  readonly start: string;
}

const startSchema = z.object({
  version: z.literal(VERSION),
  top: z.string(),
  label: z.string(),
  origin: z.object({top: z.string(), prefix: z.string(), objectFormat: z.string(), start: z.string()}),
});

export interface Start {
  readonly origin: Origin;
  /** Of the tree. */
  readonly top: string;
  readonly label: string;
}

/** The tree is complete: from here on it may hold what must not be lost. */
export async function writeStart(folder: string, {origin, top, label}: Start): Promise<void> {
  const {top: originalTop, prefix, objectFormat, start} = origin;
  const told = {version: VERSION, top, label, origin: {top: originalTop, prefix, objectFormat, start}};
  await writeFileAtomic(path.join(folder, START), JSON.stringify(told), {mode: 0o600});
}

/** What it holds is brought back or kept: from here on it may be removed by anybody. */
export async function settle(folder: string): Promise<void> {
  await rm(path.join(folder, START), {force: true});
}

/** Undefined when the tree was never complete. @throws Error for one that cannot be read. */
export function readStart(folder: string): Start | undefined {
  const file = path.join(folder, START);
  return existsSync(file) ? startSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** Also where a command took away the right to write, as caches of packages do. */
export async function removeTree(folder: string): Promise<void> {
  // First, so that half a tree is never taken for one in which all else was deleted.
  await settle(folder);
  try {
    await rm(folder, {recursive: true, force: true});
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
    await openFolders(folder);
    await rm(folder, {recursive: true, force: true});
  }
  await rmdir(path.dirname(folder)).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
  });
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, {withFileTypes: true})) {
    if (entry.isDirectory()) await openFolders(path.join(folder, entry.name));
  }
}

/** `changes.patch`, then `changes-2.patch`: a run that goes on may keep another one. */
export async function freeName(folder: string, name: string, ending: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const file = path.join(folder, count === 1 ? `${name}.${ending}` : `${name}-${count}.${ending}`);
    if ((await lstat(file).catch(orAbsent)) === undefined) return file;
  }
}

/** As a shell takes it for one word. */
export function shellWord(text: string): string {
  return /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
