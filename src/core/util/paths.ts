/** Checks whether paths are inside of folders or lead out of a project, and formats them for messages. */
import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';

/**
 * Whether `target` is one of the folders or is inside one of them. Paths are all absolute or all relative, without
 * `..`.
 */
export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}

/** Returns a path relative to the folder for a file inside it, and the path as it is for others. */
export function relativeIfInside(file: string, folder: string): string {
  return file.startsWith(`${folder}/`) ? path.relative(folder, file) : file;
}

/** Lists the folders from the repository's root down to this one. Outside of a repository it lists only this one. */
export function listProjectFolders(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    folders.unshift(at);
    if (existsSync(path.join(at, '.git'))) return folders;
    if (path.dirname(at) === at) return [folder];
  }
}

/**
 * Returns the target of a file or folder if it is outside of the root, and undefined otherwise.
 * @param target existing path
 */
export function findLinkOut(target: string, root: string): string | undefined {
  const real = realpathSync(target);
  return isInside(real, [realpathSync(root)]) ? undefined : real;
}

/** Formats a name for a message. It is quoted as JSON if its control characters could imitate lines of mini-cc. */
export function formatFileName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name;
}
