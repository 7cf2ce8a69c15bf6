/**
 * Represents formatted text as lines that are not wrapped yet, so that they do not depend on the width of the window.
 * `layoutLine` wraps a line into rows of the screen.
 */
import {cutSpans, plainText, type Row, type Span, spaces} from './styled-text.tsx';
import {layoutTableRow, type TableRow} from './table.ts';
import {rowWidth, wrapRows} from './wrap.ts';

export interface Line {
  /** The text, without a newline. */
  readonly spans: readonly Span[];
  /** Text before the first row, e.g. the mark of a list item. */
  readonly first: readonly Span[];
  /** Text before each further row, as wide as `first`. */
  readonly rest: readonly Span[];
  /** True for the later part of a line. It begins with `rest`. */
  readonly isRest?: boolean;
  /** For a later part: number of spaces at the beginning of the line. Its rows are indented by as many. */
  readonly hang?: number;
  /** Number of characters that later text of the model cannot change; all of them when absent. */
  readonly stable?: number;
  /** A row of a table, in place of `spans`. */
  readonly table?: TableRow;
}

/** A place in a list of lines. Everything before it is printed. `offset` counts characters of the line. */
export interface LinePlace {
  readonly line: number;
  readonly offset: number;
}

export const START: LinePlace = {line: 0, offset: 0};

/** Minimal columns of the text, however deep its lists are nested. */
const MIN_WIDTH = 10;

export function createLine(spans: readonly Span[]): Line {
  return {spans, first: [], rest: []};
}

/** Puts text before the lines: `first` before the first one, `rest` before the others. Both have the same width. */
export function indentLines(lines: readonly Line[], first: readonly Span[], rest: readonly Span[]): Line[] {
  return lines.map((line, index) => ({
    ...line,
    first: [...(index === 0 ? first : rest), ...line.first],
    rest: [...rest, ...line.rest],
  }));
}

export function splitLines(spans: readonly Span[]): Line[] {
  const lines: Span[][] = [[]];
  for (const {text, style} of spans) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)!.push({text: part, style});
    }
  }
  return lines.map(createLine);
}

export function linesFrom(lines: readonly Line[], {line, offset}: LinePlace): Line[] {
  const [first, ...rest] = lines.slice(line);
  if (!first || offset === 0) return first ? [first, ...rest] : [];
  return [cutLine(first, offset), ...rest];
}

export function cutLine(line: Line, start: number, end = Number.POSITIVE_INFINITY): Line {
  return {
    ...line,
    spans: cutSpans(line.spans, start, end),
    ...(start > 0 && {isRest: true, hang: line.hang ?? /^ */.exec(plainText(line.spans))![0].length}),
    ...(line.stable !== undefined && {stable: Math.max(0, line.stable - start)}),
  };
}

/** A row, and the offset in the line at which the next row begins. */
interface LaidRow {
  readonly row: Row;
  readonly next: number;
}

/** Wraps one line. No row is wider than `columns`. */
export function layoutLine(line: Line, columns: number): LaidRow[] {
  const first = fitPrefix(line.isRest ? line.rest : line.first, columns);
  const rest = fitPrefix(line.rest, columns);
  const width = Math.max(1, columns - rowWidth(plainText(rest)));
  if (line.table) {
    return layoutTableRow(line.table, width).map((row, index) => ({
      row: [...(index === 0 ? first : rest), ...row],
      next: 0,
    }));
  }
  const text = plainText(line.spans);
  const hang = line.hang !== undefined && line.hang <= width / 3 ? line.hang : 0;
  const indent = line.isRest ? hang : 0;
  const wrapped = wrapRows(text, width - indent);
  return wrapped.map(({start, end, indent: wrapIndent}, index) => {
    const row = [...(index === 0 ? first : rest), ...spaces(indent + wrapIndent), ...cutSpans(line.spans, start, end)];
    return {row, next: wrapped[index + 1]?.start ?? text.length};
  });
}

export function layoutLines(lines: readonly Line[], columns: number): Row[] {
  return lines.flatMap((line) => layoutLine(line, columns).map(({row}) => row));
}

/** Cuts the text before a line when it leaves too little space. Its end remains. */
function fitPrefix(prefix: readonly Span[], columns: number): readonly Span[] {
  const text = plainText(prefix);
  const most = Math.max(0, columns - Math.min(MIN_WIDTH, Math.floor(columns / 2)));
  return text.length <= most ? prefix : cutSpans(prefix, text.length - most, text.length);
}
