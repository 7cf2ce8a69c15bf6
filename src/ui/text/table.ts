/**
 * Lays out the rows of a table: columns that fit the window, cells that wrap, and rules. The first rows of a table
 * decide the widths of its columns, so that a long table can be printed while it grows. A later row that needs more makes
 * its columns wider from there on.
 */
import {cutSpans, MUTED, plainText, type Row, type Span, spaces} from './styled-text.tsx';
import {rowWidth, wrapRows} from './wrap.ts';

type Cell = readonly Span[];

/** The parts that all rows of a table share. */
export interface TableShape {
  readonly header: readonly Cell[];
  /** The first `SHAPING_ROWS` rows, which decide the first widths of the columns. */
  readonly rows: readonly (readonly Cell[])[];
  readonly align: readonly ('left' | 'right' | 'center' | null)[];
}

/** How wide the cells of each column are that came so far, and their longest words. */
export interface TableNeeds {
  readonly cells: readonly number[];
  readonly words: readonly number[];
}

export interface TableRow {
  readonly shape: TableShape;
  /** The needs of the first rows, and of the rows up to this one. What is printed already cannot become wider. */
  readonly needs: TableNeeds;
  /** The header, the rule below it, or the cells of one row. */
  readonly part: 'header' | 'rule' | readonly Cell[];
  readonly isFirst: boolean;
}

/** Number of rows that decide the widths of the columns. */
export const SHAPING_ROWS = 8;

const SEPARATOR: Span = {text: ' │ ', style: MUTED};
const GAP = 3;
/** Columns. A table that needs a narrower column shows each row as a list of `name: value`. */
const MIN_COLUMN = 6;

/** @returns the rows of the screen, each at most `columns` wide */
export function layoutTableRow({shape, needs, part, isFirst}: TableRow, columns: number): Row[] {
  const room = columns - GAP * (shape.header.length - 1);
  // A row of a window without an end is read aloud.
  const widths = Number.isFinite(room) ? fitWidths(needs, room) : undefined;
  if (widths === undefined) return layoutRecord(shape, part, isFirst, columns);
  if (part === 'rule') return [[rule(widths)]];
  if (part === 'header') return layoutCells(shape.header, widths, shape.align);
  const isWrapped = shape.rows.some((row) => row.some((cell, index) => cellWidth(cell) > widths[index]!));
  const rows = layoutCells(part, widths, shape.align);
  return isWrapped && !isFirst ? [[rule(widths)], ...rows] : rows;
}

/** @param before the needs of the rows above */
export function addNeeds(before: TableNeeds | undefined, cells: readonly Cell[], count: number): TableNeeds {
  const widest = (index: number, known: readonly number[] | undefined, width: (cell: Cell) => number) =>
    Math.max(3, known?.[index] ?? 0, width(cells[index] ?? []));
  const columns = Array.from({length: count}, (_, index) => index);
  return {
    cells: columns.map((index) => widest(index, before?.cells, cellWidth)),
    words: columns.map((index) => widest(index, before?.words, longestWord)),
  };
}

function longestWord(cell: Cell): number {
  return Math.max(...plainText(cell).split(' ').map(rowWidth));
}

/**
 * Makes the widest column narrower until all columns fit, and breaks words only where there is no other way.
 * @returns undefined when a column would be too narrow
 */
function fitWidths({cells, words}: TableNeeds, room: number): number[] | undefined {
  const widths = [...cells];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  for (const least of [words, words.map(() => 0)]) {
    const canGive = (index: number) => widths[index]! > Math.max(MIN_COLUMN, least[index]!);
    while (excess > 0) {
      const most = Math.max(...widths.filter((_, index) => canGive(index)));
      const given = widths.findLastIndex((width, index) => width === most && canGive(index));
      if (given < 0) break;
      widths[given]! -= 1;
      excess -= 1;
    }
  }
  return excess > 0 ? undefined : widths;
}

function rule(widths: readonly number[]): Span {
  return {text: widths.map((width) => '─'.repeat(width)).join('─┼─'), style: MUTED};
}

function layoutCells(cells: readonly Cell[], widths: readonly number[], align: TableShape['align']): Row[] {
  const wrapped = widths.map((width, index) => wrapCell(cells[index] ?? [], width));
  const height = Math.max(...wrapped.map((rows) => rows.length));
  return Array.from({length: height}, (_, row) =>
    widths.flatMap((width, column) => {
      const isLast = column === widths.length - 1;
      const cell = alignCell(wrapped[column]![row] ?? [], width, align[column] ?? 'left', isLast);
      return isLast ? cell : [...cell, SEPARATOR];
    }),
  );
}

function alignCell(cell: Cell, width: number, align: 'left' | 'right' | 'center', isLast: boolean): Span[] {
  const space = Math.max(0, width - cellWidth(cell));
  const left = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  const right = isLast ? 0 : space - left;
  return [...spaces(left), ...cell, ...spaces(right)];
}

/** Lays out one row as `name: value` lines, with a rule between rows. */
function layoutRecord(shape: TableShape, part: TableRow['part'], isFirst: boolean, columns: number): Row[] {
  if (part === 'header' || part === 'rule') return [];
  if (columns === Number.POSITIVE_INFINITY) {
    const cells = shape.header.map((name, index) => `${plainText(name)}: ${plainText(part[index] ?? [])}`);
    return [[{text: `${cells.join('. ')}.`, style: {}}]];
  }
  const rows = shape.header.flatMap((name, index) => {
    const cell = part[index] ?? [];
    const colon = {text: ': ', style: name[0]?.style ?? {}};
    return wrapCell([...name, colon, ...cell], columns);
  });
  return isFirst ? rows : [[{text: '─'.repeat(Math.min(20, columns)), style: MUTED}], ...rows];
}

function wrapCell(cell: Cell, width: number): Row[] {
  return wrapRows(plainText(cell), width).map(({start, end}) => cutSpans(cell, start, end));
}

function cellWidth(cell: Cell): number {
  return rowWidth(plainText(cell));
}
