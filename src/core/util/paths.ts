/** Paths: whether one lies below another, and how messages print them. */

/** Whether `target` is one of the folders or lies below one. Paths are all absolute or all relative, without `..`. */
export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}

/** The name for a message. It is quoted as JSON if its control characters could imitate lines of mini-cc. */
export function formatFileName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name;
}
