/** Paths: whether one lies below another or leads out of a project, and how messages print them. */
import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';

/** Whether `target` is one of the folders or lies below one. Paths are all absolute or all relative, without `..`. */
export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}

/** From the repository's root down to the folder. Outside of a repository: the folder alone. */
export function listProjectFolders(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    folders.unshift(at);
    if (existsSync(path.join(at, '.git'))) return folders;
    if (path.dirname(at) === at) return [folder];
  }
}

/**
 * Where a file or folder leads, when that is out of the root; undefined when it stays within.
 * @param target something that exists
 */
export function findLinkOut(target: string, root: string): string | undefined {
  const real = realpathSync(target);
  return isInside(real, [realpathSync(root)]) ? undefined : real;
}

/** The name for a message. It is quoted as JSON if its control characters could imitate lines of mini-cc. */
export function formatFileName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name;
}
