/** Connects MCP servers in the driver's own process. Their messages go both ways as `mcp_message` requests. */
import {z} from 'zod';
import type {McpEntries, McpServerState} from '../../core/contract/mcp.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import type {DriverServers} from '../../extensions/mcp/driver-transport.ts';
import {type Handler, handler} from './control-handler.ts';
import type {Initialize} from './initialize.ts';

/**
 * Sends a request to the driver.
 * @returns its response.
 * @throws Error when the driver refuses the request or has left
 */
type CallDriver = (request: object, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

/** The tools of a server, which the driver sends before the server is started. */
const manifestSchema = z.looseObject({
  toolsListResult: z.looseObject({
    tools: z.array(z.looseObject({name: z.string(), inputSchema: z.looseObject({type: z.literal('object')})})),
  }),
});

export class MessageServers implements DriverServers {
  readonly names: readonly string[];
  readonly #manifests: Readonly<Record<string, unknown>>;
  readonly #call: CallDriver;
  readonly #listeners = new Map<string, (message: object) => void>();

  constructor({sdkMcpServers = [], sdkMcpServerManifests = {}}: Initialize, call: CallDriver) {
    this.names = sdkMcpServers;
    this.#manifests = sdkMcpServerManifests;
    this.#call = call;
  }

  getTools(server: string): ReturnType<DriverServers['getTools']> {
    const manifest = Object.hasOwn(this.#manifests, server) ? this.#manifests[server] : undefined;
    return manifestSchema.safeParse(manifest).data?.toolsListResult.tools ?? [];
  }

  async send(server: string, message: object): Promise<unknown> {
    const {mcp_response: answer} = await this.#call(
      {subtype: 'mcp_message', server_name: server, message},
      new AbortController().signal,
    );
    return answer;
  }

  listen(server: string, listener: (message: object) => void): () => void {
    this.#listeners.set(server, listener);
    return () => this.#listeners.delete(server);
  }

  /** Passes on a message that the driver's server sends by itself. */
  receive(server: string, message: object): void {
    const listener = this.#listeners.get(server);
    if (!listener) throw new MiniCcError('NO_SUCH_SERVER', `the MCP server ${server} is not connected`);
    listener(message);
  }
}

/** Milliseconds that `mcp_status` waits for servers that start. */
const STATUS_WAIT_MS = 2_000;

export const SERVER_HANDLERS: Readonly<Record<string, Handler>> = {
  mcp_status: handler(z.looseObject({}), async (_, {session}) => {
    // A driver that asks for the state needs the servers, so they are started.
    const started = session.request({type: 'start_mcp_servers'});
    await Promise.race([started, new Promise((resolve) => setTimeout(resolve, STATUS_WAIT_MS))]);
    return {mcpServers: session.request({type: 'mcp_servers'}).map(toStatus)};
  }),
  mcp_set_servers: handler(z.looseObject({servers: z.record(z.string(), z.unknown())}), ({servers}, {session}) =>
    session.request({type: 'set_mcp_servers', servers: servers as McpEntries}),
  ),
  mcp_reconnect: handler(z.looseObject({serverName: z.string()}), async ({serverName: server}, {session}) => {
    await session.request({type: 'reconnect_mcp_server', server});
    return {};
  }),
  mcp_toggle: handler(
    z.looseObject({serverName: z.string(), enabled: z.boolean()}),
    async ({serverName: server, enabled}, {session}) => {
      await session.request({type: 'enable_mcp_server', server, enabled});
      return {};
    },
  ),
  mcp_message: handler(
    z.looseObject({server_name: z.string(), message: z.looseObject({})}),
    ({server_name: server, message}, {receive}) => {
      receive(server, message);
      return {};
    },
  ),
};

/** Converts the state of a server. The protocol has no status for a server that is not approved. */
function toStatus({name, status, problem, version, tools, from}: McpServerState) {
  return {
    name,
    status: status === 'not-approved' ? 'disabled' : status,
    scope: from,
    ...(problem !== undefined && {error: problem}),
    ...(version !== undefined && {serverInfo: toServerInfo(version)}),
    tools: tools.map((tool) => ({name: tool.name, description: tool.description})),
  };
}

function toServerInfo(version: string) {
  const at = version.lastIndexOf(' ');
  return at < 0 ? {name: version, version: ''} : {name: version.slice(0, at), version: version.slice(at + 1)};
}
