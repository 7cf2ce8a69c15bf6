import {Box} from 'ink';
import {toOneLine} from '../../core/util/text.ts';
import {PROMPT_MARK, promptWidth} from '../first-paint/prompt-frame.ts';
import type {EditorState} from '../input/editor.ts';
import {layoutText} from '../input/editor-layout.ts';
import {firstRows} from '../text/live-rows.ts';
import {Styled} from '../text/styled-text.tsx';
import {cutText} from '../text/wrap.ts';

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
