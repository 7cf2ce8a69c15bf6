/**
 * Lays out a question with a list: which items match the typed text, and the rows of the window around the marked item.
 */
import type {ListItem} from '../../core/contract/events.ts';
import {firstAround} from '../text/live-rows.ts';
import {cutText, textWidth} from '../text/wrap.ts';

/** Maximal rows of a list in a high window. */
const MAX_ROWS = 12;
/** Rows of the window for the prompt, the status line and the question itself. */
const OTHER_ROWS = 10;
/** Columns. A narrower window shows only the information of the marked row. */
const MIN_INFO_COLUMNS = 70;

/** Returns the items that contain each typed word, in their order. Case does not matter. */
export function findInList(list: readonly ListItem[], typed: string): readonly ListItem[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return list;
  return list.filter(({label, info = ''}) => {
    const text = `${label}\n${info}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

interface ListRow {
  readonly text: string;
  readonly style: 'option' | 'marked' | 'hint';
}

/** @param marked index of the marked item in `found` */
export function listRows(
  found: readonly ListItem[],
  marked: number,
  {columns, windowRows}: {readonly columns: number; readonly windowRows: number},
): readonly ListRow[] {
  if (found.length === 0) return [{text: '  Nothing matches what is typed.', style: 'hint'}];
  const count = Math.max(1, Math.min(MAX_ROWS, windowRows - OTHER_ROWS));
  const at = Math.min(marked, found.length - 1);
  const first = firstAround(at, found.length, count);
  const shown = found.slice(first, first + count);
  const isWide = columns >= MIN_INFO_COLUMNS;
  const infoWidth = isWide ? Math.max(...shown.map(({info = ''}) => textWidth(info))) : 0;
  const rows = shown.map(({label, info = ''}, index): ListRow => {
    const isMarked = first + index === at;
    const width = columns - 3 - (infoWidth === 0 ? 0 : infoWidth + 2);
    const cut = cutText(label, width);
    const text = infoWidth === 0 ? cut : `${cut}${' '.repeat(Math.max(0, width - textWidth(cut)))}  ${info}`;
    return {text: `${isMarked ? '>' : ' '} ${text.trimEnd()}`, style: isMarked ? 'marked' : 'option'};
  });
  const info = found[at]?.info;
  const notes = [
    ...(isWide || info === undefined ? [] : [cutText(info, columns - 4)]),
    ...(found.length > shown.length ? [`${at + 1} of ${found.length}`] : []),
  ];
  return notes.length === 0 ? rows : [...rows, {text: `  ${cutText(notes.join(' · '), columns - 4)}`, style: 'hint'}];
}
