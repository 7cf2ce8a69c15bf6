/** Lays the editor's text out in rows of the screen, and finds the place of the cursor. */
import {screenText} from '../text/screen-text.ts';
import {splitGraphemes, textWidth} from '../text/wrap.ts';

export interface Cursor {
  readonly row: number;
  /** Column of the terminal. */
  readonly column: number;
}

interface EditorLayout {
  readonly rows: readonly string[];
  readonly cursor: Cursor;
  /** All positions that the cursor can have, in the order of the text. */
  readonly stops: readonly (Cursor & {readonly offset: number})[];
}

interface EditorText {
  readonly text: string;
  readonly cursor: number;
  readonly pastes: ReadonlyMap<string, string>;
}

/** @param width columns of a row */
export function layoutText({text, cursor, pastes}: EditorText, width: number): EditorLayout {
  const rows = [''];
  const stops: (Cursor & {offset: number})[] = [];
  let column = 0;
  let offset = 0;
  const newRow = () => {
    rows.push('');
    column = 0;
  };
  for (const grapheme of splitGraphemes(text)) {
    const pasted = pastes.get(grapheme);
    const shown = pasted === undefined ? (grapheme === '\t' ? '  ' : screenText(grapheme)) : pasteLabel(pasted);
    const columns = textWidth(shown);
    if (grapheme !== '\n' && column > 0 && column + columns > width) newRow();
    stops.push({row: rows.length - 1, column, offset});
    offset += grapheme.length;
    if (grapheme === '\n') {
      newRow();
    } else {
      rows[rows.length - 1] += shown;
      column += columns;
    }
  }
  // When a row is full, the cursor is on the next row.
  if (column >= width) newRow();
  stops.push({row: rows.length - 1, column, offset});
  const at = stops.find((stop) => stop.offset >= cursor) ?? stops.at(-1)!;
  return {rows, cursor: {row: at.row, column: at.column}, stops};
}

/** Returns the offset of a position on the screen: in its row, at its column or before it. */
export function offsetAt(layout: EditorLayout, target: Cursor): number {
  const inRow = layout.stops.filter((stop) => stop.row === target.row);
  const nearest = inRow.findLast((stop) => stop.column <= target.column) ?? inRow[0];
  return nearest?.offset ?? 0;
}

/** Returns the label of a big paste, e.g. `[Pasted 42 lines]`. */
export function pasteLabel(content: string): string {
  const lines = content.replace(/\n$/, '').split('\n').length;
  return lines > 1 ? `[Pasted ${lines} lines]` : `[Pasted ${content.length} characters]`;
}
