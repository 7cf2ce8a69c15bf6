/** Widths and line breaks as the terminal sees them: by graphemes and columns, not by characters. */
import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, {granularity: 'grapheme'});
/** Where every character is one column; measuring the rest costs a hundred times more. */
const PLAIN = /^[\x20-\x7e]*$/;

export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** Some terminals draw such a sequence as one picture, others as several. */
const JOINED = /[\u200d\p{Emoji_Modifier}]/u;

/** The columns that a text takes at most: a row that is thought too wide is broken early, and never by the terminal. */
export function rowWidth(text: string): number {
  if (!JOINED.test(text)) return textWidth(text);
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    const apart = [...grapheme].reduce((sum, character) => sum + textWidth(character), 0);
    width += Math.max(textWidth(grapheme), apart);
  }
  return width;
}

/** The graphemes of a text, in order. */
export function* graphemesOf(text: string): Generator<string> {
  if (PLAIN.test(text)) yield* text;
  else for (const {segment} of graphemes.segment(text)) yield segment;
}

/** Breaks at spaces where there are any, within words where a word is too long. Always at least one row. */
export function wrapText(text: string, width: number): string[] {
  return wrapRows(text, width).map(({start, end, indent}) => ' '.repeat(indent) + text.slice(start, end));
}

/** One row of a text that was wrapped. */
export interface WrappedRow {
  readonly start: number;
  readonly end: number;
  /** Spaces before it: a row that goes on stands under the beginning of its line. */
  readonly indent: number;
}

/** The same as places in the text: styled text is cut there. Spaces at a break belong to no row. */
export function wrapRows(text: string, width: number): WrappedRow[] {
  const room = Math.max(1, width);
  const rows: WrappedRow[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    if (rowWidth(line) <= room) rows.push({start: at, end: at + line.length, indent: 0});
    else for (const {start, end, indent} of hung(line, room)) rows.push({start: at + start, end: at + end, indent});
    at += line.length + 1;
  }
  return rows;
}

/** What goes on is indented as its line is, where that leaves room to read. */
function hung(line: string, room: number): WrappedRow[] {
  const lead = /^ */.exec(line)![0].length;
  const indent = lead <= room / 3 ? lead : 0;
  return wrapLine(line.slice(indent), room - indent).map(({start, end}, index) =>
    index === 0 ? {start: 0, end: end + indent, indent: 0} : {start: start + indent, end: end + indent, indent},
  );
}

function wrapLine(line: string, room: number): {start: number; end: number}[] {
  const rows: {start: number; end: number}[] = [];
  let start = 0;
  let at = 0;
  let used = 0;
  const breakRow = () => {
    rows.push({start, end: start + line.slice(start, at).trimEnd().length});
    start = at;
    used = 0;
  };
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    const width = rowWidth(word.trimEnd());
    if (used > 0 && used + width > room) breakRow();
    if (width <= room) {
      at += word.length;
      used += rowWidth(word);
      continue;
    }
    for (const grapheme of graphemesOf(word)) {
      const columns = rowWidth(grapheme);
      if (used > 0 && used + columns > room && grapheme !== ' ') breakRow();
      at += grapheme.length;
      used += columns;
    }
  }
  breakRow();
  return rows;
}

/** The text in at most `width` columns; what is cut off is marked by `…`. */
export function cutText(text: string, width: number): string {
  if (rowWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const grapheme of graphemesOf(text)) {
    used += rowWidth(grapheme);
    if (used > width) break;
    cut += grapheme;
  }
  return width > 0 ? `${cut}…` : '';
}
