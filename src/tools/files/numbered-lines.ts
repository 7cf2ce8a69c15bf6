/** Collects the lines of a file that a model asked for, with their numbers and within limits. */
import {formatCount} from '../../core/util/text.ts';

export const DEFAULT_LINES = 2000;
const MAX_LINE_CHARS = 2000;
/** Characters of a line that are stored while a file is streamed. It is more than is shown of a line. */
const MAX_KEPT_CHARS = 4000;
/** Above this number of characters no further line is added. A line is never cut for it. */
const MAX_TOTAL_CHARS = 100_000;

export class NumberedLines {
  readonly #first: number;
  readonly #limit: number;
  readonly #lines: string[] = [];
  #chars = 0;
  #count = 0;
  #isFull = false;

  /** @param first number of the first line to show, from 1 @param limit number of lines to show */
  constructor(first: number, limit: number) {
    this.#first = first;
    this.#limit = limit;
  }

  /**
   * Adds the next line, without its line end. @param length full length of the line when `line` is only its beginning
   */
  add(line: string, length = line.length): void {
    this.#count += 1;
    if (this.#isFull || this.#count < this.#first) return;
    if (this.#lines.length === this.#limit || this.#chars > MAX_TOTAL_CHARS) {
      this.#isFull = true;
      return;
    }
    const shown =
      length > MAX_LINE_CHARS
        ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()} [... ${length - MAX_LINE_CHARS} more characters in this line]`
        : line;
    this.#lines.push(`${String(this.#count).padStart(6)}\t${shown}`);
    this.#chars += shown.length;
  }

  /** True once further lines would not be shown. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Number of added lines, shown or not. */
  get count(): number {
    return this.#count;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Describes the shown lines for a person: `120 lines`, `lines 1-2000 of 2993`. @param isAll as for `text` */
  summary(isAll: boolean): string {
    const shown = this.#lines.length;
    if (shown === this.#count && this.#first === 1) return formatCount(shown, 'line');
    return `lines ${this.#first}-${this.#first + shown - 1}${isAll ? ` of ${this.#count}` : ''}`;
  }

  /** @param isAll true when every line of the file was added, so that `count` is the number of its lines */
  text(isAll: boolean): string {
    const last = this.#first + this.#lines.length - 1;
    if (!this.#isFull) return this.#lines.join('\n');
    const of = isAll ? ` of ${this.#count}` : '';
    return `${this.#lines.join('\n')}\n(lines ${this.#first}-${last}${of}; read on with offset ${last + 1})`;
  }
}

/** Splits a text into lines. A line end at the very end does not start another line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * Adds the lines of a file that is too large for memory until `lines` is full. A single line may also be too large for
 * memory.
 * @param texts the text of the file, in parts
 * @returns true when the end of the file was reached
 * @throws the errors of `texts`
 */
export async function addFileLines(texts: AsyncIterable<string>, lines: NumberedLines): Promise<boolean> {
  let line = '';
  let length = 0;
  const take = (part: string): void => {
    length += part.length;
    if (line.length < MAX_KEPT_CHARS) line += part.slice(0, MAX_KEPT_CHARS - line.length);
  };
  const finish = (): void => {
    const isCrlf = length <= MAX_KEPT_CHARS && line.endsWith('\r');
    if (isCrlf) lines.add(line.slice(0, -1));
    else lines.add(line, length);
    line = '';
    length = 0;
  };
  for await (const text of texts) {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      take(text.slice(from, end));
      finish();
      from = end + 1;
      if (lines.isFull) return false;
    }
    take(text.slice(from));
  }
  if (length > 0) finish();
  return true;
}
