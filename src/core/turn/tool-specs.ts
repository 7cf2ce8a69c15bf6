/** Tools as the model's server reads them: JSON Schema made from zod, once a schema. */
import {type ZodType, z} from 'zod';
import type {ToolSpec} from '../contract/messages.ts';
import type {Tool} from '../contract/tool.ts';

/** One for each run. The specs keep their bytes as long as the tools do, so that the server's prompt cache holds. */
export class ToolSpecs {
  readonly #schemas = new WeakMap<ZodType, ToolSpec['input_schema']>();

  of(tools: readonly Tool[]): ToolSpec[] {
    return tools.map((tool) => ({
      name: tool.name,
      description: tool.description.trim(),
      input_schema: this.#schemaOf(tool.input),
    }));
  }

  #schemaOf(input: ZodType): ToolSpec['input_schema'] {
    const known = this.#schemas.get(input);
    if (known) return known;
    const {$schema: _, ...schema} = z.toJSONSchema(input, {io: 'input'});
    const made = {...schema, type: 'object'} as const;
    this.#schemas.set(input, made);
    return made;
  }
}
