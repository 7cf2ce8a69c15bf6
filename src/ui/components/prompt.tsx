import {Box, useIsScreenReaderEnabled} from 'ink';
import type {Todo} from '../../core/contract/results.ts';
import {toOneLine} from '../../core/util/text.ts';
import {PROMPT_MARK, promptWidth} from '../first-paint/prompt-frame.ts';
import type {Offered} from '../input/completion.ts';
import {type EditorState, layoutText} from '../input/editor.ts';
import {firstRows} from '../text/live-rows.ts';
import {screenLine} from '../text/screen-text.ts';
import {keyed, Styled} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';

/** The typed text as rows of the screen, and the cursor in them. */
export interface PromptRows {
  readonly rows: readonly string[];
  readonly cursor: {readonly row: number; readonly column: number};
}

/** Returns at most `maxRows` rows around the cursor. */
export function promptRows(editor: EditorState, columns: number, maxRows: number): PromptRows {
  const {rows, cursor} = layoutText(editor, promptWidth(columns));
  const first = Math.max(0, Math.min(cursor.row - Math.floor(maxRows / 2), rows.length - maxRows));
  return {
    rows: rows.slice(first, first + maxRows),
    cursor: {row: cursor.row - first, column: cursor.column + PROMPT_MARK.length},
  };
}

interface QueueProps {
  readonly prompts: readonly {readonly id: string; readonly text: string}[];
  readonly rows: number;
  readonly columns: number;
}

/** Shows the prompts that were sent during a turn and wait for its next step. */
export function QueuedPrompts({prompts, rows, columns}: QueueProps) {
  const {shown, more} = firstRows(prompts, rows);
  return (
    <Box flexDirection="column">
      {shown.map(({id, text}) => (
        <Styled key={id} tone="muted">
          {cutText(`  queued: ${toOneLine(text)}`, columns)}
        </Styled>
      ))}
      {more > 0 && rows > 0 && <Styled tone="muted">{`  … and ${more} more queued`}</Styled>}
    </Box>
  );
}

const WORDS: Readonly<Record<Todo['status'], string>> = {
  pending: 'To do:',
  in_progress: 'In progress:',
  completed: 'Done:',
};
const MARKS: Readonly<Record<Todo['status'], string>> = {pending: '[ ]', in_progress: '[>]', completed: '[x]'};

interface TodoProps {
  readonly todos: readonly Todo[];
  readonly rows: number;
  readonly columns: number;
}

export function TodoList({todos, rows, columns}: TodoProps) {
  const {shown, more} = firstRows(todos, rows);
  const marks = useIsScreenReaderEnabled() ? WORDS : MARKS;
  return (
    <Box flexDirection="column">
      {keyed(shown).map(({key, value: todo}) => (
        <Styled key={key} bold={todo.status === 'in_progress'} {...(todo.status === 'completed' && {tone: 'muted'})}>
          {cutText(`  ${marks[todo.status]} ${todo.content}`, columns)}
        </Styled>
      ))}
      {more > 0 && rows > 0 && <Styled tone="muted">{`  … and ${more} more`}</Styled>}
    </Box>
  );
}

export const MAX_COMPLETION_ROWS = 6;

interface CompletionProps {
  readonly offered: readonly Offered[];
  readonly selected: number;
  readonly rows: number;
  readonly columns: number;
}

export function CompletionList({offered, selected, rows, columns}: CompletionProps) {
  const marked = Math.min(selected, offered.length - 1);
  const first = Math.max(0, Math.min(marked - Math.floor(rows / 2), offered.length - rows));
  const shown = offered.slice(first, first + rows);
  const labelWidth = Math.max(...offered.map(({label}) => textWidth(label)));
  const isStatic = useIsScreenReaderEnabled();
  return (
    <Box flexDirection="column">
      {shown.map(({label, description}, index) => {
        const isMarked = first + index === marked;
        const pad = ' '.repeat(description === '' ? 0 : labelWidth - textWidth(label) + 2);
        const mark = isStatic ? (isMarked ? 'Marked: ' : '') : isMarked ? '> ' : '  ';
        const text = `${mark}${screenLine(label)}${pad}${description}`;
        return (
          <Styled key={label} {...(isMarked ? ({tone: 'accent', bold: true} as const) : ({tone: 'muted'} as const))}>
            {cutText(text, columns)}
          </Styled>
        );
      })}
    </Box>
  );
}
