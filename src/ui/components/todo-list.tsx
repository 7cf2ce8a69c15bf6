import {Box, useIsScreenReaderEnabled} from 'ink';
import type {Todo} from '../../core/contract/results.ts';
import {firstRows} from '../text/live-rows.ts';
import {keyed, Styled} from '../text/styled-text.tsx';
import {cutText} from '../text/wrap.ts';

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
