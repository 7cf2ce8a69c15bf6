/** Words of a prompt that are paths or patterns of paths. */

/** A run of the characters that paths are made of, with `@` before a mention. Chinese may stand right beside it. */
export const PATH_TOKEN = /(?<![\w.@/*~-])@?[\w.~*/{[][\w.@~*?+,/{}[\]-]*/g;

/** It names files by a pattern: `*.ts`, `src/**`, `{a,b}.js`. */
export function isPattern(token: string): boolean {
  return /\*/.test(token) || /\{[^{}]*,[^{}]*\}/.test(token);
}

/** The word without the mark of a mention and without the punctuation behind it. */
export function cleanPath(token: string): string {
  return token
    .replace(/^@/, '')
    .replace(/[.,?]+$/, '')
    .replace(/^\.\//, '');
}
