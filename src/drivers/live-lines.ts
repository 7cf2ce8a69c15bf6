/**
 * Draws lines at the bottom of a terminal that change in place. Each line stays in its row, in the order in which it
 * was added.
 */
import stringWidth from 'string-width';

export interface LiveTerminal {
  readonly columns: number;
  write(text: string): void;
}

export class LiveLines {
  #lines: readonly string[] = [];

  constructor(private readonly terminal: LiveTerminal) {}

  /** Draws these lines over the former ones. Their control characters must already be visible. */
  draw(lines: readonly string[]): void {
    const fitted = lines.map((line) => cut(line, this.terminal.columns));
    if (fitted.join('\n') === this.#lines.join('\n')) return;
    const up = this.#lines.length > 0 ? `\u001b[${this.#lines.length}A` : '';
    const drawn = fitted.map((line) => `\r\u001b[2K${line}\n`).join('');
    this.terminal.write(`${up}${drawn}`);
    this.#lines = fitted;
  }

  printAbove(line: string): void {
    const block = this.#lines;
    const up = block.length > 0 ? `\u001b[${block.length}A\u001b[J` : '';
    this.terminal.write(`${up}${line}\n`);
    this.#lines = [];
    this.draw(block);
  }

  /** Leaves the drawn lines on the screen. The next lines begin below them. */
  settle(): void {
    this.#lines = [];
  }
}

/** Cuts a line to the width. A line that wraps would take two rows, and the cursor would not go up far enough. */
function cut(line: string, columns: number): string {
  if (stringWidth(line) < columns) return line;
  let fitting = '';
  let width = 0;
  for (const {segment} of new Intl.Segmenter(undefined, {granularity: 'grapheme'}).segment(line)) {
    width += stringWidth(segment);
    if (width >= columns) break;
    fitting += segment;
  }
  return fitting;
}
