import {Text, type TextProps, Transform, useIsScreenReaderEnabled, useStdout} from 'ink';
import {createContext, useContext} from 'react';
import {getTheme, paint, type Theme, type Tone} from '../theme.ts';
import {findAddresses} from './links.ts';
import {splitGraphemes, textWidth, wrapRows} from './wrap.ts';

export interface Span {
  readonly text: string;
  readonly style: TextStyle;
}

/** A style. The theme says how the tone looks, and the other fields are added to that. */
export interface TextStyle extends Pick<TextProps, 'bold' | 'italic' | 'underline' | 'strikethrough' | 'inverse'> {
  readonly tone?: Tone;
  /** The ground under the text. The look of `tone` is added to it. */
  readonly ground?: Tone;
  /** What the text leads to: an address, or the path of a file. */
  readonly link?: string;
}

export const PLAIN: TextStyle = {};
export const MUTED: TextStyle = {tone: 'muted'};

/** The theme in which all components inside are drawn. */
export const ThemeContext = createContext<Theme>(getTheme());

/** Returns the theme for text with terminal codes; undefined for a screen reader, which gets plain text. */
function usePaint(): Theme | undefined {
  const theme = useContext(ThemeContext);
  return useIsScreenReaderEnabled() ? undefined : theme;
}

export type Row = readonly Span[];

export function toRow(text: string, style: TextStyle = {}): Row {
  return [{text, style}];
}

export function spaces(count: number): Row {
  return count > 0 ? toRow(' '.repeat(count)) : [];
}

/** Paints a row. Neighbours that look the same get their codes once. */
export function paintRow(row: Row, theme: Theme): string {
  let painted = '';
  let text = '';
  let look: TextProps = {};
  let target: string | undefined;
  const end = () => {
    if (text !== '') painted += linked(paint(text, look), target, theme);
    text = '';
  };
  for (const span of row) {
    const {tone, ground, link, ...style} = span.style;
    const next = {...(ground && theme[ground]), ...(tone && theme[tone]), ...style};
    if (link !== target || !isSame(look, next)) end();
    text += span.text;
    look = next;
    target = link;
  }
  end();
  return painted;
}

function linked(text: string, target: string | undefined, {link}: Theme): string {
  const url = target === undefined ? undefined : link?.(target);
  return url === undefined ? text : `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;
}

/** Makes a link of each address. Give it a whole line, because a part of an address leads elsewhere. */
export function linkAddresses(spans: Row): readonly Span[] {
  const text = plainText(spans);
  const found = findAddresses(text);
  if (found.length === 0) return spans;
  let at = 0;
  const linked = found.flatMap(({start, end}) => {
    const before = cutSpans(spans, at, start);
    at = end;
    const link = text.slice(start, end);
    return [...before, ...cutSpans(spans, start, end).map((span) => ({...span, style: {link, ...span.style}}))];
  });
  return [...linked, ...cutSpans(spans, at, text.length)];
}

function isSame(a: TextProps, b: TextProps): boolean {
  const keys = Object.keys(a) as (keyof TextProps)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Maximal columns between the left edge and a row. */
const MAX_PADDING = 4;

/**
 * Draws rows that fit the window and that nothing wraps again. Ink gets their text only when it writes. Ink measures
 * all changes for each frame, so it measures empty rows instead. When the window becomes narrower, Ink draws once
 * before there are new rows, so the old ones are cut. With `gap`, a blank row stands above, except for a screen reader.
 */
export function Rows({rows, gap = false}: {readonly rows: readonly Row[]; readonly gap?: boolean}) {
  const theme = usePaint();
  const stdout = useStdout().stdout as NodeJS.WriteStream;
  const {columns} = stdout;
  if (rows.length === 0) return null;
  if (!theme) {
    const lines = rows.map(toWords).filter((line) => !/^[─┼⋮█▓▒░· ]*$/.test(line));
    return lines.length === 0 ? null : <Text>{lines.join('\n')}</Text>;
  }
  const painted = rows.map((row) => paintRow(row, theme));
  if (gap) painted.unshift('');
  const draw = (_: string, index: number) => {
    if (stdout.columns >= columns || painted[index] === '') return painted[index]!;
    return paintRow(cutRow(rows[gap ? index - 1 : index]!, stdout.columns - MAX_PADDING), theme);
  };
  return <Transform transform={draw}>{`${' \n'.repeat(painted.length - 1)} `}</Transform>;
}

function cutRow(row: Row, columns: number): Row {
  return cutSpans(row, 0, wrapRows(plainText(row), columns)[0]!.end);
}

/** Wraps styled text into rows. Ink would begin a row with the space at the break. */
export function wrapSpans(spans: readonly Span[], columns: number): Row[] {
  const linked = linkAddresses(spans);
  return wrapRows(plainText(spans), columns).map(({start, end, indent}) => [
    ...spaces(indent),
    ...cutSpans(linked, start, end),
  ]);
}

export function Wrapped({text, columns, ...style}: {readonly text: string; readonly columns: number} & TextStyle) {
  return <Rows rows={wrapSpans(toRow(text, style), columns)} />;
}

/** Returns a part of styled text, by offsets of characters. */
export function cutSpans(spans: readonly Span[], start: number, end: number): Span[] {
  const cut: Span[] = [];
  let at = 0;
  for (const {text, style} of spans) {
    const piece = text.slice(Math.max(0, start - at), Math.max(0, end - at));
    if (piece !== '') cut.push({text: piece, style});
    at += text.length;
    if (at >= end) break;
  }
  return cut;
}

export function plainText(spans: readonly Span[]): string {
  return spans.map(({text}) => text).join('');
}

const SIGNS: Readonly<Record<string, string>> = {'+ ': 'added: ', '- ': 'removed: '};

/** The bar beside a quotation. */
export const QUOTE: Span = {text: '│ ', style: MUTED};

/** Returns the row as it is read aloud: the sign of a changed line and the bars of a quotation are a word. */
export function toWords(row: Row): string {
  const isBar = ({text, style: {tone}}: Span) => text === QUOTE.text && tone === QUOTE.style.tone;
  const words = row
    .filter((span) => !isBar(span))
    .map(({text, style: {tone}}) => ((tone === 'added' || tone === 'removed') && SIGNS[text]) || text)
    .join('')
    .replace(/^ *[█▓▒░·] /, '')
    .trimEnd();
  return words !== '' && row.some(isBar) ? `quote: ${words}` : words;
}

/** Draws a cursor in one of the rows. @param column the cursor's column; behind the text it stands on a space */
export function withCursor(rows: readonly Row[], index: number, column: number): Row[] {
  return rows.map((row, at) => {
    if (at !== index) return row;
    let [start, end, left] = [0, 0, column];
    const text = plainText(row);
    for (const grapheme of splitGraphemes(text)) {
      start = end;
      end += grapheme.length;
      left -= textWidth(grapheme);
      if (left < 0) break;
    }
    if (left >= 0) return [...row, {text: ' ', style: {inverse: true}}];
    const under = cutSpans(row, start, end).map((span) => ({...span, style: {...span.style, inverse: true}}));
    return [...cutSpans(row, 0, start), ...under, ...cutSpans(row, end, text.length)];
  });
}

/** Marks each place of a row that has the text, in any case of its letters. */
export function markFound(row: Row, wanted: string): Row {
  const text = plainText(row).toLowerCase();
  const [first, ...more] = wanted === '' ? [text] : text.split(wanted.toLowerCase());
  let at = first!.length;
  const marked = [...cutSpans(row, 0, at)];
  for (const part of more) {
    const end = at + wanted.length;
    for (const {text: found, style} of cutSpans(row, at, end))
      marked.push({text: found, style: {...style, inverse: true}});
    at = end + part.length;
    marked.push(...cutSpans(row, end, at));
  }
  return marked;
}
