/** Turns a tool of an MCP server into a tool for agents, with the name `mcp__SERVER__TOOL`. */
import {createHash} from 'node:crypto';
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import {cutEnd, showControls, toOneLine, toShortLine} from '../../core/util/text.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import type {ServerTool} from './connection.ts';
import {toToolResult} from './result.ts';
import type {McpServer} from './server.ts';

/** Maximal characters of a tool's name at every model server. */
const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 2_048;
const MAX_TITLE_CHARS = 200;
/** Characters of a definition for each token: about four. */
const CHARS_PER_TOKEN = 4;

/** Accepts any object, because the MCP server checks its input. */
const anyInput = z.looseObject({});
type AnyInput = z.infer<typeof anyInput>;

/** Names the tools of a server for models. When two tools would have the same name, the second one gets a number. */
export function nameTools(server: McpServer): ReadonlyMap<string, ServerTool> {
  const named = new Map<string, ServerTool>();
  for (const tool of server.tools) {
    const name = toModelName(server.id, tool.name);
    let unused = name;
    for (let number = 2; named.has(unused); number += 1) unused = `${name.slice(0, MAX_NAME_CHARS - 3)}_${number}`;
    named.set(unused, tool);
  }
  return named;
}

function toModelName(serverId: string, tool: string): string {
  const name = `mcp__${serverId}__${tool.replace(/[^\w-]/g, '_')}`;
  if (name.length <= MAX_NAME_CHARS) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return `${name.slice(0, MAX_NAME_CHARS - 7)}_${hash}`;
}

/** Returns the description of a tool with visible control characters, so that it cannot control a terminal. */
export function describeTool({description = '', title = ''}: ServerTool): string {
  return cutEnd(showControls(description || title).trim(), MAX_DESCRIPTION_CHARS);
}

export function countTokens(tool: Tool): number {
  const definition = JSON.stringify([tool.name, tool.description, tool.inputSchema]);
  return Math.ceil(definition.length / CHARS_PER_TOKEN);
}

/**
 * @param name the name for models
 * @param definition undefined while the server is not connected; the call then starts it
 * @param confined true when the server runs in the read-only sandbox
 */
export function createServerTool(
  server: McpServer,
  name: string,
  definition: ServerTool | undefined,
  confined: boolean,
): Tool<AnyInput> {
  return {
    name,
    description: definition ? describeTool(definition) : '',
    input: anyInput,
    inputSchema: {type: 'object', properties: {}, ...definition?.inputSchema},
    title: (input) => toShortLine(JSON.stringify(input), MAX_TITLE_CHARS),
    access: (input) => [{kind: 'mcp', server: server.name, detail: JSON.stringify(input, null, 2), confined}],
    async run(input, {signal, emit, callId}) {
      const found = definition ?? (await findTool(server, name, signal));
      if (!found) {
        const names = [...nameTools(server).keys()].join(', ');
        return errorResult(`The MCP server ${server.name} has no tool ${name}. It has: ${names || 'none'}`);
      }
      const onProgress = (text: string) => emit({type: 'tool_progress', callId, text: showControls(toOneLine(text))});
      return toToolResult(await server.callTool(found, input, {signal, onProgress}));
    },
  };
}

async function findTool(server: McpServer, name: string, signal: AbortSignal): Promise<ServerTool | undefined> {
  if (server.tools.length === 0) await server.start();
  signal.throwIfAborted();
  return nameTools(server).get(name);
}
