/** Corrects the schemas of a server's tools, because model servers would refuse each request with one wrong schema. */
import {compileAnswerSchema} from '../../core/turn/answer-schema.ts';
import type {ServerTool} from './connection.ts';

/** Maximal number of tools of one server. Further tools are left out. */
const MAX_TOOLS = 500;
const MAX_SCHEMA_CHARS = 50_000;
/** Keys that model servers refuse at the top of a schema. */
const REFUSED = ['$schema', '$id', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'];
const PROPERTY_NAME = /^[\w.-]{1,64}$/;

/** Replaces each unusable schema by one that accepts any object. The MCP server still checks the input. */
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
