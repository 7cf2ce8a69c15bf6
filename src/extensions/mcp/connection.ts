/** Connects to one server, from the handshake to the end. Only this module loads the MCP client. */
import {
  Client,
  type JsonSchemaValidator,
  type Prompt,
  type Tool as ServerTool,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import {version} from '../../../package.json';
import {getErrorCode, getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {toOneLine} from '../../core/util/text.ts';
import type {ServerProgram} from '../../sandbox/launch/run-server.ts';
import type {ServerConfig} from './server-entry.ts';
import {StdioTransport} from './stdio-transport.ts';

export type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Tool as ServerTool,
} from '@modelcontextprotocol/client';

export interface ConnectOptions {
  /** The entry, whose variables are replaced by values. */
  readonly config: ServerConfig;
  /** How a program starts. */
  readonly program: Pick<ServerProgram, 'cwd' | 'env' | 'confine' | 'processes'>;
  /** Transport of a server in the process of the driver. */
  readonly transport?: Transport | undefined;
  readonly connectMs: number;
  readonly signal: AbortSignal;
  /** Called when the server ended, or when its tools or prompts changed. */
  readonly onChange: (what: 'end' | 'tools' | 'prompts') => void;
}

export type Connection = Awaited<ReturnType<typeof connect>>;

/** Milliseconds that a hanging server has to answer a ping. */
const PING_MS = 2_000;

/** @throws MiniCcError `MCP_AUTH` when the server requires a login, `MCP_START` for every other failure, in one line */
export async function connect({config, program, transport: given, connectMs, signal, onChange}: ConnectOptions) {
  const transport = given ?? createTransport(config, program);
  const client = createClient(onChange);
  let isOpen = true;
  client.onclose = () => {
    if (isOpen) onChange('end');
    isOpen = false;
  };
  const limits = {timeout: connectMs, signal};
  const ending = () => (transport instanceof StdioTransport ? transport.ending : '');
  try {
    await client.connect(transport, limits);
  } catch (error) {
    isOpen = false;
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    throw toStartError(error, ending(), connectMs);
  }
  const {name = '', version: its = ''} = client.getServerVersion() ?? {};
  return {
    ...createRequests(client, limits),
    version: toOneLine(`${name} ${its}`),
    ending,
    isOpen: () => isOpen,
    async close() {
      isOpen = false;
      await client.close();
    },
  };
}

function createClient(onChange: ConnectOptions['onChange']): Client {
  return new Client(
    {name: 'mini-cc', title: 'mini-cc', version},
    {
      capabilities: {},
      // The model reads the result as text, so it need not match the server's own schema.
      jsonSchemaValidator: {
        getValidator:
          <T>(): JsonSchemaValidator<T> =>
          (data) => ({valid: true, data: data as T, errorMessage: undefined}),
      },
      listChanged: {
        tools: {autoRefresh: false, onChanged: () => onChange('tools')},
        prompts: {autoRefresh: false, onChanged: () => onChange('prompts')},
      },
    },
  );
}

function createRequests(client: Client, limits: {readonly timeout: number; readonly signal: AbortSignal}) {
  return {
    listTools: async (): Promise<ServerTool[]> =>
      client.getServerCapabilities()?.tools ? (await client.listTools(undefined, limits)).tools : [],
    listPrompts: async (): Promise<Prompt[]> =>
      client.getServerCapabilities()?.prompts ? (await client.listPrompts(undefined, limits)).prompts : [],
    /** Calls a tool. `onProgress` gets the server's progress messages, and each of them restarts the time limit. */
    callTool: (
      name: string,
      input: Record<string, unknown>,
      options: {timeoutMs: number; signal: AbortSignal; onProgress: (text: string) => void},
    ) =>
      client.callTool(
        {name, arguments: input},
        {
          timeout: options.timeoutMs,
          signal: options.signal,
          resetTimeoutOnProgress: true,
          onprogress: ({message}) => message !== undefined && options.onProgress(message),
        },
      ),
    getPrompt: (name: string, args: Record<string, string>, signal: AbortSignal) =>
      client.getPrompt({name, arguments: args}, {signal}),
    readResource: (uri: string, signal: AbortSignal) => client.readResource({uri}, {signal}),
    async answersPing() {
      try {
        await client.ping({timeout: PING_MS});
        return true;
      } catch {
        return false;
      }
    },
  };
}

function createTransport(config: ServerConfig, program: ConnectOptions['program']): Transport {
  switch (config.type) {
    case 'stdio': {
      const {command, args, env} = config;
      return new StdioTransport({...program, command, args, env: {...program.env, ...env}});
    }
    case 'http':
      return new StreamableHTTPClientTransport(new URL(config.url), {requestInit: {headers: {...config.headers}}});
    case 'sse':
      return new SSEClientTransport(new URL(config.url), {requestInit: {headers: {...config.headers}}});
    case 'sdk':
      throw new MiniCcError('MCP_START', 'the program that drives the session does not have it');
  }
}

function toStartError(error: unknown, ending: string, connectMs: number): MiniCcError {
  if (isLoginWanted(error)) {
    return new MiniCcError('MCP_AUTH', 'it wants a login: give its entry a header, such as Authorization');
  }
  const why =
    getErrorCode(error) === 'REQUEST_TIMEOUT'
      ? `it did not answer within ${connectMs / 1000} s`
      : ending !== ''
        ? `it ended (${ending})`
        : explain(error);
  return new MiniCcError('MCP_START', toOneLine(why), {cause: error});
}

function isLoginWanted(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = 'status' in error ? error.status : undefined;
  return status === 401 || error.name === 'UnauthorizedError' || /\b401\b|unauthorized/i.test(error.message);
}

/** Adds the cause to the message, because `fetch failed` alone says nothing. */
function explain(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${getErrorMessage(error)}${cause}`;
}
