/** One question to a model outside any conversation: no tools, no history. */

import {type ZodType, z} from 'zod';
import type {ToolSpec} from '../contract/messages.ts';
import type {Model, ModelReply, ModelRequest} from '../contract/model.ts';
import type {Tool} from '../contract/tool.ts';
import {getText} from '../util/messages.ts';

export interface ModelQuestion extends Pick<ModelRequest, 'system' | 'maxOutputTokens' | 'answerSchema'> {
  readonly prompt: string;
}

const SYSTEM = 'You answer with one JSON object that fits the asked schema, and with nothing else.';

/** @throws ModelError when the call failed; the signal's reason when aborted. */
export function askModel(
  model: Model,
  {system, prompt, ...limits}: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelReply> {
  const messages = [{role: 'user' as const, content: prompt}];
  return model.reply({...limits, system, tools: [], messages, mayCallTools: false, signal}, () => undefined);
}

/** The same, with an answer by a schema. */
export async function askModelForJson(
  model: Model,
  prompt: string,
  answerSchema: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  const reply = await askModel(model, {system: SYSTEM, prompt, answerSchema}, signal);
  return getText(reply.content);
}

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
