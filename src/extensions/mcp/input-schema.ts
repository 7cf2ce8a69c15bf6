/** The schemas of a server's tools, made such that servers of models take them: one wrong schema would fail each request. */
import {compileAnswerSchema} from '../../core/turn/answer-schema.ts';
import type {ServerTool} from './connection.ts';

/** More tools of one server are left out. */
const MAX_TOOLS = 500;
const MAX_SCHEMA_CHARS = 50_000;
/** Keys at the top that servers of models refuse there. */
const REFUSED = ['$schema', '$id', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'];
const PROPERTY_NAME = /^[\w.-]{1,64}$/;

/** A schema that cannot be used becomes one that takes any object: the server still checks what it gets. */
export async function withValidSchemas(tools: readonly ServerTool[]): Promise<readonly ServerTool[]> {
  return Promise.all(
    tools.slice(0, MAX_TOOLS).map(async (tool) => ({...tool, inputSchema: await toValidSchema(tool.inputSchema)})),
  );
}

async function toValidSchema(written: Readonly<Record<string, unknown>>): Promise<ServerTool['inputSchema']> {
  const schema = Object.fromEntries(Object.entries(written).filter(([key]) => !REFUSED.includes(key)));
  const {properties = {}} = schema;
  const isFit =
    JSON.stringify(schema).length <= MAX_SCHEMA_CHARS &&
    typeof properties === 'object' &&
    Object.keys(properties as object).every((name) => PROPERTY_NAME.test(name));
  if (!isFit) return {type: 'object'};
  try {
    await compileAnswerSchema(schema, 'a tool');
    return {...schema, type: 'object'} as ServerTool['inputSchema'];
  } catch {
    return {type: 'object'};
  }
}
