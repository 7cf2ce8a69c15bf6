/**
 * Shortens the moves of the cursor while a frame is drawn. Ink goes to the last row of the frame, from there to the
 * first, and back through all rows. When the window becomes lower meanwhile, rows below the cursor are gone: the way
 * down ends early, the way up ends above the frame, and the next frame erases text that was printed. So the cursor goes
 * from where it is directly to the rows that change, and returns to its saved place. This takes fewer bytes, too.
 */

/** Splits a frame into the cursor moves and the text between them. */
const PARTS =
  /\x1b\[(\d*)([ABE])|\r?\n|\x1b\[\?25[lh]|\x1b\[(\d+)G(?![\s\S])|(?:(?!\x1b\[\d*[ABE]|\r?\n|\x1b\[\?25[lh])[\s\S])+/g;
/**
 * Matches the start of a frame in which rows change: the cursor goes down to the last row, then up to the first one.
 */
const CHANGES = /^(?:\x1b\[\?25l)?(?:\x1b\[\d+B\x1b\[1G)?\x1b\[\d+A(?=[^J])/;
const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';

/** @param text text that Ink writes. @returns the same frame with fewer moves; any other text unchanged */
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
