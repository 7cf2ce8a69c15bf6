/** Connects MCP servers in the driver's own process. Their messages go both ways as `mcp_message` requests. */
import {z} from 'zod';
import {MiniCcError} from '../../core/util/errors.ts';
import type {DriverServers} from '../../extensions/mcp/driver-transport.ts';
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
