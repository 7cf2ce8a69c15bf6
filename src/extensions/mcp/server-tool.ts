/** A tool of a server, as agents have it: `mcp__SERVER__TOOL`. */
import {createHash} from 'node:crypto';
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import {showControls, toOneLine, toShortLine} from '../../core/util/text.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import type {ServerTool} from './connection.ts';
import {toToolResult} from './result.ts';
import type {McpServer} from './server.ts';

/** Of the name of a tool, at every server of models. */
const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 2_048;
const MAX_TITLE_CHARS = 200;
/** Of a definition: as many bytes as characters, and about four a token. */
const CHARS_PER_TOKEN = 4;

/** The server checks what it gets. */
const anyInput = z.looseObject({});
type AnyInput = z.infer<typeof anyInput>;

/** The tools of a server by the names that models know. Of two tools that would have one name, the second gets a number. */
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

/** What the tool is for, in one text: nothing in it is obeyed by a terminal, and it changes no permission. */
export function describeTool({description = '', title = ''}: ServerTool): string {
  const text = showControls(description || title).trim();
  return text.length <= MAX_DESCRIPTION_CHARS ? text : `${text.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}…`;
}

export function countTokens(tool: Tool): number {
  const definition = JSON.stringify([tool.name, tool.description, tool.inputSchema]);
  return Math.ceil(definition.length / CHARS_PER_TOKEN);
}

/**
 * @param name as models know it. @param definition undefined while the server is not connected: then the call starts it
 * @param confined the server runs in the read-only sandbox
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
      return toToolResult(await server.callTool(found.name, input, {signal, onProgress}));
    },
  };
}

async function findTool(server: McpServer, name: string, signal: AbortSignal): Promise<ServerTool | undefined> {
  if (server.tools.length === 0) await server.start();
  signal.throwIfAborted();
  return nameTools(server).get(name);
}
