/** Widths and line breaks as the terminal sees them: by graphemes and columns, not by characters. */
import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, {granularity: 'grapheme'});
/** Where every character is one column; measuring the rest costs a hundred times more. */
const PLAIN = /^[\x20-\x7e]*$/;

export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** The graphemes of a text, in order. */
export function* graphemesOf(text: string): Generator<string> {
  if (PLAIN.test(text)) yield* text;
  else for (const {segment} of graphemes.segment(text)) yield segment;
}

/** Breaks at spaces where there are any, within words where a word is too long. Always at least one row. */
export function wrapText(text: string, width: number): string[] {
  return wrapRows(text, width).map(({start, end}) => text.slice(start, end));
}

/** The same as places in the text: styled text is cut there. Spaces at a break belong to no row. */
export function wrapRows(text: string, width: number): {readonly start: number; readonly end: number}[] {
  const room = Math.max(1, width);
  const rows: {start: number; end: number}[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    if (textWidth(line) <= room) rows.push({start: at, end: at + line.length});
    else for (const {start, end} of wrapLine(line, room)) rows.push({start: at + start, end: at + end});
    at += line.length + 1;
  }
  return rows;
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
    const width = textWidth(word.trimEnd());
    if (used > 0 && used + width > room) breakRow();
    if (width <= room) {
      at += word.length;
      used += textWidth(word);
      continue;
    }
    for (const grapheme of graphemesOf(word)) {
      const columns = textWidth(grapheme);
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
  if (textWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const grapheme of graphemesOf(text)) {
    used += textWidth(grapheme);
    if (used > width) break;
    cut += grapheme;
  }
  return width > 0 ? `${cut}…` : '';
}
