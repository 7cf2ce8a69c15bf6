/**
 * Writes what Ink renders: text to print once, and the rows of the live part below it. A terminal wraps its rows again
 * before this program hears of the new size, and a frame that is on its way then arrives in a window of another width.
 * So a frame relies on as little as possible:
 * - While answers stream, the cursor rests at the start of the live part. The terminal keeps it at that character when it
 *   wraps the rows again, and all from there on is the live part, in a window of any size.
 * - Live rows are written without automatic wrapping, so that each stays one row. Printed text is written with it, so that
 *   none is cut.
 * - Rows are added by an index, which scrolls at the end of the window, and are drawn from the last to the first.
 */
import {isXtermJs} from './first-paint/terminal-replies.ts';
import {countRowsAbove, type DrawnPart, type Reflow} from './reflow.ts';
import {shortenCodes} from './short-codes.ts';

interface Position {
  readonly x: number;
  readonly y: number;
}

/** The start of the live part. */
const TOP: Position = {x: 0, y: 0};
const NOTHING: DrawnPart = {rows: [], columns: 0, height: 0, cursor: TOP, isJoined: false};
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';
const SAVE = '\x1b7';
const RESTORE = '\x1b8';
const INDEX = '\x1bD';
const WRAP_OFF = '\x1b[?7l';
const WRAP_ON = '\x1b[?7h';
/** Erases from the cursor's row on. `\x1b[J` in the first row of the window would make tmux keep a copy of all rows. */
const ERASE = `\r\x1b[K${INDEX}\x1b[J\x1b[A`;
/** Erases the row, and does not end the line that goes on in it. */
const ERASE_CELLS = '\r\x1b[999X';
/** Matches how Ink erases its last frame. This class erases instead. */
export const INK_ERASES = /^(?:\x1b\[2K(?:\x1b\[1A)?)*(?:\x1b\[G)?/;
/** The height that Ink sees. A frame that fills Ink's window would be written in another way. */
const INK_ROWS = 100_000;

export class LiveScreen {
  /** The stream for Ink. */
  readonly stream: NodeJS.WriteStream;
  readonly stdout: NodeJS.WriteStream;
  #reflow: Reflow;
  /** What Ink has written of a frame that is not complete. */
  #frame: string[] | undefined;
  /** What the next drawing prints, and its live rows; undefined when the last ones are drawn. */
  #printed = '';
  #next: readonly string[] | undefined;
  #isHeld = false;
  #isQuiet = false;
  #gathered: string | undefined;
  #drawn = NOTHING;
  #isShown = true;
  #cursor: Position | undefined;

  constructor(stdout: NodeJS.WriteStream, reflow: Reflow) {
    this.stdout = stdout;
    this.#reflow = reflow;
    this.stream = streamWith(stdout, {write: this.#write, rows: INK_ROWS});
  }

  /** Rows of the window. */
  get height(): number {
    return this.stdout.rows || 24;
  }

  /** @param cursor its place in the next frame; undefined where it is hidden, and rests at the start of the live part */
  setCursor(cursor: Position | undefined): void {
    this.#cursor = cursor;
  }

  /** Moves the cursor when Ink has rendered a frame that differs in nothing else. */
  rendered(): void {
    const {rows, cursor} = this.#drawn;
    const {x, y} = this.#cursor ?? TOP;
    if (rows.length === 0 || this.#isHeld || this.#frame || this.#next) return;
    if (x !== cursor.x || y !== cursor.y) this.#draw();
  }

  /** Takes the reply in which the terminal names itself. */
  receive(reply: string): void {
    if (isXtermJs(reply)) this.#reflow = 'shift';
  }

  /**
   * Draws nothing until the rows are made for the new size. Call it before Ink hears of the size.
   * @param forget makes Ink forget its last frame, so that it renders the next one whole
   */
  hold(forget: () => void): void {
    this.#isQuiet = true;
    forget();
    this.#isQuiet = false;
    if (this.#isHeld) return;
    this.#isHeld = true;
    setImmediate(() => this.#release());
  }

  /** Erases the live part, and shows the cursor where it began. */
  clear(): void {
    if (this.#isQuiet) return;
    this.#release();
    const rows = countRowsAbove(this.#drawn, this.stdout.columns, this.height, this.#reflow);
    const erase = this.#drawn.rows.length > 0 ? `${up(rows)}\r\x1b[J` : '';
    this.#drawn = NOTHING;
    this.#send(`${erase}${this.#isShown ? '' : SHOW}`);
    this.#isShown = true;
  }

  /** Writes `before` and all that is drawn while `work` runs as one piece, so that no half of it is ever shown. */
  atOnce<T>(before: string, work: () => T): T {
    this.#gathered = before;
    try {
      return work();
    } finally {
      const text = this.#gathered;
      this.#gathered = undefined;
      this.#send(text);
    }
  }

  #release(): void {
    this.#isHeld = false;
    if (this.#next) this.#draw();
  }

  readonly #write: NodeJS.WriteStream['write'] = (text: unknown, ...given: unknown[]) => {
    if (typeof text !== 'string') return Reflect.apply(this.stdout.write, this.stdout, [text, ...given]);
    if (text === BEGIN) this.#frame = [];
    else if (text === END) this.#take();
    else if (this.#frame) this.#frame.push(text);
    else if (text !== '' && text.replace(INK_ERASES, '') === '') this.clear();
    else if (text !== HIDE && text !== SHOW) return this.#send(text, given);
    return acknowledge(given);
  };

  /** Takes a frame of Ink: what is printed, if there is any, and the live part. */
  #take(): void {
    const parts = (this.#frame ?? []).map((text) => text.replace(INK_ERASES, '')).filter((text) => text !== '');
    this.#frame = undefined;
    const live = parts.pop();
    if (live === undefined) return;
    this.#printed += shortenCodes(parts.join(''));
    // The row below the live part stays free.
    this.#next = live === '\n' ? [] : shortenCodes(live).split('\n');
    if (!this.#isHeld) this.#draw();
  }

  #draw(): void {
    const {columns} = this.stdout;
    const {height} = this;
    const before = this.#drawn;
    const rows = this.#next ?? before.rows;
    const shown = rows.length > 0 ? this.#cursor : undefined;
    const joins = this.#reflow === 'shift' && !shown && rows.length > 0;
    const isSame = columns === before.columns && height === before.height && this.#printed === '';
    const isChange = isSame && rows.length === before.rows.length && (before.isJoined || !joins);
    const isJoined = isChange ? before.isJoined : joins;
    const part: DrawnPart = {rows, columns, height, cursor: shown ?? TOP, isJoined};
    const way = countRowsAbove(before, columns, height, this.#reflow);
    const text = isChange
      ? change(before, part)
      : redraw(before, way, this.#printed, part, isSame && isJoined === before.isJoined);
    const hides = this.#isShown && (!shown || !isChange || text.includes(SAVE));
    const shows = shown && (hides || !this.#isShown);
    this.#drawn = part;
    this.#next = undefined;
    this.#printed = '';
    this.#isShown = shown !== undefined;
    this.#send(`${BEGIN}${hides ? HIDE : ''}${text}${shows ? SHOW : ''}${END}`);
  }

  #send(text: string, given: readonly unknown[] = []): boolean {
    if (this.#gathered === undefined) return Reflect.apply(this.stdout.write, this.stdout, [text, ...given]);
    this.#gathered += text;
    return acknowledge(given);
  }
}

/** Calls back the caller of a stream's `write`. @param given its arguments after the text */
export function acknowledge(given: readonly unknown[]): true {
  const done = given.at(-1);
  if (typeof done === 'function') queueMicrotask(() => done());
  return true;
}

/** Returns the text that changes single rows. */
function change({rows: before, cursor: {y}}: DrawnPart, {rows, cursor, isJoined}: DrawnPart): string {
  let changes = '';
  let at = y;
  for (const [index, row] of rows.entries()) {
    if (row === before[index]) continue;
    changes += `${down(index - at)}${changedPart(before[index]!, row, isJoined)}`;
    at = index;
  }
  const isHere = rows.every((row, index) => index === y || row === before[index]);
  const drawn = changes === '' ? '' : `${WRAP_OFF}${changes}${WRAP_ON}`;
  // The window may have become lower meanwhile. A way down ends early then, so that the way back cannot be counted.
  return `${isHere ? drawn : `${SAVE}${drawn}${RESTORE}`}${down(cursor.y - y)}${toColumn(cursor.x)}`;
}

/**
 * Returns the text that prints, and draws the live part anew.
 * @param way rows up to the place where it begins
 * @param isSame true when rows that do not differ may stay
 */
function redraw(before: DrawnPart, way: number, printed: string, part: DrawnPart, isSame: boolean): string {
  const {rows, cursor, isJoined} = part;
  const first = isSame ? rows.findIndex((row, index) => row !== before.rows[index]) : 0;
  const kept = first < 0 ? rows.length : first;
  const start = `${up(way)}\r`;
  const end = `${WRAP_ON}${down(cursor.y)}${toColumn(cursor.x)}`;
  if (isJoined) return `${start}${joinRows(rows, kept, printed)}${end}`;
  const erased = kept < before.rows.length ? ERASE : '';
  const more = INDEX.repeat(Math.max(0, rows.length - kept - 1));
  const drawn = rows.slice(kept).reverse().join('\r\x1b[A');
  return `${start}${INDEX.repeat(kept)}${erased}${printed}${WRAP_OFF}${more}${drawn}\r${up(kept)}${end}`;
}

/**
 * Returns the text that draws rows which are one line for the terminal, as if it had wrapped them. xterm.js does not wrap
 * the line again in which the cursor is, so that the cursor stays where it is.
 * @param kept rows that stay
 */
function joinRows(rows: readonly string[], kept: number, printed: string): string {
  const from = Math.max(0, kept - 1);
  const below = rows.length - 1 - from;
  const erased = kept === 0 ? ERASE : `${INDEX.repeat(kept)}\x1b[J\x1b[A`;
  // A character behind the last column wraps the row. Both are erased in a way that keeps the rows joined.
  const joined = `${'\x1b[999C  '.repeat(below)}${up(below)}\r`;
  const drawn = rows.slice(from).map((row) => `${ERASE_CELLS}${row}`);
  return `${erased}${printed}${joined}${WRAP_OFF}${drawn.join('\x1b[B\r')}${up(rows.length - 1)}\r`;
}

/** Returns the stream with some members of its own. For Ink it is another stream, and so gets another instance. */
export function streamWith<T extends object>(stream: T, own: Partial<T> = {}): T {
  return new Proxy(stream, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name);
      // Methods must run on the stream itself: a proxy cannot reach its private state.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : '';
}

function down(rows: number): string {
  return rows > 0 ? `\x1b[${rows}B` : up(-rows);
}

export function toColumn(x: number): string {
  return x > 0 ? `\x1b[${x + 1}G` : '\r';
}

const STYLES = /\x1b\[[\d;:]*m/g;
/** Matches the code of a style, or a character. */
const PARTS = /\x1b\[[\d;:]*m|[^\x1b]|\x1b/g;

/**
 * Returns the text that makes a row from the one before. It leaves a common beginning of plain characters.
 * @param isJoined true when the row must stay a part of a longer line
 */
function changedPart(before: string, row: string, isJoined: boolean): string {
  let same = 0;
  while (same < row.length && row[same] === before[same]) same += 1;
  const alike = row.slice(0, same).replace(/\x1b(?:\[[\d;:]*)?$/, '');
  const parts = alike.match(PARTS) ?? [];
  // The last character is written again, because a combining character may follow it.
  const last = parts.findLastIndex((part) => !part.startsWith('\x1b'));
  const kept = parts.slice(0, Math.max(0, last));
  const start = kept.join('');
  const text = start.replace(STYLES, '');
  if (!/^[\x20-\x7e]+$/.test(text)) return isJoined ? `${ERASE_CELLS}${row}` : `\r\x1b[K${row}`;
  const styles = (start.match(STYLES) ?? []).join('').replace(/^.*\x1b\[m/, '');
  return `${toColumn(text.length)}\x1b[K${styles}${row.slice(start.length)}`;
}
