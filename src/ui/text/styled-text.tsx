import {Text, type TextProps, Transform, useIsScreenReaderEnabled, useStdout} from 'ink';
import {createContext, type ReactNode, useContext} from 'react';
import {getTheme, paint, type Theme, type Tone} from '../theme.ts';
import {wrapRows} from './wrap.ts';

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly style: TextStyle;
}

/** The theme says how a tone looks; the rest is added to that. */
export interface TextStyle extends Pick<TextProps, 'bold' | 'italic' | 'underline' | 'strikethrough'> {
  readonly tone?: Tone;
  /** What the text stands on: the look of `tone` is added to this one. */
  readonly ground?: Tone;
}

/** The theme in which everything below is drawn. */
export const ThemeContext = createContext<Theme>(getTheme());

interface StyledProps extends TextStyle, Pick<TextProps, 'wrap'> {
  readonly children?: ReactNode;
}

/** Text in the look of its tone. */
export function Styled({tone, ground, children, ...style}: StyledProps) {
  const theme = useContext(ThemeContext);
  return (
    <Text {...(ground && theme[ground])} {...(tone && theme[tone])} {...style}>
      {children}
    </Text>
  );
}

/** The theme for text with codes; undefined for a screen reader, which gets it plain. */
function usePaint(): Theme | undefined {
  const theme = useContext(ThemeContext);
  return useIsScreenReaderEnabled() ? undefined : theme;
}

/** One row of the screen. */
export type Row = readonly Span[];

/** Neighbours that look the same get their codes once. */
export function paintRow(row: Row, theme: Theme): string {
  let painted = '';
  let text = '';
  let look: TextProps = {};
  for (const span of row) {
    const {tone, ground, ...style} = span.style;
    const next = {...(ground && theme[ground]), ...(tone && theme[tone]), ...style};
    if (text !== '' && !isSame(look, next)) {
      painted += paint(text, look);
      text = '';
    }
    text += span.text;
    look = next;
  }
  return text === '' ? painted : painted + paint(text, look);
}

function isSame(a: TextProps, b: TextProps): boolean {
  const keys = Object.keys(a) as (keyof TextProps)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Rows stand at most so far from the left edge. Columns. */
const MAX_PADDING = 4;

/**
 * Rows that fit the window: nothing breaks them again. Ink gets them when it writes. What it measures are as many empty rows:
 * it measures what changed for each frame. When the window becomes narrower, Ink draws once before we have made new rows.
 * `gap`: a blank row stands before them, but not for a screen reader.
 */
export function Rows({rows, gap = false}: {readonly rows: readonly Row[]; readonly gap?: boolean}) {
  const theme = usePaint();
  const stdout = useStdout().stdout as NodeJS.WriteStream;
  const {columns} = stdout;
  if (rows.length === 0) return null;
  if (!theme) return <Text>{rows.map(plainText).join('\n') || ' '}</Text>;
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

/** Styled text with line breaks of its own: Ink would begin a row with the space where it broke the line. */
export function StyledText({spans, columns}: {readonly spans: readonly Span[]; readonly columns: number}) {
  const rows = wrapRows(plainText(spans), columns).map(({start, end, indent}) => [
    ...(indent > 0 ? [{text: ' '.repeat(indent), style: {}}] : []),
    ...cutSpans(spans, start, end),
  ]);
  return <Rows rows={rows} />;
}

/** Wrapped text in one style. */
export function Wrapped({text, columns, ...style}: {readonly text: string; readonly columns: number} & TextStyle) {
  return <StyledText spans={[{text, style}]} columns={columns} />;
}

/** A part of styled text, by offsets of characters. */
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

/** Pairs each value with its index as a key for React, for lists whose parts never move. */
export function keyed<T>(values: readonly T[]): {readonly key: string; readonly value: T}[] {
  return values.map((value, index) => ({key: String(index), value}));
}
