/** Manages one server. It starts when it is needed, serves all agents, and starts again after it died or hung. */
import type {Transport} from '@modelcontextprotocol/client';
import type {McpServerState, McpStatus} from '../../core/contract/mcp.ts';
import {compileAnswerSchema} from '../../core/turn/structured-answer.ts';
import {inBackground, neverRejects, untilAborted} from '../../core/util/background.ts';
import {getErrorCode, getErrorMessage, MiniCcError, UsageError} from '../../core/util/errors.ts';
import {showControls, toOneLine} from '../../core/util/text.ts';
import type {Login} from './authorization.ts';
import type {ShowAddress} from './browser-login.ts';
import type {
  CallToolResult,
  Connection,
  ConnectOptions,
  Listing,
  Prompt,
  ServerQuestions,
  ServerTool,
} from './connection.ts';
import {describeLogin, type LoginStore} from './login-store.ts';
import {describeTarget, expandConfig, type ServerConfig, type ServerEntry, toServerId} from './server-entry.ts';

export interface ServerDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns how the server's program starts. @throws MiniCcError when it must be confined and cannot be */
  readonly getProgram: () => Promise<ConnectOptions['program']>;
  /** Creates the transport of a server in the process of the driver. */
  readonly createTransport?: ((server: string) => Transport) | undefined;
  readonly questions: ServerQuestions;
  readonly logins: LoginStore;
  /** Shows a line to the person. */
  readonly warn: (text: string) => void;
  /** Both limits are in milliseconds. */
  readonly connectMs: number;
  readonly callMs: number;
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

export class McpServer {
  /** Id of the server, as the names of tools contain it. */
  readonly id: string;
  #connection: Connection | undefined;
  #starting: Promise<Connection> | undefined;
  #tools: Listing<ServerTool>;
  #prompts: Listing<Prompt> = {entries: [], problems: []};
  #failure: {readonly status: McpStatus; readonly problem: string} | undefined;
  #isDisabled = false;
  /** True once the server has answered in the way of the older revisions. It is then not asked in the new way again. */
  #isLegacy = false;
  /** Aborts when the server is stopped. */
  #life = new AbortController();

  constructor(
    readonly entry: ServerEntry,
    private readonly deps: ServerDeps,
    knownTools: readonly ServerTool[] = [],
  ) {
    this.id = toServerId(entry.name);
    this.#tools = {entries: knownTools, problems: []};
  }

  get name(): string {
    return this.entry.name;
  }

  /** True when the server runs or may be started. */
  get isUsable(): boolean {
    return !this.#isDisabled && this.entry.config !== undefined && !this.entry.problem && !this.entry.isUnapproved;
  }

  get isConnected(): boolean {
    return this.#connection?.isOpen() ?? false;
  }

  /** True when the last start failed. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Tools of the server; empty until it has been connected. */
  get tools(): readonly ServerTool[] {
    return this.isUsable ? this.#tools.entries : [];
  }

  get prompts(): readonly Prompt[] {
    return this.isUsable ? this.#prompts.entries : [];
  }

  get state(): Omit<McpServerState, 'tools' | 'prompts'> {
    const {name, from, config, problem: wrong, isUnapproved} = this.entry;
    const problem = wrong ?? (isUnapproved ? NOT_APPROVED : this.#failure?.problem);
    const version = this.#connection?.version ?? '';
    const warnings = this.isUsable ? [...this.#tools.problems, ...this.#prompts.problems] : [];
    return {
      name,
      from,
      transport: config?.type ?? 'stdio',
      target: describeTarget(this.entry),
      status: this.#status,
      ...(problem !== undefined && {problem: showControls(problem)}),
      ...(version !== '' && {version: showControls(version)}),
      ...(warnings.length > 0 && {warnings: warnings.map(showControls)}),
    };
  }

  get #status(): McpStatus {
    if (this.#isDisabled) return 'disabled';
    if (this.entry.isUnapproved) return 'not-approved';
    if (this.entry.problem) return 'failed';
    if (this.isConnected) return 'connected';
    return this.#starting ? 'pending' : (this.#failure?.status ?? 'pending');
  }

  /** Starts the server unless it runs. @throws MiniCcError in one line that names the server */
  async start(): Promise<Connection> {
    if (!this.isUsable) throw new MiniCcError('MCP_UNUSABLE', `The MCP server ${this.name} is not used: ${this.#why}`);
    if (this.#connection?.isOpen()) return this.#connection;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  get #why(): string {
    return this.#isDisabled ? 'it is switched off' : (this.state.problem ?? 'it has no entry');
  }

  async #start(): Promise<Connection> {
    // The module is loaded when the first server is needed.
    const {connect} = await import('./connection.ts');
    let connection: Connection | undefined;
    try {
      const onChange: ConnectOptions['onChange'] = (what) => {
        if (what !== 'end' && connection) inBackground(this.#refresh(connection, what), neverRejects);
      };
      connection = await connect(await this.#getConnectOptions(onChange));
      this.#isLegacy = connection.isLegacy;
      const [tools, prompts] = await Promise.all([connection.listTools(), listPrompts(connection)]);
      await this.#takeTools(tools);
      this.#prompts = prompts;
      this.#connection = connection;
      this.#failure = undefined;
      return connection;
    } catch (error) {
      await connection?.close();
      this.#isLegacy = false;
      const problem = toOneLine(getErrorMessage(error));
      this.#failure = {status: getErrorCode(error) === 'MCP_AUTH' ? 'needs-auth' : 'failed', problem};
      throw new MiniCcError('MCP_START', `The MCP server ${this.name} cannot be used: ${showControls(problem)}`, {
        cause: error,
      });
    }
  }

  async #getConnectOptions(onChange: ConnectOptions['onChange']): Promise<ConnectOptions> {
    const {getProgram, createTransport, connectMs, env, questions} = this.deps;
    const config = expandConfig(this.entry.config!, env);
    return {
      name: this.name,
      config,
      program: await getProgram(),
      transport: config.type === 'sdk' ? createTransport?.(this.name) : undefined,
      questions,
      login: this.#getLogin(config),
      prior: this.#isLegacy ? {kind: 'legacy'} : undefined,
      connectMs,
      signal: this.#life.signal,
      onChange,
    };
  }

  #getLogin(config: ServerConfig): Login | undefined {
    const {env, logins} = this.deps;
    if (config.type !== 'http' && config.type !== 'sse') return undefined;
    if (Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization')) return undefined;
    const {url, oauth} = config;
    return {url, oauth, clientSecret: env[oauth.clientSecretEnv ?? ''], store: logins};
  }

  /**
   * Logs the person in by their browser, and starts the server.
   * @throws UsageError for a server without an address, MiniCcError `MCP_LOGIN` when the login fails
   */
  async logIn(show: ShowAddress, signal: AbortSignal): Promise<void> {
    const {logIn} = await import('./connection.ts');
    const options = await this.#getConnectOptions(() => undefined);
    if (!options.login) throw new UsageError(`${this.name} needs no login: it is a program, or its entry has a header`);
    await logIn({...options, signal, login: options.login}, show);
    await this.reconnect();
  }

  /** Forgets the login, and ends the server. @returns false when there was none */
  async logOut(): Promise<boolean> {
    const {env, logins} = this.deps;
    const {url} = this.#getLogin(expandConfig(this.entry.config!, env)) ?? {};
    const isKnown = url !== undefined && logins.get(url).tokens !== undefined;
    if (isKnown) await logins.set(url, undefined);
    await this.stop();
    return isKnown;
  }

  /** Reads a list again after the server reported a change. */
  async #refresh(connection: Connection, what: 'tools' | 'prompts'): Promise<void> {
    try {
      if (what === 'tools') await this.#takeTools(await connection.listTools());
      else this.#prompts = await connection.listPrompts();
    } catch (error) {
      const problem = `its ${what} changed and cannot be listed, so that the earlier ones stay: ${getErrorMessage(error)}`;
      if (what === 'tools') this.#tools = {...this.#tools, problems: [toOneLine(problem)]};
      else this.#prompts = {...this.#prompts, problems: [toOneLine(problem)]};
    }
  }

  /** Stores a list of tools, and warns of its problems unless the last list had the same ones. */
  async #takeTools(listed: Listing<ServerTool>): Promise<void> {
    const known = this.#tools.problems;
    this.#tools = await withValidSchemas(listed);
    const [first, ...more] = this.#tools.problems.filter((problem) => !known.includes(problem));
    if (first === undefined) return;
    const others = more.length === 0 ? '' : `, and ${more.length} more: /mcp ${this.name} shows them`;
    this.deps.warn(`The MCP server ${this.name}: ${showControls(first)}${others}`);
  }

  /** @throws MiniCcError when the server cannot be started, ends or hangs; the next call starts it again */
  async callTool(tool: ServerTool, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    const timeoutMs = this.entry.config?.timeout ?? this.deps.callMs;
    return this.#use(
      (connection) => connection.callTool(tool, input, {...options, timeoutMs}),
      options.signal,
      timeoutMs,
    );
  }

  async getPrompt(name: string, args: Record<string, string>, signal: AbortSignal) {
    return this.#use((connection) => connection.getPrompt(name, args, signal), signal, this.deps.callMs);
  }

  async readResource(uri: string, signal: AbortSignal) {
    return this.#use((connection) => connection.readResource(uri, signal), signal, this.deps.callMs);
  }

  async #use<T>(work: (connection: Connection) => Promise<T>, signal: AbortSignal, limitMs: number): Promise<T> {
    const connection = await untilAborted(this.start(), signal);
    try {
      return await work(connection);
    } catch (error) {
      if (signal.aborted) throw new MiniCcError('MCP_STOPPED', `The call of the MCP server ${this.name} was stopped.`);
      throw new MiniCcError('MCP_CALL', await this.#explain(error, connection, limitMs), {cause: error});
    }
  }

  async #explain(error: unknown, connection: Connection, limitMs: number): Promise<string> {
    const again = 'The next call starts it anew.';
    if (!connection.isOpen()) {
      const how = connection.ending();
      return `The MCP server ${this.name} ended during the call${how === '' ? '' : ` (${showControls(how)})`}. ${again}`;
    }
    const message = showControls(getErrorMessage(error));
    const isExplained = getErrorCode(error) === 'MCP_AUTH';
    if (isExplained || (error instanceof Error && error.name === 'UnauthorizedError')) {
      const problem = isExplained ? message : describeLogin(this.name);
      this.#failure = {status: 'needs-auth', problem};
      return `The MCP server ${this.name}: ${problem}`;
    }
    const isAnswer = error instanceof Error && error.name === 'ProtocolError';
    const isRemote = this.entry.config?.type === 'http' || this.entry.config?.type === 'sse';
    if (isRemote && !isAnswer && getErrorCode(error) !== 'REQUEST_TIMEOUT') {
      // The server may have restarted meanwhile, and then does not know this connection.
      await connection.close().catch(() => undefined);
      return `The MCP server ${this.name} cannot be reached: ${message}. ${again}`;
    }
    if (getErrorCode(error) !== 'REQUEST_TIMEOUT') return `The MCP server ${this.name} reports: ${message}`;
    const slow = `The MCP server ${this.name} did not answer the call within ${limitMs / 1000} s.`;
    if (await connection.answersPing()) return slow;
    await connection.close();
    return `${slow} It hangs and was ended. ${again}`;
  }

  /** Tells the server, if it runs, that the folders of the session changed. */
  async noteRoots(): Promise<void> {
    await this.#connection?.noteRoots();
  }

  async reconnect(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async setEnabled(enabled: boolean): Promise<void> {
    this.#isDisabled = !enabled;
    if (!enabled) await this.stop();
  }

  /** Ends the server. It starts again when it is needed. */
  async stop(): Promise<void> {
    this.#life.abort(new MiniCcError('MCP_STOPPED', 'the server was stopped'));
    this.#life = new AbortController();
    await this.#starting?.catch(() => undefined);
    await this.#connection?.close();
    this.#connection = undefined;
    this.#failure = undefined;
  }
}

const NOT_APPROVED = 'you have not approved it: mini-cc --trust does, or start mini-cc in a terminal';

/** Maximal number of tools of one server. Further tools are left out. */
const MAX_TOOLS = 500;
const MAX_SCHEMA_CHARS = 50_000;
/** Keys that model servers refuse at the top of a schema. */
const REFUSED = ['$schema', '$id', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'];
const PROPERTY_NAME = /^[\w.-]{1,64}$/;

/** Returns no prompts when the server announces some and refuses to list them, since its tools work all the same. */
async function listPrompts(connection: Connection): Promise<Listing<Prompt>> {
  try {
    return await connection.listPrompts();
  } catch (error) {
    return {entries: [], problems: [`it has prompts and does not list them: ${toOneLine(getErrorMessage(error))}`]};
  }
}

/** Replaces each unusable schema by one that accepts any object. The MCP server still checks the input. */
async function withValidSchemas({entries, problems}: Listing<ServerTool>): Promise<Listing<ServerTool>> {
  const tools = entries.slice(0, MAX_TOOLS);
  const isCut = entries.length > MAX_TOOLS;
  return {
    entries: await Promise.all(
      tools.map(async (tool) => ({...tool, inputSchema: await toValidSchema(tool.inputSchema)})),
    ),
    problems: isCut ? [...problems, `of its ${entries.length} tools the first ${MAX_TOOLS} are used`] : problems,
  };
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
