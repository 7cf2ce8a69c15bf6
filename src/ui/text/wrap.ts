/** Measures and wraps text in the units of the terminal: graphemes and columns, not characters. */
import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, {granularity: 'grapheme'});
/** Matches text in which each character takes one column. Measuring other text takes a hundred times longer. */
const PLAIN = /^[\x20-\x7e]*$/;

export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** Parts of an emoji that some terminals draw as one picture and others as several. */
const JOINED = /[\u200d\p{Emoji_Modifier}]/u;

/**
 * Returns the most columns that a terminal may use for a text. A row may then be broken too early, but never by the
 * terminal.
 */
export function rowWidth(text: string): number {
  if (!JOINED.test(text)) return textWidth(text);
  let width = 0;
  for (const grapheme of splitGraphemes(text)) {
    const apart = [...grapheme].reduce((sum, character) => sum + textWidth(character), 0);
    width += Math.max(textWidth(grapheme), apart);
  }
  return width;
}

export function* splitGraphemes(text: string): Generator<string> {
  if (PLAIN.test(text)) yield* text;
  else for (const {segment} of graphemes.segment(text)) yield segment;
}

/** Breaks at spaces, and words that are too long at a slash or anywhere. @returns at least one row */
export function wrapText(text: string, width: number): string[] {
  return wrapRows(text, width).map(({start, end, indent}) => ' '.repeat(indent) + text.slice(start, end));
}

interface WrappedRow {
  readonly start: number;
  readonly end: number;
  /** Number of spaces before the row. The further rows of an indented line are indented, too. */
  readonly indent: number;
}

/** Returns the rows as offsets in the text, so that styled text can be cut. Spaces at a break belong to no row. */
export function wrapRows(text: string, width: number): WrappedRow[] {
  const columns = Math.max(1, width);
  const rows: WrappedRow[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    if (rowWidth(line) <= columns) rows.push({start: at, end: at + line.length, indent: 0});
    else
      for (const {start, end, indent} of wrapIndented(line, columns))
        rows.push({start: at + start, end: at + end, indent});
    at += line.length + 1;
  }
  return rows;
}

/**
 * Wraps a line and indents its further rows like the first one. In a numbered table, they are indented like the text
 * after the number. An indent of more than a third of the width is dropped.
 */
function wrapIndented(line: string, width: number): WrappedRow[] {
  const lead = /^ *(?:\d+ {2})?/.exec(line)![0].length;
  const indent = lead <= width / 3 ? lead : 0;
  return wrapLine(line.slice(indent), width - indent).map(({start, end}, index) =>
    index === 0 ? {start: 0, end: end + indent, indent: 0} : {start: start + indent, end: end + indent, indent},
  );
}

function wrapLine(line: string, width: number): {start: number; end: number}[] {
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
    const wordWidth = rowWidth(word.trimEnd());
    if (used > 0 && used + wordWidth > width) breakRow();
    if (wordWidth <= width) {
      at += word.length;
      used += rowWidth(word);
      continue;
    }
    /** The last slash in the second half of the row. */
    let slash = 0;
    for (const grapheme of splitGraphemes(word)) {
      const columns = rowWidth(grapheme);
      if (used > 0 && used + columns > width && grapheme !== ' ') {
        const next = at;
        if (slash > start) at = slash;
        breakRow();
        used = rowWidth(line.slice(start, next));
        at = next;
      }
      at += grapheme.length;
      used += columns;
      if (grapheme === '/' && used * 2 >= width) slash = at;
    }
  }
  breakRow();
  return rows;
}

/** Cuts the text to at most `width` columns. A cut text ends with `…`. */
export function cutText(text: string, width: number): string {
  if (rowWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const grapheme of splitGraphemes(text)) {
    used += rowWidth(grapheme);
    if (used > width) break;
    cut += grapheme;
  }
  return width > 0 ? `${cut}…` : '';
}

/** Joins the parts that are not empty by dots, as many from the first on as fit. */
export function joinFitting(parts: readonly string[], columns: number): string {
  let line = '';
  for (const part of parts.filter((each) => each !== '')) {
    const longer = line === '' ? part : `${line} · ${part}`;
    if (textWidth(longer) > columns) break;
    line = longer;
  }
  return line;
}

/** Cuts a sentence in the same way, but after a whole word when there is one. */
export function cutWords(text: string, width: number): string {
  const cut = cutText(text, width);
  if (cut === text || !cut.endsWith('…')) return cut;
  const kept = cut.slice(0, -1);
  if (text[kept.length] === ' ') return cut;
  const words = kept.replace(/[^ ]*$/, '').replace(/[ ·]+$/, '');
  return words.trim() === '' ? cut : `${words}…`;
}
