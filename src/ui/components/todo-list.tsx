import {Box, Text} from 'ink';
import type {Todo} from '../../core/tool.ts';
import {keyed} from '../keyed.ts';
import {firstRows} from '../live-rows.ts';

const MARKS: Readonly<Record<Todo['status'], string>> = {pending: '[ ]', in_progress: '[>]', completed: '[x]'};

/** The main agent's plan, a line each. */
export function TodoList({todos, rows}: {readonly todos: readonly Todo[]; readonly rows: number}) {
  const {shown, more} = firstRows(todos, rows);
  return (
    <Box flexDirection="column">
      {keyed(shown).map(({key, value: todo}) => (
        <Text key={key} wrap="truncate" bold={todo.status === 'in_progress'} dimColor={todo.status === 'completed'}>
          {`  ${MARKS[todo.status]} ${todo.content}`}
        </Text>
      ))}
      {more > 0 && rows > 0 && <Text dimColor>{`  … and ${more} more`}</Text>}
    </Box>
  );
}
