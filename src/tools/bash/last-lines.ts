/** Publishes the last lines of a running command as a terminal would show them, at most every 100 ms. */
import {cutEnd} from '../../core/util/text.ts';
import {plainText} from './output-capture.ts';

const INTERVAL_MS = 100;
const MAX_LINES = 3;
const MAX_LINE_CHARS = 200;
/** Limit of lines. Programs that redraw their output do not move further up. */
const MAX_KEPT_LINES = 50;
const MAX_PENDING = MAX_KEPT_LINES * MAX_LINE_CHARS;

/** Matches the codes that move or erase (`\r`, `\n`, `\b`, cursor up, erase the line) and the text between them. */
const PARTS = /[\r\n\b]|\u001b\[(?<count>\d*)(?<kind>[AK])|(?<text>(?:(?!\u001b\[\d*[AK])[^\r\n\b])+)/g;

export class LastLines {
  readonly #publish: (text: string) => void;
  #lines = [''];
  #row = 0;
  #column = 0;
  #pending = '';
  #published = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param publish receives the last lines each time they change */
  constructor(publish: (text: string) => void) {
    this.#publish = publish;
  }

  /** @param text may contain escape sequences, each of them whole */
  push(text: string): void {
    // The text is only collected here and drawn when it is due. When a command is fast, the end of its output is enough.
    this.#pending += text;
    if (this.#pending.length > MAX_PENDING) this.#pending = cutAtLine(this.#pending);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw();
      const lines = this.#lines.map((line) => line.trimEnd()).filter((line) => line !== '');
      const shown = lines
        .slice(-MAX_LINES)
        .map((line) => cutEnd(line, MAX_LINE_CHARS))
        .join('\n');
      if (shown !== this.#published) this.#publish(shown);
      this.#published = shown;
    }, INTERVAL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #draw(): void {
    for (const {0: part, groups} of this.#pending.matchAll(PARTS)) {
      if (part === '\r') this.#column = 0;
      else if (part === '\b') this.#column = Math.max(0, this.#column - 1);
      else if (part === '\n') this.#goTo(this.#row + 1, 0);
      else if (groups?.kind === 'A') this.#goTo(this.#row - Math.max(1, Number(groups.count)), this.#column);
      else if (groups?.kind === 'K') this.#erase(Number(groups.count));
      else this.#write(plainText(part));
    }
    this.#pending = '';
  }

  #goTo(row: number, column: number): void {
    this.#row = Math.max(0, row);
    this.#column = column;
    if (this.#row === this.#lines.length) this.#lines.push('');
    if (this.#lines.length <= MAX_KEPT_LINES) return;
    this.#lines.shift();
    this.#row -= 1;
  }

  #write(text: string): void {
    const line = this.#lines[this.#row] ?? '';
    const end = this.#column + text.length;
    const start = line.slice(0, this.#column).padEnd(Math.min(this.#column, MAX_LINE_CHARS));
    this.#lines[this.#row] = (start + text + line.slice(end)).slice(0, MAX_LINE_CHARS + 1);
    this.#column = end;
  }

  /** Erases as a terminal does: 0 to the end of the line, 1 from its start, 2 the whole line. */
  #erase(part: number): void {
    const line = this.#lines[this.#row] ?? '';
    const kept = part === 0 ? line.slice(0, this.#column) : '';
    this.#lines[this.#row] = part === 1 ? line.slice(this.#column).padStart(line.length) : kept;
  }
}

/** Returns the end of a long text, from the start of a line where there is one. */
function cutAtLine(text: string): string {
  const end = text.slice(-MAX_PENDING);
  return end.slice(end.search(/[\r\n]/) + 1);
}
