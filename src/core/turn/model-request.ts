/** What requests to a model are made of: the specifications of tools, and questions outside of a conversation. */

import {isDeepStrictEqual} from 'node:util';
import {type ZodType, z} from 'zod';
import type {AgentEventBody} from '../contract/events.ts';
import type {Model, ModelProgress, ModelReply, ModelRequest, ToolSpec, Usage} from '../contract/model.ts';
import type {Tool} from '../contract/tool.ts';
import {countTokens, getText} from '../util/messages.ts';

interface ModelQuestion extends Pick<ModelRequest, 'system' | 'maxOutputTokens' | 'answerSchema'> {
  readonly prompt: string;
}

const JSON_SYSTEM = 'You answer with one JSON object that fits the asked schema, and with nothing else.';

/** What a model call used; called once for each of its attempts that used something. */
export type OnUsage = (usage: Usage, model: string) => void;

/**
 * Asks one question, without tools and without a history.
 * @throws ModelError when the call failed; the signal's reason when aborted.
 */
export async function askModel(
  model: Model,
  {system, prompt, ...limits}: ModelQuestion,
  signal: AbortSignal,
  onUsage: OnUsage,
): Promise<ModelReply> {
  const messages = [{role: 'user' as const, content: prompt}];
  let attempt: {readonly usage: Usage; readonly model: string} | undefined;
  const countAttempt = () => {
    if (attempt && countTokens(attempt.usage) > 0) onUsage(attempt.usage, attempt.model);
    attempt = undefined;
  };
  try {
    const request = {...limits, system, tools: [], messages, mayCallTools: false, signal};
    const reply = await model.reply(request, (progress) => {
      if (progress.type === 'usage') attempt = progress;
      else if (progress.type === 'retry') countAttempt();
    });
    attempt = reply;
    return reply;
  } finally {
    countAttempt();
  }
}

/**
 * Asks one question whose answer is JSON by the schema. The caller parses and checks it.
 * @throws ModelError when the call failed; the signal's reason when aborted.
 */
export async function askModelForJson(
  model: Model,
  prompt: string,
  answerSchema: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  onUsage: OnUsage,
): Promise<string> {
  const reply = await askModel(model, {system: JSON_SYSTEM, prompt, answerSchema}, signal, onUsage);
  return getText(reply.content);
}

/**
 * Converts tools to the specifications that a model server reads: JSON Schema, made from zod once for each schema.
 * One for each run. The specifications keep their bytes while the tools do not change, so that the server's prompt
 * cache stays valid.
 */
export class ToolSpecs {
  readonly #schemas = new WeakMap<ZodType, ToolSpec['input_schema']>();
  #created: readonly ToolSpec[] = [];

  /** @param answer a further tool, by which the model answers. @returns the same array as long as nothing changed */
  create(tools: readonly Tool[], answer?: ToolSpec): readonly ToolSpec[] {
    const created = tools.map((tool) => ({
      name: tool.name,
      description: tool.description.trim(),
      input_schema: tool.inputSchema ? {...tool.inputSchema, type: 'object' as const} : this.#getSchema(tool.input),
    }));
    const all: readonly ToolSpec[] = answer ? [...created, answer] : created;
    if (!isDeepStrictEqual(all, this.#created)) this.#created = all;
    return this.#created;
  }

  #getSchema(input: ZodType): ToolSpec['input_schema'] {
    const known = this.#schemas.get(input);
    if (known) return known;
    const created = toSentSchema(input);
    this.#schemas.set(input, created);
    return created;
  }
}

/** Bounds that a model keeps to without being told. The check of each call still has them. */
const UNSAID = ['minLength', 'minItems', 'minimum', 'exclusiveMinimum', 'pattern'];

/** A few lines of context need no bound that is told, and no number needs that of all numbers. */
function isSaid(maximum: number | undefined): boolean {
  return maximum !== undefined && maximum > 100 && maximum < Number.MAX_SAFE_INTEGER;
}

/** The JSON Schema of an input as it goes along with each request: in few words. */
function toSentSchema(input: ZodType): ToolSpec['input_schema'] {
  const {$schema: _, ...schema} = z.toJSONSchema(input, {
    io: 'input',
    override: ({jsonSchema}) => {
      for (const key of UNSAID) delete jsonSchema[key as keyof typeof jsonSchema];
      if (!isSaid(jsonSchema.maximum)) delete jsonSchema.maximum;
      if (JSON.stringify(jsonSchema.additionalProperties) === '{}') delete jsonSchema.additionalProperties;
      const {anyOf = []} = jsonSchema;
      const types = anyOf.flatMap((each) => (Object.keys(each).join() === 'type' ? [each.type] : []));
      if (anyOf.length === 0 || types.length < anyOf.length) return;
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, {type: types});
    },
  });
  return {...schema, type: 'object'};
}

/** What a model call reports, as the event of its run. @param rawStream also the raw events of the stream */
export function toProgressEvent(progress: ModelProgress, rawStream: boolean): AgentEventBody | undefined {
  switch (progress.type) {
    case 'text':
      return {type: 'text_delta', text: progress.text};
    case 'thinking':
      return {type: 'thinking_delta', text: progress.text};
    case 'raw':
      return rawStream ? {type: 'stream', event: progress.event} : undefined;
    case 'retry':
      return progress;
    case 'usage':
      return undefined;
  }
}
