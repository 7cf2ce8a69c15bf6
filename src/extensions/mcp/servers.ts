/**
 * Manages all MCP servers of a session: configured ones, those that a driver added, and copies for read-only agents.
 */

import type {AgentDefinition} from '../../core/agent-types.ts';
import type {McpEntries, McpServerState, McpServersChange} from '../../core/contract/mcp.ts';
import type {Command} from '../../core/contract/session-requests.ts';
import type {ToolSource} from '../../core/contract/tool.ts';
import type {ToolRules} from '../../core/runs/dispatch.ts';
import type {SessionMcp} from '../../core/session/parts.ts';
import {UsageError} from '../../core/util/errors.ts';
import {findNearest} from '../../core/util/names.ts';
import {isObject} from '../../core/util/objects.ts';
import type {ShowAddress} from './browser-login.ts';
import type {ConnectOptions, ServerQuestions} from './connection.ts';
import {type DriverServers, DriverTransport} from './driver-transport.ts';
import {joinEntries} from './entry-files.ts';
import type {LoginStore} from './login-store.ts';
import {createPromptCommand, listPromptCommands} from './prompts.ts';
import {McpServer, type ServerDeps} from './server.ts';
import {readServerEntry, type ServerEntry} from './server-entry.ts';
import {describeTool, nameTools} from './server-tool.ts';
import {type FindableAgents, isNamed, Toolset} from './toolset.ts';

export interface McpOptions {
  readonly entries: readonly ServerEntry[];
  /** The whole environment, because entries name its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly program: Omit<ConnectOptions['program'], 'confine'>;
  /** Returns how programs are confined to reading. @throws MiniCcError when no sandbox works */
  readonly getConfine: () => Promise<NonNullable<ConnectOptions['program']['confine']>>;
  readonly driver?: DriverServers | undefined;
  /** Tells whether a rule refuses all calls of the tool. */
  readonly isForbidden: (tool: string) => boolean;
  readonly warn: (text: string) => void;
  readonly questions: ServerQuestions;
  readonly logins: LoginStore;
  /** Notes the keys in each entry before its server starts, and replaces them in what is told about servers. */
  readonly secrets?: {note(entry: ServerEntry): void; redact<T>(value: T): T};
}

/** The fields of an agent's definition that decide which servers it has. */
type AgentServers = Pick<AgentDefinition, 'name' | 'tools' | 'readOnly' | 'mcpServers' | 'disallowedMcp'>;

const CONNECT_MS = 30_000;
const CALL_MS = 60_000;

export class McpServers implements SessionMcp {
  readonly #options: McpOptions;
  #servers: readonly McpServer[];
  #added: readonly McpServer[] = [];
  /** Servers of single agents, and copies in the sandbox. */
  readonly #others = new Map<string, McpServer>();

  constructor(options: McpOptions) {
    this.#options = options;
    this.#servers = options.entries.map((entry) => this.#create(entry));
  }

  get #all(): readonly McpServer[] {
    const added = this.#added.map(({id}) => id);
    return [...this.#servers.filter(({id}) => !added.includes(id)), ...this.#added];
  }

  #create(entry: ServerEntry, isConfined = false): McpServer {
    const {env, driver, program, getConfine, questions, logins, warn, secrets} = this.#options;
    secrets?.note(entry);
    const deps: ServerDeps = {
      env,
      // A confined server gets only those variables that the sandbox lets through and those of its entry.
      getProgram: async () => (isConfined ? {...program, env: {}, confine: await getConfine()} : program),
      ...(driver && {createTransport: (server) => new DriverTransport(driver, server)}),
      questions,
      logins,
      warn,
      connectMs: toMs(env.MCP_TIMEOUT) ?? CONNECT_MS,
      callMs: toMs(env.MCP_TOOL_TIMEOUT) ?? CALL_MS,
    };
    return new McpServer(entry, deps, entry.config?.type === 'sdk' ? driver?.getTools(entry.name) : []);
  }

  /** Returns the tools of a main agent that has no definition. @param agents those that its search finds, too */
  forMain(agents?: FindableAgents): ToolSource {
    return new Toolset({
      servers: () => this.#all,
      needed: [],
      confined: false,
      warn: this.#options.warn,
      mayHave: (tool) => !this.#options.isForbidden(tool),
      agents,
    });
  }

  /**
   * Returns undefined for an agent that has nothing to search.
   * @param only tools that the settings allow subagents
   * @param agents those that its search finds, too
   */
  forAgent(agent: AgentServers, only: ToolRules = {deny: []}, agents?: FindableAgents): ToolSource | undefined {
    const {warn, isForbidden} = this.#options;
    const {tools, readOnly, mcpServers = [], disallowedMcp = []} = agent;
    const named = mcpServers.flatMap(({name, entry}) => this.#getNamed(agent, name, entry) ?? []);
    const listed = tools === '*' ? [] : tools.filter((tool) => tool.startsWith('mcp__'));
    const shared = readOnly ? [] : this.#all.filter(({id}) => tools === '*' || listed.some((tool) => isOf(tool, id)));
    const servers = [...named, ...shared.filter(({id}) => !named.some((each) => each.id === id))];
    for (const tool of listed.filter((each) => !servers.some(({id}) => isOf(each, id)))) {
      warn(`the agent ${agent.name} has ${tool} among its tools, and there is no such MCP server`);
    }
    if (servers.length === 0 && !agents) return undefined;
    const isWhole = (id: string) => tools === '*' || !listed.some((tool) => isOf(tool, id));
    return new Toolset({
      servers: () => servers,
      confined: readOnly,
      warn,
      agents,
      needed: servers.filter(({id}) => tools !== '*' || named.some((each) => each.id === id)).map(({id}) => id),
      mayHave: (tool) => {
        const id = servers.find((server) => isOf(tool, server.id))?.id ?? '';
        const isOpen = only.allow === undefined || isNamed(tool, only.allow);
        if (isForbidden(tool) || isNamed(tool, [...disallowedMcp, ...only.deny]) || !isOpen) return false;
        return isWhole(id) || isNamed(tool, listed);
      },
    });
  }

  /**
   * Returns a server that an agent's definition names: one of the session, or its own. A read-only agent gets a copy in
   * the sandbox.
   */
  #getNamed({name: agent, readOnly}: AgentServers, name: string, own: unknown): McpServer | undefined {
    const found = this.#all.find((server) => server.name === name || server.id === name);
    if (own === undefined && !found) {
      this.#options.warn(`the agent ${agent} names the MCP server ${name}, and there is none of this name`);
      return undefined;
    }
    if (own === undefined && !readOnly) return found;
    const entry = own === undefined ? found!.entry : readServerEntry(name, own, `the agent ${agent}`);
    const key = JSON.stringify([readOnly, own === undefined ? '' : agent, name, own]);
    const known = this.#others.get(key);
    if (known) return known;
    const isProgram = entry.config?.type === 'stdio';
    if (readOnly && entry.config && !isProgram) {
      const why = 'a read-only agent has servers that are programs alone, since they run in the sandbox';
      this.#options.warn(`the agent ${agent} does not get the MCP server ${name}: ${why}`);
      return undefined;
    }
    const server = this.#create(entry, readOnly);
    this.#others.set(key, server);
    return server;
  }

  list(): readonly McpServerState[] {
    return this.#all.map((server) => this.#describe(server)).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  }

  /** @throws UsageError when the name is unknown */
  get(name: string): McpServerState {
    return this.#describe(this.#get(name));
  }

  async startAll(): Promise<void> {
    const idle = this.#all.filter(({isUsable, isConnected, hasFailed}) => isUsable && !isConnected && !hasFailed);
    await Promise.allSettled(idle.map((server) => server.start()));
  }

  async reconnect(name: string): Promise<McpServerState> {
    const server = this.#get(name);
    await server.reconnect();
    return this.#describe(server);
  }

  async readResource(name: string, uri: string): Promise<unknown> {
    return this.#get(name).readResource(uri, new AbortController().signal);
  }

  async logIn(name: string, signal: AbortSignal, show = this.#showAddress(name)): Promise<McpServerState> {
    const server = this.#get(name);
    await server.logIn(show, signal);
    return this.#describe(server);
  }

  /** Shows the address as a question, whose answer is the address that was pasted. */
  #showAddress(name: string): ShowAddress {
    return async (address, signal) => {
      const {ask} = this.#options.questions;
      const title = `Log in to the MCP server ${name} in a browser`;
      const detail = `${address}\n\nThis goes on by itself when the browser comes back. If it cannot reach this machine, paste the address that it ends at.`;
      const answer = await ask?.({title, detail, escape: 'give up'}, signal);
      return answer?.choice === 'text' ? answer.note : undefined;
    };
  }

  async logOut(name: string): Promise<boolean> {
    return this.#get(name).logOut();
  }

  async setEnabled(name: string, enabled: boolean): Promise<McpServerState> {
    const server = this.#get(name);
    await server.setEnabled(enabled);
    return this.#describe(server);
  }

  async setServers(servers: McpEntries): Promise<McpServersChange> {
    if (!isObject(servers)) throw new UsageError('servers must be an object: {"NAME": {"command": …}}');
    const entries = joinEntries([{from: 'driver', servers}], () => true);
    const before = this.#added;
    const isSame = (a: McpServer, b: ServerEntry) => JSON.stringify(a.entry) === JSON.stringify(b);
    const kept = before.filter((server) => entries.some((entry) => isSame(server, entry)));
    const added = entries.filter((entry) => !kept.some((server) => isSame(server, entry)));
    const removed = before.filter((server) => !kept.includes(server));
    this.#added = [...kept, ...added.map((entry) => this.#create(entry))];
    await Promise.all(removed.map((server) => server.stop()));
    return {
      added: added.map(({name}) => name),
      removed: removed.map(({name}) => name),
      errors: Object.fromEntries(
        entries.flatMap(({name, problem}) => (problem === undefined ? [] : [[name, problem]])),
      ),
    };
  }

  commands(): readonly Command[] {
    return this.#all.flatMap((server) => listPromptCommands(server));
  }

  findCommand(name: string): Command | undefined {
    const server = this.#all.find(({id, isUsable}) => isUsable && isOf(name.toLowerCase(), id.toLowerCase()));
    return server && createPromptCommand(server, name.slice(`mcp__${server.id}__`.length));
  }

  #describe(server: McpServer): McpServerState {
    const state = {
      ...server.state,
      tools: [...nameTools(server)].map(([name, tool]) => ({name, description: describeTool(tool)})),
      prompts: listPromptCommands(server).map(({name}) => name),
    };
    return this.#options.secrets?.redact(state) ?? state;
  }

  #get(name: string): McpServer {
    const found = this.#all.find((server) => server.name === name || server.id === name);
    if (found) return found;
    const names = this.#all.map((server) => server.name);
    if (names.length === 0) throw new UsageError('there is no MCP server: mini-cc mcp add adds one');
    throw new UsageError(`there is no MCP server ${JSON.stringify(name)} (did you mean ${findNearest(name, names)}?)`);
  }

  /** Tells all servers that the folders of the session changed. */
  async noteRoots(): Promise<void> {
    await Promise.all(this.#running.map((server) => server.noteRoots()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map((server) => server.stop()));
  }

  get #running(): readonly McpServer[] {
    return [...this.#servers, ...this.#added, ...this.#others.values()];
  }
}

/** Tells whether the name means a tool of this server, or all of its tools. */
function isOf(tool: string, id: string): boolean {
  const written = tool.replace(/[^\w*-]/g, '_');
  return written === 'mcp__*' || written === `mcp__${id}` || written.startsWith(`mcp__${id}__`);
}

function toMs(text: string | undefined): number | undefined {
  const value = Number(text ?? '');
  return Number.isFinite(value) && value > 0 ? value : undefined;
}
