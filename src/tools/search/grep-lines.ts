/** Collects the lines that ripgrep prints by file, so that their order does not depend on ripgrep's threads. */

import {formatCount} from '../../core/util/text.ts';

/** Limit of lines in memory. Further ones are only counted. */
const MAX_KEPT_LINES = 50_000;
/** Number of lines at which the search ends. */
const MAX_COUNTED_LINES = 500_000;
/** Line that separates lines that do not follow one another, when context lines were requested. */
const GAP = '--';

/** Line that ripgrep prints, without a NUL, instead of the lines of a binary file. */
const BINARY = /^(.+): binary file matches \(found "\\0" byte around offset \d+\)$/s;

interface FileLines {
  readonly lines: string[];
  /** Number of matches, without lines of context. */
  matches: number;
}

export class FoundLines {
  readonly #mode: 'content' | 'count';
  readonly #isNumbered: boolean;
  readonly #hasContext: boolean;
  readonly #files = new Map<string, FileLines>();
  /** Files with NUL bytes, whose matching lines ripgrep does not print. */
  readonly binary = new Set<string>();
  #counted = 0;
  #kept = 0;
  #gap = false;

  constructor(mode: 'content' | 'count', isNumbered: boolean, hasContext: boolean) {
    this.#mode = mode;
    this.#isNumbered = isNumbered;
    this.#hasContext = hasContext;
  }

  /** Adds a line that ripgrep printed with `--null`: `path NUL line`. @returns false when no more lines are needed */
  add(given: string, wants: (path: string) => boolean): boolean {
    // With `--crlf`, ripgrep also ends its own lines with `\r\n`.
    const record = given.endsWith('\r') ? given.slice(0, -1) : given;
    const nul = record.indexOf('\0');
    if (nul === -1) {
      const path = BINARY.exec(record)?.[1]?.replace(/^\.\//, '');
      if (path !== undefined && wants(path)) this.binary.add(path);
      this.#gap = record === GAP;
      return true;
    }
    const path = record.slice(0, nul).replace(/^\.\//, '');
    if (!wants(path)) return true;
    this.#counted += 1;
    if (this.#kept >= MAX_KEPT_LINES) return this.#counted < MAX_COUNTED_LINES;
    const file = this.#files.get(path) ?? {lines: [], matches: 0};
    this.#files.set(path, file);
    const rest = record.slice(nul + 1);
    if (this.#mode === 'count') {
      file.lines.push(`${path}:${rest}`);
      file.matches += Number(rest);
    } else {
      if (this.#gap && file.lines.length > 0) file.lines.push(GAP);
      file.lines.push(this.#contentLine(path, rest));
    }
    this.#gap = false;
    this.#kept += 1;
    return true;
  }

  /** Says for a person how much was found. */
  get summary(): string {
    if (this.#counted === 0) return 'no matches';
    const lines = this.#mode === 'count' ? [] : [formatCount(this.#counted, 'line')];
    return [...lines, formatCount(this.#files.size, 'file')].join(' in ');
  }

  /** Returns the lines sorted by path, at most `limit`, and one line about the rest. Empty when nothing was found. */
  text(limit: number): string[] {
    const files = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = files.flatMap(([, file], index) =>
      this.#hasContext && index > 0 ? [GAP, ...file.lines] : file.lines,
    );
    const shown: string[] = [];
    let counted = 0;
    for (const line of lines) {
      if (counted === limit) break;
      shown.push(line);
      if (line !== GAP) counted += 1;
    }
    if (shown.at(-1) === GAP) shown.pop();
    const more = this.#counted - counted;
    if (more > 0) {
      const atLeast = this.#counted >= MAX_COUNTED_LINES ? 'at least ' : '';
      const what = this.#mode === 'count' ? 'more file' : 'more line';
      shown.push(`(${atLeast}${formatCount(more, what)}: narrow the pattern, or set limit)`);
    } else if (this.#mode === 'count' && files.length > 1) {
      const total = files.reduce((sum, [, file]) => sum + file.matches, 0);
      shown.push(`(${formatCount(total, 'line')} in ${formatCount(files.length, 'file')})`);
    }
    return shown;
  }

  /** Formats `path:12:text` for a match, `path-11-text` for a context line. */
  #contentLine(path: string, rest: string): string {
    const [, number, mark = ':'] = /^(\d+)([:-])/.exec(rest) ?? [];
    if (number === undefined) return `${path}:${rest}`;
    const text = rest.slice(number.length + 1);
    return this.#isNumbered ? `${path}${mark}${number}${mark}${text}` : `${path}${mark}${text}`;
  }
}
