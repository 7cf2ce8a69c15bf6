import {expect, test} from 'vitest';
import {createTodoWrite} from '../../src/tools/todo-write.ts';
import {fixture} from './fixture.ts';

const todos = (...given: [string, string][]) => ({todos: given.map(([content, status]) => ({content, status}))});

test('shows the list and its progress', async () => {
  const {call} = fixture();
  const input = todos(['a', 'completed'], ['b', 'in_progress'], ['c', 'pending']);
  const result = await call(createTodoWrite(), input);
  expect(result.text).toBe('1 of 3 todos done.');
  expect(result.display).toEqual({type: 'todos', todos: input.todos});
});

test('refuses two todos in progress and names them', async () => {
  const {call} = fixture();
  const {text, isError, display} = await call(createTodoWrite(), todos(['a', 'in_progress'], ['b', 'in_progress']));
  expect(text).toBe('Only one todo may be in_progress at a time, not 2: "a", "b". Nothing was changed.');
  expect({isError, display}).toEqual({isError: true, display: undefined});
});

test("names unfinished todos that are missing from the same agent's new list", async () => {
  const {call} = fixture();
  const tool = createTodoWrite();
  await call(tool, todos(['a', 'completed'], ['b', 'pending']));
  expect((await call(tool, todos(['c', 'pending']), {agentId: 'other'})).text).toBe('0 of 1 todos done.');
  expect((await call(tool, todos(['d', 'pending']))).text).toBe('0 of 1 todos done. Left out unfinished: "b".');
});

test('refuses an unknown status', () => {
  expect(createTodoWrite().input.safeParse(todos(['a', 'doing'])).success).toBe(false);
});

test('has the todo in progress as title', () => {
  const tool = createTodoWrite();
  const {workspace} = fixture();
  expect(tool.title({todos: [{content: 'a', status: 'in_progress'}]}, workspace)).toBe('a');
  expect(tool.title({todos: [{content: 'a', status: 'completed'}]}, workspace)).toBe('');
});
