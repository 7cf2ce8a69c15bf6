/** Names of files in sentences. */

/** As it is, or as a string of JSON where a line break or the like in it could pass for words of the runtime. */
export function formatFileName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name;
}
