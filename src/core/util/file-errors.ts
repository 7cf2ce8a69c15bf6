/** Errors of the file system and of processes, told by their code. */

/** The `code` of a system error, e.g. `ENOENT`. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** For what need not be there: undefined for a missing file. @throws every other error */
export function ignoreMissing(error: unknown): undefined {
  const code = getErrorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
