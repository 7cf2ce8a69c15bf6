/** Finds words of a prompt that are paths or patterns of paths. */

/** Matches characters of paths, with `@` before a mention. Chinese characters may be directly next to it. */
export const PATH_TOKEN = /(?<![\w.@/*~-])@?[\w.~*/{[][\w.@~*?+,/{}[\]-]*/g;

/** Whether the word names files by a pattern: `*.ts`, `src/**`, `{a,b}.js`. */
export function isPattern(token: string): boolean {
  return /\*/.test(token) || /\{[^{}]*,[^{}]*\}/.test(token);
}

/** Returns the word without the `@` of a mention and without the punctuation after it. */
export function cleanPath(token: string): string {
  return token
    .replace(/^@/, '')
    .replace(/[.,?]+$/, '')
    .replace(/^\.\//, '');
}
