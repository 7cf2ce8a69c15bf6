/** Defines the tool `todo_write`, which shows the agent's list of todos to the user. */
import {z} from 'zod';
import type {Tool} from '../core/contract/tool.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {errorResult, textResult} from '../core/util/tool-output.ts';
import description from './todo-write.md';

const input = z.object({
  todos: z.array(z.object({content: z.string().min(1), status: z.enum(['pending', 'in_progress', 'completed'])})),
});

type TodoWriteInput = z.infer<typeof input>;

export const TODO_WRITE: ToolFacts = {
  name: 'todo_write',
  kind: 'think',
  label: 'Todos',
  claude: {name: 'TodoWrite'},
  replaces: ['TodoRead'],
};

export const todoWriteTool: Tool<TodoWriteInput> = {
  ...TODO_WRITE,
  description,
  input,
  title: ({todos}) => todos.find(({status}) => status === 'in_progress')?.content ?? '',
  access: () => [{kind: 'none'}],
  async run({todos}) {
    const current = todos.filter(({status}) => status === 'in_progress');
    if (current.length > 1) {
      const names = current.map(({content}) => `"${content}"`).join(', ');
      return errorResult(
        `Only one todo may be in_progress at a time, not ${current.length}: ${names}. Nothing was changed.`,
      );
    }
    const done = todos.filter(({status}) => status === 'completed').length;
    return textResult(`${done} of ${todos.length} todos done.`, {display: {type: 'todos', todos}});
  },
};
