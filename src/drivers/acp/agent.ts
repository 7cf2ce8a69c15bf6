/**
 * Serves the Agent Client Protocol, by which editors such as Zed drive mini-cc: JSON-RPC on standard input and output,
 * with the official package. One process has as many sessions as the editor opens, and each is an ordinary session of
 * mini-cc.
 */
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import {version} from '../../../package.json';
import type {Session, SessionSummary} from '../../core/contract/session-requests.ts';
import type {EditorFiles} from '../../core/contract/tool.ts';
import {inBackground} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {AcpSession, type Editor} from './acp-session.ts';

export interface OpenSession {
  readonly cwd: string;
  readonly addDirs: readonly string[];
  /** Entries by name, as in `.mcp.json`. */
  readonly mcpServers: Readonly<Record<string, object>>;
  /** Id of the stored session to resume; absent for a new session. */
  readonly resume?: string;
  /** True to continue with a copy of that session, in a new one. */
  readonly forks?: boolean;
  /** True when the editor can show the person a form. */
  readonly showsForms: boolean;
  /** Present when the editor gives the text of its files. */
  readonly editor: EditorFiles | undefined;
}

interface AcpOptions {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  /** Writes a line for the person who reads standard error. */
  warn(line: string): void;
  /** Opens a session. @throws MiniCcError when it cannot be opened */
  open(request: OpenSession): Promise<Session>;
  /** @param cwd undefined for the folder in which mini-cc was started */
  listSessions(cwd: string | undefined): readonly (SessionSummary & {readonly cwd: string})[];
  /** @param cwd undefined for the folder in which mini-cc was started @throws UsageError */
  eraseSession(id: string, cwd: string | undefined): void;
  /** True when a key or a server of a model is set. */
  readonly hasModel: boolean;
  /** True when an editor may turn all questions off. */
  readonly mayBypass: boolean;
}

/** Serves until the editor closes its end, and then closes every session. */
export async function serveAcp(options: AcpOptions): Promise<void> {
  const sessions = new Sessions(options);
  const {closed} = createAgent(sessions).connect(ndJsonStream(options.output, options.input));
  await closed;
  await sessions.closeAll();
}

function createAgent(sessions: Sessions) {
  return agent({name: 'mini-cc'})
    .onRequest(methods.agent.initialize, ({params}) => sessions.initialize(params.clientCapabilities))
    .onRequest(methods.agent.authenticate, ({params}) => sessions.authenticate(params.methodId))
    .onRequest(methods.agent.session.new, async ({params, client}) => {
      const session = await sessions.open(client, params);
      // The editor must know the id first, and the answer goes out before the next round of the event loop.
      setImmediate(() => session.sendCommands());
      return {sessionId: session.id, ...session.config.describe()};
    })
    .onRequest(methods.agent.session.load, async ({params, client}) => {
      const session = await sessions.open(client, params, params.sessionId);
      session.replay();
      session.sendCommands();
      return session.config.describe();
    })
    .onRequest(methods.agent.session.resume, async ({params, client}) => {
      const session = await sessions.open(client, {mcpServers: [], ...params}, params.sessionId);
      session.sendCommands();
      return session.config.describe();
    })
    .onRequest(methods.agent.session.fork, async ({params, client}) => {
      const session = await sessions.open(client, {mcpServers: [], ...params}, params.sessionId, true);
      setImmediate(() => session.sendCommands());
      return {sessionId: session.id, ...session.config.describe()};
    })
    .onRequest(methods.agent.session.list, ({params}) => sessions.list(params.cwd ?? undefined))
    .onRequest(methods.agent.session.close, async ({params}) => {
      await sessions.close(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.delete, async ({params}) => {
      await sessions.delete(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.setConfigOption, ({params}) =>
      explained(async () => {
        const {config} = sessions.get(params.sessionId);
        config.set(params.configId, params.value);
        return {configOptions: config.list()};
      }),
    )
    .onRequest(methods.agent.session.setMode, ({params}) => {
      sessions.get(params.sessionId).config.setMode(params.modeId);
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({params}) =>
      explained(() => sessions.get(params.sessionId).prompt(params.prompt)),
    )
    .onNotification(methods.agent.session.cancel, ({params}) => sessions.get(params.sessionId).cancel());
}

const KEY_OF_ENVIRONMENT = {
  id: 'environment',
  name: 'Key of the environment',
  description: 'mini-cc reads its key from the environment: start the editor with ANTHROPIC_API_KEY',
};

/** The protocol's code for a missing resource. */
const NOT_FOUND = -32002;

class Sessions {
  readonly #options: AcpOptions;
  readonly #sessions = new Map<string, AcpSession>();
  /** Folders of the sessions that were opened or listed. */
  readonly #folders = new Map<string, string>();
  #capabilities: ClientCapabilities = {};

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  initialize(capabilities: ClientCapabilities = {}): InitializeResponse {
    this.#capabilities = capabilities;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: {name: 'mini-cc', title: 'mini-cc', version},
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: {image: true, embeddedContext: true},
        mcpCapabilities: {http: true, sse: true},
        sessionCapabilities: {list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {}},
      },
      authMethods: [KEY_OF_ENVIRONMENT],
    };
  }

  /** @throws RequestError when there is no such method, or no key */
  authenticate(method: string): object {
    if (method !== KEY_OF_ENVIRONMENT.id)
      throw RequestError.invalidParams(undefined, `no method ${method}: mini-cc reads its key from the environment`);
    if (this.#options.hasModel) return {};
    throw RequestError.authRequired(undefined, `${KEY_OF_ENVIRONMENT.description} (mini-cc doctor)`);
  }

  /** Erases a stored session. @throws RequestError when there is none, or another mini-cc has it open */
  async delete(id: string): Promise<void> {
    await this.close(id);
    await explained(async () => this.#options.eraseSession(id, this.#folders.get(id)));
  }

  /** @param resume id of a stored session @param forks true to open a copy of it @throws RequestError when the session cannot be opened */
  async open(
    client: AgentContext,
    {
      cwd,
      additionalDirectories: addDirs = [],
      mcpServers,
    }: {cwd: string; additionalDirectories?: string[]; mcpServers: McpServer[]},
    resume?: string,
    forks = false,
  ): Promise<AcpSession> {
    // An editor may open a session again that it has open. Without closing it first, mini-cc would find its own lock.
    if (resume !== undefined && !forks) await this.close(resume);
    const {open, mayBypass} = this.#options;
    const stored = resume === undefined ? {} : {resume, forks};
    const showsForms = this.#capabilities.elicitation?.form != null;
    const getId = () => session.id;
    const editor = createEditorFiles(client, this.#capabilities.fs, getId);
    const request = {cwd, addDirs, mcpServers: toServerEntries(mcpServers), showsForms, editor, ...stored};
    const opened = await explained(() => open(request));
    const session = new AcpSession(opened, this.#createEditor(client), mayBypass);
    this.#sessions.set(session.id, session);
    this.#folders.set(session.id, cwd);
    return session;
  }

  /** @throws RequestError when the editor has not opened the session */
  get(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (!session) throw new RequestError(NOT_FOUND, `no session ${id} is open: session/load opens a stored one`);
    return session;
  }

  list(cwd: string | undefined) {
    const sessions = this.#options.listSessions(cwd).filter(({problem}) => problem === undefined);
    for (const {id, cwd: folder} of sessions) this.#folders.set(id, folder);
    return {
      sessions: sessions.map(({id, cwd: folder, prompt, at}) => ({
        sessionId: id,
        cwd: folder,
        title: prompt,
        updatedAt: new Date(at).toISOString(),
      })),
    };
  }

  async close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.close(id)));
  }

  #createEditor(client: AgentContext): Editor {
    const warn = (error: unknown) => this.#options.warn(`the editor could not be told: ${getErrorMessage(error)}`);
    const {session, elicitation, _meta: own} = this.#capabilities;
    return {
      showsNotices: session?.notices != null,
      showsTerminals: own?.terminal_output === true,
      update: (sessionId, update) =>
        inBackground(client.notify(methods.client.session.update, {sessionId, update}), warn),
      askPermission: (request, signal) =>
        client.request(methods.client.session.requestPermission, request, wait(signal)),
      ...(elicitation?.form != null && {
        askForm: (request, signal) => client.request(methods.client.elicitation.create, request, wait(signal)),
      }),
    };
  }
}

function wait(cancellationSignal: AbortSignal) {
  return {cancellationSignal, stopWaitingOnCancel: true};
}

/**
 * An editor that does not give the text of a file does not write it either: what the person typed in it would be lost.
 * @param getId returns the id of the session, which is known when the first file is asked for
 */
function createEditorFiles(
  client: AgentContext,
  fs: ClientCapabilities['fs'],
  getId: () => string,
): EditorFiles | undefined {
  if (!fs?.readTextFile) return undefined;
  const {readTextFile, writeTextFile} = methods.client.fs;
  return {
    async read(path, signal) {
      const {content} = await client.request(readTextFile, {sessionId: getId(), path}, wait(signal));
      if (typeof content !== 'string') throw new Error('it gave no text');
      return content;
    },
    ...(fs.writeTextFile && {
      async write(path: string, content: string, signal: AbortSignal) {
        await client.request(writeTextFile, {sessionId: getId(), path, content}, wait(signal));
      },
    }),
  };
}

/** Passes on mini-cc's own errors with their messages, which the editor shows. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MiniCcError) throw RequestError.invalidParams(undefined, error.message);
    throw error;
  }
}

/** @throws RequestError for a server that only the editor itself can reach */
function toServerEntries(servers: readonly McpServer[]): Readonly<Record<string, object>> {
  const toObject = (pairs: readonly {readonly name: string; readonly value: string}[]) =>
    Object.fromEntries(pairs.map(({name, value}) => [name, value]));
  return Object.fromEntries(
    servers.map((server) => {
      if ('url' in server)
        return [server.name, {type: server.type, url: server.url, headers: toObject(server.headers)}];
      if (!('command' in server))
        throw RequestError.invalidParams(undefined, `the MCP server ${server.name} must be a program or an address`);
      return [server.name, {command: server.command, args: server.args, env: toObject(server.env)}];
    }),
  );
}
