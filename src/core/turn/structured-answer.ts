/**
 * The answer of a run as data. The model gives it by the tool StructuredOutput, or as JSON in its text. The answer is
 * checked, and asked for again when it does not match. The tool is not forced, because some models refuse that and work
 * comes before the answer.
 */
import type {Emit} from '../contract/events.ts';
import type {AssistantBlock, Message, ModelReply, ToolSpec, ToolUse, UserBlock} from '../contract/model.ts';
import {UsageError} from '../util/errors.ts';
import {getCalls, getText} from '../util/messages.ts';
import {toShortLine} from '../util/text.ts';
import type {AppendedReply, History} from './history.ts';
import type {Inbox} from './inbox.ts';
import type {Ending, Tally} from './tally.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export interface AnswerSchema {
  readonly schema: JsonObject;
  /** @returns what is wrong with the value, for the model; undefined when it matches */
  findProblem(value: unknown): string | undefined;
}

/** Most problems of one value that the message names. */
const MAX_PROBLEMS = 10;

/**
 * Compiles a schema of draft 2020-12, or of draft 7 when the schema names it. Loads nothing from elsewhere.
 * @param where name for the error, e.g. `--json-schema`
 * @throws UsageError in one line when it is not a JSON Schema
 */
export async function compileAnswerSchema(schema: unknown, where: string): Promise<AnswerSchema> {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new UsageError(`${where}: a JSON Schema is an object, such as {"type": "object", "properties": {…}}`);
  }
  const keys = Object.keys(schema);
  if (keys.length > 0 && !keys.some((key) => KEYWORDS.has(key))) {
    const found = keys.slice(0, 3).join(', ');
    throw new UsageError(`${where} is no JSON Schema: it has ${found}, and no type, properties or the like`);
  }
  const {$schema} = schema as JsonObject;
  const isDraft7 = typeof $schema === 'string' && /draft-0[67]/.test($schema);
  const {default: ajv} = isDraft7 ? await import('ajv') : await import('ajv/dist/2020.js');
  // The package is CommonJS.
  const Ajv = ('default' in ajv ? ajv.default : ajv) as typeof import('ajv').Ajv;
  // The validator does not check formats, and ignores keywords that it does not know.
  const validator = new Ajv({allErrors: true, strict: false, validateFormats: false, logger: false});
  try {
    if (typeof $schema !== 'string' || validator.getSchema($schema)) {
      validator.validateSchema(schema);
      const [wrong] = validator.errors ?? [];
      if (wrong) throw new Error(describeWrongPart(schema, wrong.instancePath));
    }
    const validate = validator.compile(schema);
    return {
      schema: schema as JsonObject,
      findProblem: (value) => (validate(value) ? undefined : formatProblems(validate.errors ?? [])),
    };
  } catch (error) {
    const what = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
    throw new UsageError(`${where} is no JSON Schema: ${what}`, {cause: error});
  }
}

/** A schema that is not empty has at least one of these keywords. */
const KEYWORDS: ReadonlySet<string> = new Set(
  `$schema $id $ref $defs definitions type enum const properties required items prefixItems additionalProperties
  patternProperties propertyNames anyOf oneOf allOf not if minimum maximum minLength maxLength pattern format minItems
  maxItems title description`.split(/\s+/),
);

const TYPES = 'string, number, integer, boolean, object, array, null';
const MAX_PART_CHARS = 60;

/** @param pointer place of the wrong part, e.g. `/properties/age/type` */
function describeWrongPart(schema: object, pointer: string): string {
  const names = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const part = names.reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], schema);
  const shown = toShortLine(JSON.stringify(part) ?? '', MAX_PART_CHARS);
  const types = names.at(-1) === 'type' ? `; a type is one of ${TYPES}` : '';
  return `${names.join('.')} cannot be ${shown}${types}`;
}

function formatProblems(
  errors: readonly {readonly instancePath: string; readonly message?: string; readonly params: object}[],
): string {
  const texts = errors.map(({instancePath, message = 'is wrong', params}) => {
    const {additionalProperty, allowedValues} = params as Readonly<Record<string, unknown>>;
    const detail = additionalProperty ?? (allowedValues === undefined ? undefined : JSON.stringify(allowedValues));
    return `${instancePath || 'the answer'} ${message}${detail === undefined ? '' : `: ${String(detail)}`}`;
  });
  const more = texts.length > MAX_PROBLEMS ? `; and ${texts.length - MAX_PROBLEMS} more` : '';
  return `${[...new Set(texts)].slice(0, MAX_PROBLEMS).join('; ')}${more}`;
}

export const ANSWER_TOOL = 'StructuredOutput';
/** Most further attempts after the first answer. */
const MAX_MORE_ASKS = 3;
/** Code of a run that never gave an answer that matches. */
export const NO_MATCHING_ANSWER = 'STRUCTURED_OUTPUT';

export const ANSWER_PROMPT = `Your final answer is data. When the work is done, call the tool ${ANSWER_TOOL} once, with an input that matches its schema; write nothing after it.`;
/** Added to the report prompt when the model may not call tools. */
export const ANSWER_AS_TEXT = `Report as JSON that matches the schema of ${ANSWER_TOOL}, and with nothing else.`;

interface TakenAnswer {
  /** The end of the run; `again` when the answer does not match, so that the model is asked again. */
  readonly end: Ending | 'again';
  /** Present when the answer matches. */
  readonly answer?: {readonly value: unknown};
  /** Answer to the model's call, or what is wrong. */
  readonly message?: Message;
}

/** Ending for the offline model, which creates no structured data. */
export const NO_DATA_OFFLINE: Ending = {
  outcome: 'error',
  code: 'UNABLE',
  error: 'the offline model cannot answer by a JSON Schema: set ANTHROPIC_API_KEY or a provider for a real model',
};

export class StructuredAnswer {
  readonly spec: ToolSpec;
  readonly #isWrapped: boolean;
  #asks = 0;

  constructor(private readonly answer: AnswerSchema) {
    this.#isWrapped = !isToolSchema(answer.schema);
    this.spec = {
      name: ANSWER_TOOL,
      description: 'Gives the final answer of the whole work. Call it once, at the end.',
      input_schema: this.#isWrapped ? wrap(answer.schema) : withoutDialect(answer.schema),
    };
  }

  /**
   * @param badInputs inputs that could not be read, by the id of the call
   * @param mayBeText whether the reply ended by itself
   * @returns undefined when the reply gives no answer: it works on, or says nothing
   */
  take(
    content: readonly AssistantBlock[],
    badInputs: ReadonlyMap<string, string>,
    mayBeText: boolean,
  ): TakenAnswer | undefined {
    const calls = getCalls(content);
    const call = calls.find(({name}) => name === ANSWER_TOOL);
    if (call) return this.#takeCall(call, calls, badInputs.get(call.id));
    const text = getText(content);
    if (calls.length > 0 || !mayBeText || text === '') return undefined;
    return this.#takeText(text);
  }

  #takeCall(call: ToolUse, calls: readonly ToolUse[], badInput: string | undefined): TakenAnswer {
    const value = this.#isWrapped ? (call.input as {readonly value?: unknown}).value : call.input;
    const problem = badInput === undefined ? this.answer.findProblem(value) : `the input ${badInput}`;
    const respond = (text: string, isError: boolean): Message => ({
      role: 'user',
      content: calls.map(({id}) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: id === call.id ? text : `Not run: ${ANSWER_TOOL} was called in the same reply.`,
        ...((isError || id !== call.id) && {is_error: true}),
      })),
    });
    if (problem === undefined) return {...accept(value), message: respond('Taken.', false)};
    return this.#again(problem, (text) => respond(text, true));
  }

  #takeText(text: string): TakenAnswer {
    const [, fenced] = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text.trim()) ?? [];
    try {
      const value: unknown = JSON.parse(fenced ?? text);
      const problem = this.answer.findProblem(value);
      if (problem === undefined) return accept(value);
      return this.#again(problem, toUserText);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return this.#again('it is no JSON', toUserText);
    }
  }

  #again(problem: string, toMessage: (text: string) => Message): TakenAnswer {
    this.#asks += 1;
    const text = `The answer does not match the schema: ${problem}.`;
    if (this.#asks <= MAX_MORE_ASKS) {
      return {end: 'again', message: toMessage(`${text} Call ${ANSWER_TOOL} with an input that matches.`)};
    }
    const error = `no answer matched the schema, after ${MAX_MORE_ASKS} more asks: ${problem}`;
    return {end: {outcome: 'error', code: NO_MATCHING_ANSWER, error}, message: toMessage(text)};
  }
}

function accept(value: unknown): TakenAnswer {
  return {end: {outcome: 'success'}, answer: {value}};
}

/**
 * @returns how the run ends; `again` when the model is asked again; undefined when the reply is no structured answer
 */
export function takeAnswer(
  answer: StructuredAnswer | undefined,
  run: {readonly history: History; readonly inbox: Inbox; readonly emit: Emit},
  {content, badInputs, stopReason}: Pick<ModelReply, 'content' | 'stopReason'> & Pick<AppendedReply, 'badInputs'>,
  tally: Tally,
): Ending | 'again' | undefined {
  const taken = answer?.take(content, badInputs, stopReason === 'end_turn' || stopReason === 'stop_sequence');
  if (!taken) return undefined;
  if (taken.message) {
    if (typeof taken.message.content === 'string') run.history.appendNote(taken.message.content);
    else run.history.append(taken.message);
    run.emit({type: 'message', role: 'user', content: taken.message.content as string | readonly UserBlock[]});
  }
  if (!taken.answer) return taken.end;
  tally.setStructured(taken.answer.value);
  return run.inbox.size > 0 ? 'again' : taken.end;
}

function toUserText(text: string): Message {
  return {role: 'user', content: text};
}

const COMBINATORS = ['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'enum', 'const'];

/** Servers accept only objects as the input of a tool, without a choice at the top. */
function isToolSchema(schema: AnswerSchema['schema']): boolean {
  return schema.type === 'object' && !COMBINATORS.some((key) => Object.hasOwn(schema, key));
}

/** References point to the definitions, which therefore stay at the top. */
function wrap(schema: AnswerSchema['schema']): ToolSpec['input_schema'] {
  const {$schema: _, $id: _i, $defs, definitions, ...value} = schema;
  return {
    type: 'object',
    properties: {value},
    required: ['value'],
    ...($defs !== undefined && {$defs}),
    ...(definitions !== undefined && {definitions}),
  };
}

function withoutDialect(schema: AnswerSchema['schema']): ToolSpec['input_schema'] {
  const {$schema: _, $id: _i, ...rest} = schema;
  return {...rest, type: 'object'};
}
