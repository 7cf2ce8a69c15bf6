/** Calls a model within the budgets, for a conversation or a question, and creates parts of requests. */

import {isDeepStrictEqual} from 'node:util';
import {type ZodType, z} from 'zod';
import type {AgentEventBody} from '../contract/events.ts';
import type {Message, Model, ModelProgress, ModelReply, ModelRequest, ToolSpec, Usage} from '../contract/model.ts';
import type {Budget, Tool} from '../contract/tool.ts';
import {followAbort} from '../util/abort.ts';
import {countTokens, getText} from '../util/messages.ts';
import {BudgetReached} from './budget.ts';
import {estimateText} from './context-window.ts';

interface ModelQuestion extends Pick<ModelRequest, 'system' | 'maxOutputTokens' | 'answerSchema'> {
  /** Text of the question, or the messages that end with it. */
  readonly prompt: string | readonly Message[];
}

const JSON_SYSTEM = 'You answer with one JSON object that fits the asked schema, and with nothing else.';

/** Characters of a system prompt that tell one kind of question from another. */
const KIND_CHARS = 40;

/** The budget that model calls spend from, and the function that records their usage. */
export interface Account {
  readonly budget: Budget;
  /** Gets what each call used, once for each attempt that used something. The budget has spent it already. */
  readonly onUsage: (usage: Usage, model: string) => void;
}

/** The estimated size of a request. */
interface RequestSize {
  readonly tokens: number;
  /** True when a server's count of the same conversation corrects the estimate. */
  readonly isCounted: boolean;
  readonly kind?: string;
}

/**
 * Makes one model call within the budgets: what it can cost is reserved before it starts, and what it used is spent at
 * its end. The usage of failed and cut attempts goes to the account, that of the reply is in the reply.
 * @throws ModelError when the call failed, MiniCcError `BUDGET` when it does not fit; the signal's reason when aborted
 */
export async function callModel(
  model: Model,
  request: ModelRequest,
  {tokens, isCounted, kind}: RequestSize,
  {budget, onUsage}: Account,
  onProgress: (progress: ModelProgress) => void = () => undefined,
): Promise<ModelReply> {
  const maxOutputTokens = Math.max(
    1,
    Math.min(model.maxOutputTokens, request.maxOutputTokens ?? model.maxOutputTokens),
  );
  const size = {model, inputTokens: tokens, isCounted, kind, maxOutputTokens};
  const reserved = await sayWaiting(budget.reserve(size, request.signal), onProgress);
  const ending = new AbortController();
  const unfollow = followAbort(request.signal, ending);
  let attempt: {readonly usage: Usage; readonly model: string} | undefined;
  const spendAttempt = () => {
    const used = attempt;
    attempt = undefined;
    if (!used || countTokens(used.usage) === 0) return;
    reserved.spend(used.usage, used.model);
    onUsage(used.usage, used.model);
  };
  const sent: ModelRequest = {
    ...request,
    maxOutputTokens: reserved.maxOutputTokens,
    inputTokens: reserved.inputTokens,
    signal: ending.signal,
  };
  try {
    const reply = await model.reply(sent, (progress) => {
      if (progress.type === 'usage') {
        if (progress.isCounted) reserved.count(progress.usage);
        attempt = progress;
      } else if (progress.type === 'retry') {
        spendAttempt();
        if (reserved.uncovered !== undefined) ending.abort(new BudgetReached(reserved.uncovered));
      }
      onProgress(progress);
    });
    attempt = undefined;
    reserved.count(reply.usage);
    reserved.spend(reply.usage, reply.model);
    return reply;
  } finally {
    unfollow();
    spendAttempt();
    reserved.release();
  }
}

const SAY_WAITING_AFTER_MS = 5_000;

/** Reports once why a call does not begin yet. Another call that hangs keeps its reservation until its time limit. */
async function sayWaiting<T>(reserved: Promise<T>, onProgress: (progress: ModelProgress) => void): Promise<T> {
  const text =
    'waits for other model calls to end, for which what is left of the budget is set aside; it goes on by itself';
  const timer = setTimeout(() => onProgress({type: 'warning', text}), SAY_WAITING_AFTER_MS);
  return reserved.finally(() => clearTimeout(timer));
}

/**
 * Asks one question, without tools and outside of the history.
 * @throws what `callModel` throws
 */
export async function askModel(
  model: Model,
  {system, prompt, ...limits}: ModelQuestion,
  signal: AbortSignal,
  account: Account,
  onProgress?: (progress: ModelProgress) => void,
): Promise<ModelReply> {
  const messages = typeof prompt === 'string' ? [{role: 'user' as const, content: prompt}] : prompt;
  const asked = typeof prompt === 'string' ? prompt : JSON.stringify(prompt);
  const request = {...limits, system, tools: [], messages, mayCallTools: false, signal};
  const kind = system.slice(0, KIND_CHARS);
  const size = {tokens: estimateText(system) + estimateText(asked), isCounted: false, kind};
  const reply = await callModel(model, request, size, account, onProgress);
  account.onUsage(reply.usage, reply.model);
  return reply;
}

/**
 * Asks one question whose answer is JSON by the schema. The caller parses and checks it.
 * @throws what `callModel` throws
 */
export async function askModelForJson(
  model: Model,
  prompt: string,
  answerSchema: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  account: Account,
): Promise<string> {
  const reply = await askModel(model, {system: JSON_SYSTEM, prompt, answerSchema}, signal, account);
  return getText(reply.content);
}

/**
 * Converts tools to the specifications that a model server reads, with JSON Schemas made from zod. Each run has one
 * converter. The specifications keep their bytes while the tools do not change, so that the server's prompt cache stays
 * valid.
 */
export class ToolSpecs {
  #created: readonly ToolSpec[] = [];

  /** @param answer additional tool by which the model answers @returns the same array as long as nothing changed */
  create(tools: readonly Tool[], answer?: ToolSpec): readonly ToolSpec[] {
    const created = tools.map((tool) => ({
      name: tool.name,
      description: tool.description.trim(),
      input_schema: tool.inputSchema ? {...tool.inputSchema, type: 'object' as const} : getSchema(tool.input),
    }));
    const all: readonly ToolSpec[] = answer ? [...created, answer] : created;
    const isSame = all.length === this.#created.length && all.every((spec, at) => isEqual(spec, this.#created[at]!));
    if (!isSame) this.#created = all;
    return this.#created;
  }
}

/** Most schemas are the same objects as before, whose comparison takes no time. */
function isEqual(one: ToolSpec, other: ToolSpec): boolean {
  const isSameText = one.name === other.name && one.description === other.description;
  return isSameText && (one.input_schema === other.input_schema || isDeepStrictEqual(one, other));
}

/** Schemas by the input from which they were made. All runs share them. */
const schemas = new WeakMap<ZodType, ToolSpec['input_schema']>();

function getSchema(input: ZodType): ToolSpec['input_schema'] {
  const created = schemas.get(input) ?? toSentSchema(input);
  schemas.set(input, created);
  return created;
}

/**
 * Bounds that the sent schema leaves out, because models respect them anyway. The check of each call still applies
 * them.
 */
const UNSAID = ['minLength', 'minItems', 'minimum', 'exclusiveMinimum', 'pattern'];

/** The sent schema leaves out small maxima, which models respect anyway, and the maximum of all safe integers. */
function isSaid(maximum: number | undefined): boolean {
  return maximum !== undefined && maximum > 100 && maximum < Number.MAX_SAFE_INTEGER;
}

/** Creates the short JSON Schema of an input that is sent with each request. Fields with `unsaid` are left out. */
function toSentSchema(input: ZodType): ToolSpec['input_schema'] {
  const {
    $schema: _,
    properties = {},
    ...schema
  } = z.toJSONSchema(input, {
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
  const said = Object.entries(properties).filter(([, value]) => typeof value !== 'object' || !value.unsaid);
  return {...schema, properties: Object.fromEntries(said), type: 'object'};
}

/**
 * Converts a report of a model call to an event of its run.
 * @param rawStream whether raw events of the stream are included
 */
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
    case 'warning':
      return {type: 'notice', level: 'warning', text: progress.text};
    case 'usage':
      return undefined;
  }
}
