/** The request body of the Messages API, reduced to what the offline model looks at. */
import type {Message, ToolSpec} from '../core/contract/messages.ts';

export interface OfflineRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  /** False when `tool_choice` is `none`: the answer must be text. */
  readonly mayCallTools: boolean;
  readonly stream: boolean;
  /** Names of the properties that a JSON answer must have, when the request asks for one. */
  readonly answerFields: readonly string[] | undefined;
}

/** The body is no Messages API request; the text says why. */
export class BadRequest extends Error {}

/** @throws BadRequest */
export function parseRequest(body: string): OfflineRequest {
  const json = fieldsOf(parseJson(body));
  if (!Array.isArray(json.messages) || json.messages.length === 0) {
    throw new BadRequest('messages: at least one message is required');
  }
  return {
    model: typeof json.model === 'string' ? json.model : 'offline',
    system: systemText(json.system),
    tools: Array.isArray(json.tools) ? (json.tools as ToolSpec[]) : [],
    messages: json.messages as Message[],
    mayCallTools: fieldsOf(json.tool_choice).type !== 'none',
    stream: json.stream === true,
    answerFields: answerFields(json),
  };
}

/** The value as an object to look into; anything else counts as an empty one. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadRequest(`the body is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function systemText(system: unknown): string {
  if (typeof system === 'string') return system;
  if (!Array.isArray(system)) return '';
  return system.map((block) => String(fieldsOf(block).text ?? '')).join('\n\n');
}

/** Reads every place where servers of this API take an output schema. */
function answerFields(json: Record<string, unknown>): readonly string[] | undefined {
  const formats = [fieldsOf(json.output_config).format, json.output_format, json.response_format];
  for (const format of formats.map(fieldsOf)) {
    const schema = format.schema ?? fieldsOf(format.json_schema).schema;
    if (schema !== undefined) return Object.keys(fieldsOf(fieldsOf(schema).properties));
  }
  return undefined;
}
