/** Whether `target` is one of the folders or lies below one. Paths are absolute or alike, without `..`. */
export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}

/** As it is, or as a string of JSON where a line break or the like in it could pass for words of the runtime. */
export function formatFileName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name;
}
