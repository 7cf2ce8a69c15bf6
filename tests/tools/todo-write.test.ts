import {expect, test} from 'vitest';
import {todoWriteTool} from '../../src/tools/todo-write.ts';
import {fixture} from './fixture.ts';

const todos = (...given: [string, string][]) => ({todos: given.map(([content, status]) => ({content, status}))});

test('shows the list and its progress', async () => {
  const {call} = fixture();
  const input = todos(['a', 'completed'], ['b', 'in_progress'], ['c', 'pending']);
  const result = await call(todoWriteTool, input);
  expect(result.text).toBe('1 of 3 todos done.');
  expect(result.display).toEqual({type: 'todos', todos: input.todos});
});

test('refuses two todos in progress and names them', async () => {
  const {call} = fixture();
  const {text, isError, display} = await call(todoWriteTool, todos(['a', 'in_progress'], ['b', 'in_progress']));
  expect(text).toBe('Only one todo may be in_progress at a time, not 2: "a", "b". Nothing was changed.');
  expect({isError, display}).toEqual({isError: true, display: undefined});
});

test('refuses an unknown status', () => {
  expect(todoWriteTool.input.safeParse(todos(['a', 'doing'])).success).toBe(false);
});

test('has the todo in progress as title', () => {
  const tool = todoWriteTool;
  const {workspace} = fixture();
  expect(tool.title({todos: [{content: 'a', status: 'in_progress'}]}, workspace)).toBe('a');
  expect(tool.title({todos: [{content: 'a', status: 'completed'}]}, workspace)).toBe('');
});
