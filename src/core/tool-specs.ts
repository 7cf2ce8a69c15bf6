/** Tools as the model's server reads them: JSON Schema made from zod. */
import {z} from 'zod';
import type {ToolSpec} from './messages.ts';
import type {Tool} from './tool.ts';

/** The specs keep their bytes as long as the tools do, so that the server's prompt cache holds. */
export function toolSpecs(tools: readonly Tool[]): ToolSpec[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description.trim(),
    input_schema: inputSchema(tool),
  }));
}

function inputSchema(tool: Tool): ToolSpec['input_schema'] {
  const {$schema: _, ...schema} = z.toJSONSchema(tool.input, {io: 'input'});
  return {...schema, type: 'object'};
}
