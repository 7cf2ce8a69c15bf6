/** Counts the rows between the start of the live part and the cursor after the terminal has wrapped the rows again. */
import {stripVTControlCharacters} from 'node:util';
import {rowWidth} from './text/wrap.ts';

/**
 * Says what a terminal does with rows that are wider than its new width. `follow`: it wraps them, and the cursor stays
 * at its character. `shift`: it wraps all but the line of the cursor, and each new row moves the cursor down, also a row
 * below the cursor (xterm.js). `cut`: it wraps nothing.
 */
export type Reflow = 'follow' | 'shift' | 'cut';

/** A live part on the screen. */
export interface DrawnPart {
  readonly rows: readonly string[];
  /** The size of the window when it was drawn. */
  readonly columns: number;
  readonly height: number;
  /** Where the cursor is, from the start of the part. */
  readonly cursor: {readonly x: number; readonly y: number};
  /** True when the terminal takes all rows for one line, which it has wrapped. */
  readonly isJoined: boolean;
}

/** @param columns the new width of the window; `height` its new height */
export function countRowsAbove(part: DrawnPart, columns: number, height: number, reflow: Reflow): number {
  const {x, y} = part.cursor;
  if (columns === part.columns || reflow === 'cut' || part.isJoined) return y;
  const added = part.rows.map((row) => {
    const width = Math.min(part.columns, rowWidth(stripVTControlCharacters(row)));
    return Math.max(0, Math.ceil(width / columns) - 1);
  });
  const above = sum(added.slice(0, y)) + y;
  if (reflow === 'follow') return above + Math.floor(x / columns);
  // A window that becomes lower loses rows below the cursor first, before the others are wrapped again.
  const below = Math.max(0, part.rows.length - 1 - y - Math.max(0, part.height - height));
  return above + sum(added.slice(y + 1, y + 1 + below));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
