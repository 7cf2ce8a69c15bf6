import {Box, Text} from 'ink';
import type {CommandInfo} from '../state/local-state.ts';
import {cutText} from '../text/wrap.ts';

export const MAX_COMPLETION_ROWS = 6;

interface CompletionProps {
  readonly commands: readonly CommandInfo[];
  readonly selected: number;
  readonly rows: number;
  readonly columns: number;
}

/** The slash commands that match what is typed. */
export function CompletionList({commands, selected, rows, columns}: CompletionProps) {
  const marked = Math.min(selected, commands.length - 1);
  const first = Math.max(0, Math.min(marked - Math.floor(rows / 2), commands.length - rows));
  const shown = commands.slice(first, first + rows);
  const nameWidth = Math.max(...commands.map(({name}) => name.length)) + 1;
  return (
    <Box flexDirection="column">
      {shown.map((command, index) => {
        const isMarked = first + index === marked;
        const text = `${isMarked ? '>' : ' '} ${`/${command.name}`.padEnd(nameWidth)}  ${command.description}`;
        return (
          <Text key={command.name} {...(isMarked ? {color: 'cyan', bold: true} : {dimColor: true})}>
            {cutText(text, columns)}
          </Text>
        );
      })}
    </Box>
  );
}
