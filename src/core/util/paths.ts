/** Paths: whether one lies below another, and how messages print them. */

/**
 * Whether `target` is one of the folders or lies below one. All paths are absolute, or all relative, and without `..`.
 */
export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}

/**
 * The name for a message. A name with control characters is quoted as JSON, so that it cannot imitate lines of mini-cc.
 */
export function formatFileName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name;
}
