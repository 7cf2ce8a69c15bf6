/** Connects to one server, from the handshake to the end. Only this module loads the MCP client. */
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {
  type AuthProvider,
  Client,
  type ClientOptions,
  InsufficientScopeError,
  type JsonSchemaValidator,
  type PriorDiscovery,
  type Progress,
  type Prompt,
  ProtocolError,
  type Tool as ServerTool,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import {version} from '../../../package.json';
import {getErrorCode, getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {toOneLine} from '../../core/util/text.ts';
import type {ServerProgram} from '../../sandbox/launch/run-server.ts';
import {createSessionAuth, type Login, type SessionAuth} from './authorization.ts';
import {createBrowserAuth, type ShowAddress} from './browser-login.ts';
import {CallTimers} from './call-timers.ts';
import type {DriverServers} from './driver-transport.ts';
import {type AskPerson, elicit} from './elicitation.ts';
import {describeLogin} from './login-store.ts';
import {type ListName, normalizeMessages} from './normalized-messages.ts';
import {createSampler, refuseSampling, type Sampling} from './sampling.ts';
import type {ServerConfig} from './server-entry.ts';
import {StdioTransport} from './stdio-transport.ts';
import {callAsTask} from './task-call.ts';

export type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Tool as ServerTool,
} from '@modelcontextprotocol/client';

/** What a server may ask of mini-cc. */
export interface ServerQuestions {
  /** Absent where no person can be asked. Elicitation is then not offered to servers. */
  readonly ask?: AskPerson | undefined;
  /** Answers whole forms instead, where a program drives the session. */
  readonly elicit?: DriverServers['elicit'] | undefined;
  /** Absent where no model answers servers. */
  readonly sampling?: Sampling | undefined;
  /** Returns the folders of the session. */
  readonly getRoots: () => readonly string[];
}

export interface ConnectOptions {
  /** Name of the server for the person. */
  readonly name: string;
  readonly questions: ServerQuestions;
  /** Present for a server at an address, unless its entry has a header that authorizes. */
  readonly login?: Login | undefined;
  /** Present when an earlier connection showed that the server knows only the older revisions. */
  readonly prior?: PriorDiscovery | undefined;
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

/** The entries of one list of a server: its tools or its prompts. */
export interface Listing<Entry> {
  readonly entries: readonly Entry[];
  /** One sentence for each entry that is left out or used in part. */
  readonly problems: readonly string[];
}

export type Connection = Awaited<ReturnType<typeof connect>>;

/** Milliseconds of the longest timer. `CallTimers` counts the time of calls. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Milliseconds that a person has for a login. */
const LOGIN_MS = 15 * 60_000;
/** Milliseconds that a hanging server has to answer a ping. */
const PING_MS = 2_000;

/** @throws MiniCcError `MCP_AUTH` when the server requires a login, `MCP_START` for every other failure, in one line */
export async function connect(options: ConnectOptions) {
  const {config, transport: given} = options;
  if (given || config.type === 'sse') return open(options, 'legacy');
  if (config.type === 'http') return open(options, 'auto');
  // Some programs start what they serve at the first question, so the one that all of them know comes first.
  try {
    return await open(options, 'legacy');
  } catch (error) {
    if (!(error instanceof Error && error.cause instanceof ProtocolError)) throw error;
    return await open(options, 'auto').catch(() => {
      throw error;
    });
  }
}

/** @param mode `legacy`: `initialize` alone; `auto`: revision 2026-07-28 first, which costs one more round trip */
async function open(options: ConnectOptions, mode: 'legacy' | 'auto', browser?: AuthProvider) {
  const {name: server, config, program, transport: given, login, prior, connectMs, signal, onChange} = options;
  const session = login && createSessionAuth(login, server);
  const authProvider = browser ?? session;
  const transport = given ?? createTransport(config, program, authProvider);
  const timers = new CallTimers();
  const client = createClient(options, mode, timers);
  const problems: ListProblems = {tools: [], prompts: []};
  normalizeMessages(transport, (list, problem) => problems[list].push(problem));
  let isOpen = true;
  client.onclose = () => {
    if (isOpen) onChange('end');
    isOpen = false;
  };
  const limits = {timeout: connectMs, signal};
  const ending = () => (transport instanceof StdioTransport ? transport.ending : '');
  try {
    await client.connect(transport, {...limits, ...(prior && {prior})});
  } catch (error) {
    isOpen = false;
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    throw toStartError(error, ending(), options);
  }
  const {name = '', version: its = ''} = client.getServerVersion() ?? {};
  const requests = createRequests(client, limits, timers, problems);
  return {
    ...requests,
    /** As `callTool` of the requests. @throws MiniCcError `MCP_AUTH` when the server wants a login for the call */
    callTool: (...call: Parameters<typeof requests.callTool>) =>
      callWithScope(server, session, () => requests.callTool(...call)),
    version: toOneLine(`${name} ${its}`),
    /** True when the server answers `initialize`, so that the next connection need not try the new revision. */
    isLegacy: client.getDiscoverResult() === undefined,
    ending,
    isOpen: () => isOpen,
    /** Tells the server that the folders of the session changed. A server that does not listen is none the wiser. */
    noteRoots: () => client.sendRootsListChanged().catch(() => undefined),
    async close() {
      isOpen = false;
      await client.close();
    },
  };
}

/** Repeats a call once when the server wanted more rights, and mini-cc could get them without a person. */
async function callWithScope<T>(server: string, session: SessionAuth | undefined, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!session || !(error instanceof InsufficientScopeError)) throw error;
    if (await session.addScope(error.requiredScope)) return await call();
    const rights = `more rights than the login has (${error.requiredScope ?? 'it does not say which'})`;
    throw new MiniCcError('MCP_AUTH', `it wants ${rights}: /mcp login ${server}, or mini-cc mcp login ${server}`);
  }
}

/**
 * Logs the person in to a server by their browser, and stores the login.
 * @throws MiniCcError `MCP_LOGIN` when that fails, and what `connect` throws
 */
export async function logIn(options: ConnectOptions & {readonly login: Login}, show: ShowAddress): Promise<void> {
  const browser = createBrowserAuth(options.login, show, options.signal);
  const connection = await open({...options, connectMs: LOGIN_MS}, 'auto', browser.provider);
  try {
    await connection.listTools();
    // Such a server wants a login for single tools alone.
    if (!browser.isDone()) await browser.logIn();
  } finally {
    await connection.close();
  }
}

function createClient({name, questions, onChange}: ConnectOptions, mode: 'legacy' | 'auto', timers: CallTimers) {
  const {ask, getRoots} = questions;
  const answer: DriverServers['elicit'] | undefined =
    questions.elicit ?? (ask && ((server, params, signal) => elicit(server, params, ask, signal)));
  const sample = questions.sampling && createSampler(name, questions.sampling, ask);
  const capabilities: ClientOptions['capabilities'] = {
    roots: {listChanged: true},
    ...(answer && {elicitation: {form: {}, url: {}}}),
    ...(sample && {sampling: {}}),
  };
  const client = new Client(
    {name: 'mini-cc', title: 'mini-cc', version},
    {
      capabilities,
      versionNegotiation: {mode},
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
  client.setRequestHandler('roots/list', () => ({
    roots: getRoots().map((folder) => ({uri: pathToFileURL(folder).href, name: path.basename(folder)})),
  }));
  if (answer) {
    client.setRequestHandler('elicitation/create', ({params}, {mcpReq}) =>
      timers.whilePaused(() => answer(name, params, mcpReq.signal)),
    );
  }
  if (sample) {
    client.setRequestHandler('sampling/createMessage', ({params}, {mcpReq}) =>
      timers.whilePaused(() => sample(params, mcpReq.signal, timers.signal)),
    );
  }
  client.fallbackRequestHandler = async ({method}) => {
    throw method === 'sampling/createMessage' ? refuseSampling(name) : new ProtocolError(-32_601, 'Method not found');
  };
  return client;
}

interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** Problems of the entries that were listed last. */
type ListProblems = Record<ListName, string[]>;

function createRequests(
  client: Client,
  limits: {timeout: number; signal: AbortSignal},
  timers: CallTimers,
  problems: ListProblems,
) {
  /** A server that does not announce a list is not asked for it. */
  const list = async <Entry>(name: ListName, ask: () => Promise<readonly Entry[]>): Promise<Listing<Entry>> => {
    problems[name] = [];
    const entries = client.getServerCapabilities()?.[name] ? await ask() : [];
    return {entries, problems: problems[name]};
  };
  return {
    listTools: () => list<ServerTool>('tools', async () => (await client.listTools(undefined, limits)).tools),
    listPrompts: () => list<Prompt>('prompts', async () => (await client.listPrompts(undefined, limits)).prompts),
    /** Calls a tool. `onProgress` gets the server's progress messages, and each of them restarts the time limit. */
    callTool: (tool: ServerTool, input: Record<string, unknown>, {timeoutMs, signal, onProgress}: CallLimits) =>
      timers.limit(timeoutMs, signal, (limited, restart) => {
        const options = {
          timeout: MAX_TIMER_MS,
          signal: limited,
          onprogress({message}: Progress) {
            restart();
            if (message !== undefined) onProgress(message);
          },
        };
        return tool.execution?.taskSupport === 'required'
          ? callAsTask(client, tool.name, input, options)
          : client.callTool({name: tool.name, arguments: input}, {...options, toolDefinition: tool});
      }),
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

function createTransport(
  config: ServerConfig,
  program: ConnectOptions['program'],
  authProvider: AuthProvider | undefined,
): Transport {
  switch (config.type) {
    case 'stdio': {
      const {command, args, env} = config;
      return new StdioTransport({...program, command, args, env: {...program.env, ...env}});
    }
    case 'http':
    case 'sse': {
      const ClientTransport = config.type === 'http' ? StreamableHTTPClientTransport : SSEClientTransport;
      const requestInit = {headers: {...config.headers}};
      return new ClientTransport(new URL(config.url), {requestInit, ...(authProvider && {authProvider})});
    }
    case 'sdk':
      throw new MiniCcError('MCP_START', 'the program that drives the session does not have it');
  }
}

function toStartError(error: unknown, ending: string, {name, connectMs}: ConnectOptions): MiniCcError {
  if (getErrorCode(error) === 'MCP_LOGIN') return error as MiniCcError;
  if (isLoginWanted(error)) return new MiniCcError('MCP_AUTH', describeLogin(name));
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
  if (getErrorCode(error) === 'MCP_AUTH') return true;
  const status = 'status' in error ? error.status : undefined;
  return status === 401 || error.name === 'UnauthorizedError' || /\b401\b|unauthorized/i.test(error.message);
}

/** Adds the first cause to the message, because `fetch failed` alone says nothing. */
function explain(error: unknown): string {
  let first = error;
  while (first instanceof Error && first.cause instanceof Error) first = first.cause;
  const [message, cause] = [getErrorMessage(error), getErrorMessage(first)];
  return message.includes(cause) ? message : `${message}: ${cause}`;
}
