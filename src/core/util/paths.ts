/** Whether `target` is one of the folders or lies below one. Paths are absolute or alike, without `..`. */
export function isInside(target: string, folders: readonly string[]): boolean {
  return folders.some((folder) => target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}
