/**
 * Writes for a screen reader: what is written once stays, and each new thing is a line of words below the others. Only
 * the line in which a person types changes, as in a shell. Ink prints finished items; `tell` writes what is live.
 */
import {acknowledge, INK_ERASES, streamWith, toColumn} from './live-screen.ts';
import {textWidth} from './text/wrap.ts';

export interface ReaderLines {
  /** The present state, each line in words. */
  readonly lines: readonly string[];
  readonly input: InputLine | undefined;
}

/** The line in which the person types. */
export interface InputLine {
  readonly text: string;
  /** Columns before the cursor. */
  readonly column: number;
  /** Number of the row of the typed text. */
  readonly row: number;
  /** True when nothing is typed. */
  readonly isEmpty: boolean;
}

export class ReaderScreen {
  /** The stream for Ink. */
  readonly stream: NodeJS.WriteStream;
  readonly stdout: NodeJS.WriteStream;
  /** The lines of the earlier state. They are not printed again. */
  #told: readonly string[] = [];
  #next: ReaderLines | undefined;
  /** The line that has no end yet. */
  #input: InputLine | undefined;

  constructor(stdout: NodeJS.WriteStream) {
    this.stdout = stdout;
    this.stream = streamWith(stdout, {write: this.#write});
  }

  /** Prints the lines that are new, and shows the line of the person. Changes that come together are printed once. */
  tell(next: ReaderLines): void {
    if (!this.#next) setImmediate(() => this.#flush());
    this.#next = next;
  }

  /** Ends the line of the person, and prints nothing more. */
  end(): void {
    this.#next = undefined;
    this.#endInput();
  }

  atOnce<T>(before: string, work: () => T): T {
    this.stdout.write(before);
    return work();
  }

  readonly #write: NodeJS.WriteStream['write'] = (text: unknown, ...given: unknown[]) => {
    const printed = typeof text === 'string' ? text.replace(INK_ERASES, '') : '';
    if (printed.endsWith('\n')) this.#print(printed);
    // Codes that switch modes of the terminal, e.g. for pasted text. Nothing is drawn in pieces, and the cursor is shown.
    else if (!/^(?:\x1b\[\?(?:2026|25)[hl])?$/.test(printed)) this.stdout.write(printed);
    return acknowledge(given);
  };

  #print(text: string): void {
    // The line already shows a sent prompt as it was typed.
    const typed = `${this.#input?.text}\n`;
    if (this.#input && text.startsWith(typed)) this.stdout.write(text.slice(typed.length - 1));
    else {
      this.#endInput();
      this.stdout.write(text);
    }
    this.#input = undefined;
  }

  #flush(): void {
    if (!this.#next) return;
    const {lines, input} = this.#next;
    this.#next = undefined;
    const before = new Set(this.#told);
    const news = lines.filter((line) => !before.has(line));
    this.#told = lines;
    if (news.length > 0) {
      this.#endInput();
      this.stdout.write(`${news.join('\n')}\n`);
    }
    if (!input || (this.#input && this.#input.row !== input.row)) this.#endInput();
    if (!input) return;
    this.stdout.write(this.#input ? changeInput(this.#input, input) : showInput(input));
    this.#input = input;
  }

  #endInput(): void {
    if (this.#input) this.stdout.write(this.#input.isEmpty ? '\r\x1b[K' : '\n');
    this.#input = undefined;
  }
}

function showInput({text, column}: InputLine): string {
  return column === textWidth(text) ? text : `${text}${toColumn(column)}`;
}

/** Returns what changes the line, and leaves its common beginning. */
function changeInput(before: InputLine, {text, column}: InputLine): string {
  if (text === before.text) return column === before.column ? '' : toColumn(column);
  const isTyped =
    text.startsWith(before.text) && before.column === textWidth(before.text) && column === textWidth(text);
  if (isTyped) return text.slice(before.text.length);
  let same = 0;
  while (same < text.length && text[same] === before.text[same]) same += 1;
  // Half a letter is never kept.
  const kept = /^[\x20-\x7e]*/.exec(text.slice(0, same))![0];
  return `${toColumn(kept.length)}\x1b[K${text.slice(kept.length)}${toColumn(column)}`;
}
