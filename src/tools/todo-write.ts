/** Defines the tool `todo_write`, which stores the agent's list of todos. The user sees the list. */
import {z} from 'zod';
import type {Todo} from '../core/contract/results.ts';
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

/** Creates the tool. Each agent that calls it has a list of its own. */
export function createTodoWrite(): Tool<TodoWriteInput> {
  const lists = new Map<string, readonly Todo[]>();
  return {
    ...TODO_WRITE,
    description,
    input,
    title: ({todos}) => todos.find(({status}) => status === 'in_progress')?.content ?? '',
    access: () => [{kind: 'none'}],
    async run({todos}, {agentId}) {
      const current = todos.filter(({status}) => status === 'in_progress');
      if (current.length > 1) {
        const names = current.map(({content}) => `"${content}"`).join(', ');
        return errorResult(
          `Only one todo may be in_progress at a time, not ${current.length}: ${names}. Nothing was changed.`,
        );
      }
      const dropped = (lists.get(agentId) ?? []).filter(
        (old) => old.status !== 'completed' && !todos.some(({content}) => content === old.content),
      );
      lists.set(agentId, todos);
      const notes =
        dropped.length > 0 ? ` Left out unfinished: ${dropped.map(({content}) => `"${content}"`).join(', ')}.` : '';
      return textResult(`${formatProgress(todos)}.${notes}`, {display: {type: 'todos', todos}});
    },
  };
}

function formatProgress(todos: readonly Todo[]): string {
  const done = todos.filter(({status}) => status === 'completed').length;
  return `${done} of ${todos.length} todos done`;
}
