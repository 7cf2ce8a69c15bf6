/**
 * Finds files that git stores in no commit: the `.git` of nested repositories, names that some file system takes for
 * `.git`, pipes, sockets, devices, and unreadable folders. They cannot come back from a worktree, so they are moved out
 * of it, and everything else comes back.
 */
import type {Dirent} from 'node:fs';
import {lstat, mkdir, readdir, rename} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import {isGitName, readRepository} from '../../core/util/files/git-folder.ts';

/** Names are relative to the top of the worktree. */
interface RefusedFiles {
  /** The `.git` of nested repositories. They are moved, so that the files of these repositories come back. */
  readonly nested: readonly string[];
  /** Other names that git refuses. */
  readonly refused: readonly string[];
  /** Files without a content that could be stored. */
  readonly special: readonly string[];
}

/**
 * @param top top folder of the worktree; its own `.git` stays
 * @param ignored relative paths that git ignores; a folder ends with a slash
 */
export async function findRefusedFiles(top: string, ignored: readonly string[]): Promise<RefusedFiles> {
  const skipped = new Set(ignored.map((name) => name.replace(/\/$/, '')));
  const found = {nested: [] as string[], refused: [] as string[], special: [] as string[]};
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(path.join(top, folder), {withFileTypes: true}).catch(() => undefined);
    if (entries === undefined) found.refused.push(folder);
    for (const entry of entries ?? []) {
      const name = path.join(folder, entry.name);
      if (name === '.git' || skipped.has(name)) continue;
      if (entry.name === '.git' && readRepository(path.join(top, folder))) found.nested.push(name);
      else if (isGitName(entry.name)) found.refused.push(name);
      else if (entry.isDirectory()) folders.push(name);
      else if (isSpecial(entry)) found.special.push(name);
    }
  }
  return found;
}

function isSpecial(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

/**
 * @param names names of files and folders, relative to `top`
 * @returns those that were moved, and those that could not be moved
 */
export async function moveFiles(top: string, names: readonly string[], to: string) {
  const moved: string[] = [];
  const left: string[] = [];
  for (const name of names) {
    try {
      const target = path.join(to, name);
      await mkdir(path.dirname(target), {recursive: true, mode: 0o700});
      // A continued run may have left a file of this name.
      if (await lstat(target).catch(ignoreMissing)) throw new Error(`${target} exists`);
      await rename(path.join(top, name), target);
      moved.push(name);
    } catch {
      left.push(name);
    }
  }
  return {moved, left};
}
