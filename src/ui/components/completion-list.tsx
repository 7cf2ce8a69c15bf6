import {Box, useIsScreenReaderEnabled} from 'ink';
import type {Offered} from '../input/completion.ts';
import {screenLine} from '../text/screen-text.ts';
import {Styled} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';

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
