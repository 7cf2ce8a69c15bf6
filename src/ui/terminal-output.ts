/**
 * Wraps the stream to which Ink writes: it shortens cursor moves and style codes, can drop what Ink writes, and can
 * write a whole frame at once.
 */

export interface TerminalOutput {
  readonly stream: NodeJS.WriteStream;
  /** Drops everything that is written while `work` runs. */
  quietly(work: () => void): void;
  /**
   * Writes `before` and everything that is written while `work` runs as one piece, so that no half of it is ever shown.
   */
  atOnce<T>(before: string, work: () => T): T;
}

export function terminalOutput(stdout: NodeJS.WriteStream): TerminalOutput {
  let isQuiet = false;
  let gathered: string | undefined;
  const write: NodeJS.WriteStream['write'] = (text: unknown, ...given: unknown[]) => {
    if (isQuiet) return true;
    if (typeof text !== 'string') return Reflect.apply(stdout.write, stdout, [text, ...given]);
    const short = shortenCodes(shortenMoves(text));
    if (gathered === undefined) return Reflect.apply(stdout.write, stdout, [short, ...given]);
    gathered += short;
    const done = given.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
  const stream = new Proxy(stdout, {
    get: (target, name) => {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      // Methods must run on the stream itself: a proxy cannot reach its private state.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    stream,
    quietly(work) {
      isQuiet = true;
      try {
        work();
      } finally {
        isQuiet = false;
      }
    },
    atOnce(before, work) {
      gathered = before;
      try {
        return work();
      } finally {
        const text = gathered;
        gathered = undefined;
        if (text !== '') stdout.write(text);
      }
    },
  };
}

/** Splits a frame into the cursor moves and the text between them. */
const PARTS =
  /\x1b\[(\d*)([ABE])|\r?\n|\x1b\[\?25[lh]|\x1b\[(\d+)G(?![\s\S])|(?:(?!\x1b\[\d*[ABE]|\r?\n|\x1b\[\?25[lh])[\s\S])+/g;
/**
 * Matches the start of a frame in which rows change: the cursor goes down to the last row, then up to the first one.
 */
const CHANGES = /^(?:\x1b\[\?25l)?(?:\x1b\[\d+B\x1b\[1G)?\x1b\[\d+A(?=[^J])/;
const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';

/**
 * Shortens the moves of the cursor while a frame is drawn. Ink goes to the last row of the frame, from there to the
 * first, and back through all rows. When the window becomes lower meanwhile, rows below the cursor are gone: the way
 * down ends early, the way up ends above the frame, and the next frame erases text that was printed. So the cursor goes
 * from where it is directly to the rows that change, and returns to its saved place. This takes fewer bytes, too.
 * @param text text that Ink writes
 * @returns the same frame with fewer moves; any other text unchanged
 */
export function shortenMoves(text: string): string {
  if (!CHANGES.test(text) || text.includes('\x1b[2K') || text.includes('\x1b[J')) return text;
  const hides = text.startsWith(HIDE);
  const shows = text.endsWith(SHOW);
  const body = text.slice(hides ? HIDE.length : 0, shows ? -SHOW.length : undefined);
  const frame = readFrame(body);
  if (!frame) return text;
  const {changes, row: last, end} = frame;
  const isFar = changes.some(({row}) => row !== 0);
  let row = 0;
  let drawn = '';
  for (const change of changes) {
    drawn += move(change.row - row) + change.text;
    row = change.row;
  }
  const back = isFar ? `\x1b7${drawn}\x1b8` : drawn;
  return `${hides ? HIDE : ''}${back}${move(last)}${end}${shows ? SHOW : ''}`;
}

interface Frame {
  /** Each change with its row, counted from the row where the cursor was. */
  readonly changes: readonly {readonly row: number; readonly text: string}[];
  /** Row where the cursor is at the end. */
  readonly row: number;
  readonly end: string;
}

/** @returns undefined when the number of rows differs from the frame before, because new rows must scroll the screen */
function readFrame(body: string): Frame | undefined {
  const changes: {row: number; text: string}[] = [];
  let row = 0;
  let height: number | undefined;
  let advances = 0;
  let end = '';
  for (const [part, count = '', kind] of body.matchAll(PARTS)) {
    const rows = count === '' ? 1 : Number(count);
    if (kind === 'A') {
      height ??= rows;
      row -= rows;
    } else if (kind === 'B') row += rows;
    else if (kind === 'E' || part.endsWith('\n')) {
      row += kind ? rows : 1;
      advances += kind ? rows : 1;
    } else if (/^\x1b\[\d+G$/.test(part)) end = part;
    else changes.push({row, text: part});
  }
  return advances === height ? {changes, row, end} : undefined;
}

function move(rows: number): string {
  if (rows === 0) return '';
  return rows > 0 ? `\x1b[${rows}B` : `\x1b[${-rows}A`;
}

const CODES = /\x1b\[([\d;:]*)m/g;
/** The codes that end each style. Code 22 ends both bold and dim. */
const ENDS: Readonly<Record<string, string>> = {
  1: '22',
  2: '22',
  3: '23',
  4: '24',
  7: '27',
  9: '29',
};
const END = /^(?:2[2-9]|[3-5]9)$/;
/** Stands for several styles at once and for unknown ones. Only the end of all styles ends them. */
const UNKNOWN = 'unknown';
const END_OF_ALL = '\x1b[m';

/**
 * Shortens the codes of styles. A fifth of an answer with highlighted code is `\x1b[39m`, the end of a colour. When no
 * other style is in effect, `\x1b[m` ends it too, and is two bytes shorter.
 * @param text text that begins without any style
 * @returns text that looks the same
 */
export function shortenCodes(text: string): string {
  /** The codes that would end the styles in effect. */
  const open = new Set<string>();
  return text.replace(CODES, (code, given: string) => {
    if (given === '' || given === '0') {
      open.clear();
      return END_OF_ALL;
    }
    if (!END.test(given)) open.add(getEnd(given));
    else if (open.delete(given) && open.size === 0) return END_OF_ALL;
    return code;
  });
}

function getEnd(code: string): string {
  if (/^(?:[39][0-7]|38;5;\d+|38;2;\d+;\d+;\d+)$/.test(code)) return '39';
  if (/^(?:(?:4|10)[0-7]|48;5;\d+|48;2;\d+;\d+;\d+)$/.test(code)) return '49';
  return ENDS[code] ?? UNKNOWN;
}
