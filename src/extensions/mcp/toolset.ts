/**
 * Offers the tools of servers to one agent. The definitions of small servers are given to the model in full, up to 4,000
 * tokens. For the others it gets only the names, and the tool `tool_search` returns definitions. A server starts when it is
 * needed; until then the model knows only its name.
 */

import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolSource} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {matchesTool} from '../../core/permissions/rules/rule.ts';
import {untilAborted} from '../../core/util/background.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {formatCount, formatNames, takeFitting, toShortLine} from '../../core/util/text.ts';
import {findTool} from '../../core/util/tool-names.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import {toResourceContent} from './result.ts';
import type {McpServer} from './server.ts';
import {countTokens, createServerTool, nameTools} from './server-tool.ts';

/** Tokens of the definitions that need no search. */
const MAX_TOKENS = 4_000;
/** Characters of the names of tools in the description of the search. */
const MAX_NAMES_CHARS = 4_000;
const MAX_FOUND = 8;
const MAX_SUMMARY_CHARS = 160;
const MAX_AGENT_CHARS = 500;

export const TOOL_SEARCH: ToolFacts = {name: 'tool_search', aliases: ['ToolSearch']};

interface ToolsetOptions {
  /** Returns the servers that the agent may use at the moment. */
  readonly servers: () => readonly McpServer[];
  /** Tells whether the agent may have a tool, by the tool's name for models. */
  readonly mayHave: (tool: string) => boolean;
  /** Ids of servers that must run before the first request, because the agent's definition names them. */
  readonly needed: readonly string[];
  /** True when the servers run in the read-only sandbox. */
  readonly confined: boolean;
  /** Shows a line to the person. */
  readonly warn: (text: string) => void;
  /** Returns the agents that the search finds, too. */
  readonly agents?: FindableAgents | undefined;
}

/** Agents that Task accepts and whose descriptions the model has not been told. */
export type FindableAgents = () => readonly {readonly name: string; readonly description: string}[];

const input = z.object({
  query: z.string().min(1).describe('words about what you need, or names of tools'),
  server: z.string().describe('only this server').optional(),
});
type SearchInput = z.infer<typeof input>;

export class Toolset implements ToolSource {
  readonly #options: ToolsetOptions;
  /** Names of the tools that searches found. */
  readonly #found = new Set<string>();
  /** Tools by their definitions, so that a tool stays the same object while its definition does. */
  readonly #tools = new WeakMap<object, Tool>();

  constructor(options: ToolsetOptions) {
    this.#options = options;
  }

  async ready(signal: AbortSignal): Promise<void> {
    const {servers, needed, warn} = this.#options;
    const named = servers().filter(({id}) => needed.includes(id));
    const started = named.map((server) => server.start().catch((error: unknown) => warn(getErrorMessage(error))));
    if (named.length > 0) await untilAborted(Promise.all(started), signal);
  }

  list(): readonly Tool[] {
    if (this.#usable().length + this.#agents().length === 0) return [];
    const tools = this.#known();
    const whole = this.#chooseWhole();
    const told = tools.filter((tool) => whole.has(tool) || this.#found.has(tool.name));
    return [this.#createSearch(tools.filter((tool) => !whole.has(tool))), ...told];
  }

  /** Chooses the tools that need no search: those of the smallest servers, as long as they fit the limit together. */
  #chooseWhole(): ReadonlySet<Tool> {
    const sized = this.#usable().map((server) => {
      const tools = this.#toolsOf(server);
      return {tools, tokens: tools.reduce((sum, tool) => sum + countTokens(tool), 0)};
    });
    const whole = new Set<Tool>();
    let left = MAX_TOKENS;
    for (const {tools, tokens} of sized.toSorted((a, b) => a.tokens - b.tokens)) {
      left -= tokens;
      if (left >= 0) for (const tool of tools) whole.add(tool);
    }
    return whole;
  }

  find(name: string): Tool | undefined {
    if (findTool(name, [TOOL_SEARCH])) return this.list()[0];
    const known = this.#known().find((tool) => tool.name === name);
    if (known) return known;
    const server = this.#usable().find(({id}) => name.startsWith(`mcp__${id}__`));
    if (!server || server.tools.length > 0 || !this.#options.mayHave(name)) return undefined;
    return createServerTool(server, name, undefined, this.#options.confined) as Tool;
  }

  readMention(mention: string, signal: AbortSignal): Promise<ToolResult['content']> | undefined {
    const server = this.#usable().find(({name}) => mention.startsWith(`${name}:`) && mention.length > name.length + 1);
    return server?.readResource(mention.slice(server.name.length + 1), signal).then(toResourceContent);
  }

  #usable(): readonly McpServer[] {
    return this.#options.servers().filter(({isUsable}) => isUsable);
  }

  #agents(): ReturnType<FindableAgents> {
    return this.#options.agents?.() ?? [];
  }

  /** Returns the tools of all servers that have sent their lists. */
  #known(): Tool[] {
    return this.#usable().flatMap((server) => this.#toolsOf(server));
  }

  #toolsOf(server: McpServer): Tool[] {
    const {mayHave, confined} = this.#options;
    return [...nameTools(server)]
      .filter(([name]) => mayHave(name))
      .map(([name, definition]) => {
        const tool = this.#tools.get(definition) ?? (createServerTool(server, name, definition, confined) as Tool);
        this.#tools.set(definition, tool);
        return tool;
      });
  }

  #createSearch(unlisted: readonly Tool[]): Tool {
    const servers = this.#usable();
    return {
      ...TOOL_SEARCH,
      description: describeSearch(servers, unlisted, this.#agents().length),
      input,
      title: ({query}: SearchInput) => query,
      access: () => [{kind: 'none'}],
      run: (asked: SearchInput) => this.#search(asked),
    } as Tool;
  }

  async #search({query, server: only}: SearchInput): Promise<ToolResult> {
    const usable = this.#usable();
    const servers = chooseServers(usable, query, only);
    if (only !== undefined && servers.length === 0) {
      return errorResult(`There is no MCP server ${only}. There are: ${usable.map(({name}) => name).join(', ')}`);
    }
    const problems = await startAll(servers);
    const ids = servers.map(({id}) => `mcp__${id}__`);
    const tools = this.#known().filter(({name}) => ids.some((id) => name.startsWith(id)));
    const hits = rank(tools, query);
    for (const {name} of hits) this.#found.add(name);
    const lines = hits.map(({name, description}) => `- ${name}: ${toShortLine(description, MAX_SUMMARY_CHARS)}`);
    const others = tools.filter((tool) => !hits.includes(tool)).map(({name}) => name);
    const agents = only === undefined ? rank(this.#agents(), query) : [];
    const found = agents.map(({name, description}) => `- ${name}: ${toShortLine(description, MAX_AGENT_CHARS)}`);
    return {
      content: [
        ...(found.length > 0 ? [`Agents that Task takes as agent_type:\n${found.join('\n')}`] : []),
        ...(lines.length > 0 ? [`You can call these tools now:\n${lines.join('\n')}`] : []),
        ...(found.length + lines.length === 0
          ? [this.#options.agents ? 'No tool or agent is about this.' : 'No tool is about this.']
          : []),
        ...(others.length > 0 ? [`Others of these servers: ${cutNames(others, MAX_NAMES_CHARS)}`] : []),
        ...problems,
      ].join('\n'),
      summary: [
        ...(agents.length > 0 ? [formatCount(agents.length, 'agent')] : []),
        ...(servers.length > 0 ? [formatCount(hits.length, 'tool')] : []),
      ].join(', '),
    };
  }
}

/** Chooses the servers to search. A search for one server's tool must not start other servers. */
function chooseServers(servers: readonly McpServer[], query: string, only: string | undefined): readonly McpServer[] {
  if (only !== undefined) return servers.filter(({name, id}) => name === only || id === only);
  const named = servers.filter(({id}) => query.includes(`mcp__${id}__`));
  return named.length > 0 ? named : servers;
}

/**
 * Starts servers in parallel. A server that failed before is not tried again.
 * @returns a line for each server that cannot be used
 */
async function startAll(servers: readonly McpServer[]): Promise<string[]> {
  const lines = await Promise.all(
    servers.map(async (server) => {
      if (server.hasFailed && !server.isConnected)
        return `The MCP server ${server.name} cannot be used: ${server.state.problem}`;
      try {
        await server.start();
        return [];
      } catch (error) {
        return getErrorMessage(error);
      }
    }),
  );
  return lines.flat();
}

/**
 * Orders tools or agents by how many words of the query their names and descriptions contain; names count most. When
 * there are few, all are returned.
 */
function rank<Named extends Pick<Tool, 'name' | 'description'>>(
  tools: readonly Named[],
  query: string,
): readonly Named[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  const scored = tools.map((tool) => {
    const [name, description] = [tool.name.toLowerCase(), tool.description.toLowerCase()];
    const isAsked = query.includes(tool.name);
    const score = words.reduce(
      (sum, word) => sum + (name.includes(word) ? 3 : 0) + (description.includes(word) ? 1 : 0),
      isAsked ? 1_000 : 0,
    );
    return {tool, score};
  });
  if (tools.length <= MAX_FOUND) return scored.toSorted((a, b) => b.score - a.score).map(({tool}) => tool);
  const best = scored.filter(({score}) => score > 0).toSorted((a, b) => b.score - a.score);
  return best.slice(0, MAX_FOUND).map(({tool}) => tool);
}

function describeSearch(servers: readonly McpServer[], unlisted: readonly Tool[], agents: number): string {
  const ofAgents = `Finds ${agents} more agents for Task, by words about the work or parts of their names.`;
  if (servers.length === 0) return ofAgents;
  const names = cutNames(
    servers.map(({name}) => name),
    MAX_NAMES_CHARS / 10,
  );
  const tools =
    unlisted.length === 0
      ? ''
      : `\nTheir tools so far: ${cutNames(
          unlisted.map(({name}) => name),
          MAX_NAMES_CHARS,
        )}`;
  return `Finds tools of the MCP servers that the user has: ${names}. Call it when a task needs one of them; the tools that it names can be called from then on.${tools}${agents > 0 ? `\n${ofAgents}` : ''}`;
}

function cutNames(names: readonly string[], maxChars: number): string {
  return formatNames(names, takeFitting(names, maxChars, 2).length);
}

/** Tells whether a list of tools names this tool: by its own name, by `mcp__SERVER`, or by `mcp__SERVER__*`. */
export function isNamed(tool: string, names: readonly string[]): boolean {
  return names.some((name) => {
    const written = name.replace(/__\*$/, '').replace(/[^\w*-]/g, '_');
    return matchesTool(written, tool) || tool.startsWith(`${written}__`);
  });
}
