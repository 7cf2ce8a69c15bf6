/**
 * Files that git keeps in no commit: names that some file system takes for `.git`, pipes, sockets, devices, what cannot
 * be read. They cannot come back from a worktree, so they are moved out of it, and everything else comes back.
 */
import type {Dirent} from 'node:fs';
import {lstat, mkdir, readdir, rename} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import {isGitName} from '../../core/util/files/git-folder.ts';

/** Names are relative to the top of the worktree. */
export interface RefusedFiles {
  /** Moved into the folder for such files. */
  readonly moved: readonly string[];
  /** They have no content that could be kept, or cannot be moved. */
  readonly left: readonly string[];
}

/**
 * Moves what git would refuse.
 * @param top of the worktree; its own `.git` stays
 * @param ignored what git ignores, relative; a folder ends with a slash
 * @param to where the files go, under their relative names
 */
export async function moveRefusedFiles(top: string, ignored: readonly string[], to: string): Promise<RefusedFiles> {
  const skipped = new Set(ignored.map((name) => name.replace(/\/$/, '')));
  const refused: string[] = [];
  const left: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(path.join(top, folder), {withFileTypes: true}).catch(() => undefined);
    if (entries === undefined) refused.push(folder);
    for (const entry of entries ?? []) {
      const name = path.join(folder, entry.name);
      if (name === '.git' || skipped.has(name)) continue;
      if (isGitName(entry.name)) refused.push(name);
      else if (entry.isDirectory()) folders.push(name);
      else if (isSpecial(entry)) left.push(name);
    }
  }
  const {moved, left: stuck} = await moveFiles(top, refused, to);
  return {moved, left: [...left, ...stuck]};
}

function isSpecial(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

/** @param names relative to `top`, of files and folders */
export async function moveFiles(top: string, names: readonly string[], to: string): Promise<RefusedFiles> {
  const moved: string[] = [];
  const left: string[] = [];
  for (const name of names) {
    try {
      const target = path.join(to, name);
      await mkdir(path.dirname(target), {recursive: true, mode: 0o700});
      // A continued run may have left one of this name.
      if (await lstat(target).catch(ignoreMissing)) throw new Error(`${target} exists`);
      await rename(path.join(top, name), target);
      moved.push(name);
    } catch {
      left.push(name);
    }
  }
  return {moved, left};
}
