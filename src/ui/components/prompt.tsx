import type {Todo} from '../../core/contract/results.ts';
import {toOneLine} from '../../core/util/text.ts';
import {PROMPT_MARK, promptWidth} from '../first-paint/prompt-frame.ts';
import type {Offered} from '../input/completion.ts';
import {type EditorState, layoutText} from '../input/editor.ts';
import {firstAround} from '../text/live-rows.ts';
import {screenLine} from '../text/screen-text.ts';
import {MUTED, Rows, type TextStyle, toRow} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';

/** The typed text as rows of the screen, and the cursor in them. */
export interface PromptRows {
  readonly rows: readonly string[];
  readonly cursor: {readonly row: number; readonly column: number};
  /** Number of rows of the text above the first row. */
  readonly above: number;
}

/** Returns at most `maxRows` rows around the cursor. */
export function promptRows(editor: EditorState, columns: number, maxRows: number): PromptRows {
  const {rows, cursor} = layoutText(editor, promptWidth(columns));
  const first = firstAround(cursor.row, rows.length, maxRows);
  return {
    rows: rows.slice(first, first + maxRows),
    cursor: {row: cursor.row - first, column: cursor.column + PROMPT_MARK.length},
    above: first,
  };
}

interface ListProps<T> {
  readonly items: readonly T[];
  readonly rows: number;
  readonly columns: number;
}

/** Draws the first items that fit, each as one row. When some do not fit, the last row says how many. */
export function FirstItems<T>({
  items,
  rows,
  columns,
  rest,
  format,
}: ListProps<T> & {readonly rest: string; readonly format: (item: T) => readonly [text: string, style: TextStyle]}) {
  const isCut = items.length > rows;
  const shown = (isCut ? items.slice(0, Math.max(0, rows - 1)) : items).map((item) => {
    const [text, style] = format(item);
    return toRow(cutText(text, columns), style);
  });
  const more = toRow(`  … and ${items.length - shown.length} ${rest}`, MUTED);
  return <Rows rows={isCut && rows > 0 ? [...shown, more] : shown} />;
}

/** What is said of a queued prompt where the window is that wide; a narrow one has room for the prompt alone. */
const ABOUT_QUEUED = [
  [100, ', read at the next step; Up takes it back, Esc Enter sends it now'],
  [70, ', read at the next step; Up takes it back'],
  [0, ''],
] as const;

/** Shows the prompts that were sent during a turn and wait for its next step. */
export function QueuedPrompts(props: ListProps<{readonly text: string}>) {
  // What the row says of the time stays readable where the prompt is cut.
  const [, when] = ABOUT_QUEUED.find(([least]) => props.columns >= least)!;
  const width = props.columns - when.length;
  return (
    <FirstItems
      {...props}
      rest="more queued"
      format={({text}) => [`${cutText(`  queued: ${toOneLine(text)}`, width)}${when}`, MUTED]}
    />
  );
}

const TODO_STYLES: Readonly<Record<Todo['status'], TextStyle>> = {
  pending: {},
  in_progress: {bold: true},
  completed: MUTED,
};
const MARKS: Readonly<Record<Todo['status'], string>> = {pending: '[ ]', in_progress: '[>]', completed: '[x]'};

export function TodoList(props: ListProps<Todo>) {
  return (
    <FirstItems
      {...props}
      rest="more"
      format={({status, content}) => [`  ${MARKS[status]} ${content}`, TODO_STYLES[status]]}
    />
  );
}

/** When the list is longer, the last row says how many more there are. */
export const MAX_COMPLETION_ROWS = 7;

export function CompletionList({items, marked, rows, columns}: ListProps<Offered> & {readonly marked: number}) {
  const count = items.length > rows && rows > 1 ? rows - 1 : rows;
  const first = firstAround(Math.max(0, marked), items.length, count);
  const labelWidth = Math.max(...items.map(({label}) => textWidth(label)));
  const shown = items.slice(first, first + count).map(({label, description}, index) => {
    const isMarked = first + index === marked;
    const pad = ' '.repeat(description === '' ? 0 : labelWidth - textWidth(label) + 2);
    const mark = isMarked ? '> ' : '  ';
    const text = cutText(`${mark}${screenLine(label)}${pad}${description}`, columns);
    return toRow(text, isMarked ? {tone: 'accent', bold: true} : MUTED);
  });
  const more = items.length - shown.length;
  return <Rows rows={count < rows && more > 0 ? [...shown, toRow(`  … ${more} more`, MUTED)] : shown} />;
}
