/** Holds what the tools about runs share: TaskList, TaskOutput, TaskSend, TaskStop. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';

/** A run's id or its beginning, its path, or its number in the list, which models write as a number. */
export const runIdSchema = z.union([z.string().min(1), z.int().min(1)]);

/** Creates a tool about runs. It needs no permission, and its title is the run that the call names. */
export function createRunTool<Input extends {readonly run_id?: string | number}>(
  tool: ToolFacts & Pick<Tool<Input>, 'description' | 'input' | 'run'>,
): Tool<Input> {
  return {...tool, title: ({run_id}) => String(run_id ?? ''), access: () => [{kind: 'none'}]};
}
