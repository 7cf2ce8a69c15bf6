/** What an agent definition is, and the built-in agents. To add one, add an entry to `AGENT_TYPES`. */
import type {PermissionMode} from './contract/events.ts';
import type {HookSetting} from './contract/hook.ts';
import type {Thinking} from './contract/model.ts';
import type {Isolation, Where} from './contract/worktree.ts';
import codePrompt from './prompts/code.md';
import explorePrompt from './prompts/explore.md';
import planPrompt from './prompts/plan.md';
import {findTypo} from './util/names.ts';

export interface AgentDefinition {
  readonly name: string;
  /** When to choose the agent, for the main model. */
  readonly description: string;
  /** Names of tools, or `*` for all base tools. A subagent never gets the Task tools. */
  readonly tools: '*' | readonly string[];
  /** Its system prompt. */
  readonly prompt: string;
  /** The sandbox confines its bash, and nothing it calls may write. */
  readonly readOnly: boolean;
  readonly model?: string;
  /** How much its model thinks before it answers. */
  readonly thinking?: Thinking;
  /** The variable of the environment that has its own key for its model's server. */
  readonly apiKeyEnv?: string;
  /** Model calls of a run, 1 to 400. */
  readonly maxTurns?: number;
  /** Seconds of wall time; 0 = none. */
  readonly timeoutSeconds?: number;
  /** Tokens of a run, in and out, including the cache. */
  readonly maxTokens?: number;
  /** Cost of a run in US dollars. */
  readonly maxBudgetUsd?: number;
  /** Binds its runs to a smaller context window. Tokens. */
  readonly contextTokens?: number;
  /** `worktree`: each run works in its own worktree. A Task call cannot lift that. */
  readonly isolation?: Isolation;
  /** On which machine its runs work, unless the Task call says otherwise. Only with isolation: worktree. */
  readonly where?: Where;
  /** Its runs go on in the background, unless the Task call says otherwise. */
  readonly background?: boolean;
  /** The permission mode of its runs, in place of the session's. */
  readonly permissionMode?: PermissionMode;
  /** JSON Schema that its answer must match. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Servers that it names: of the session, or with an entry of its own as `.mcp.json` has them. */
  readonly mcpServers?: readonly {readonly name: string; readonly entry?: unknown}[];
  /** Skills whose texts it has from the start. */
  readonly skills?: readonly string[];
  /** Commands that are run at events of its runs. */
  readonly hooks?: readonly HookSetting[];
  /** Tools of MCP servers that it may not have. */
  readonly disallowedMcp?: readonly string[];
  /** Its colour on the screen. Default: chosen by its name. */
  readonly color?: string;
}

export const AGENT_TYPES: Readonly<Record<string, AgentDefinition>> = {
  explore: {
    name: 'explore',
    description: 'Finds and explains code: where things are, how they work. Cannot change anything.',
    tools: ['bash', 'read_file', 'grep', 'glob', 'symbols'],
    prompt: explorePrompt,
    readOnly: true,
  },
  code: {
    name: 'code',
    description: 'Implements a feature or fixes a bug, and checks its work.',
    tools: '*',
    prompt: codePrompt,
    readOnly: false,
  },
  plan: {
    name: 'plan',
    description: 'Works out a design and its steps from the code as it is. Cannot change anything.',
    tools: ['bash', 'read_file', 'grep', 'glob', 'symbols'],
    prompt: planPrompt,
    readOnly: true,
  },
};

/** The agent with only those of its tools. @param offered the tools of an agent with `*`. */
export function restrictTools(
  agent: AgentDefinition,
  only: readonly string[],
  offered: readonly string[],
): AgentDefinition {
  const has = agent.tools === '*' ? offered : agent.tools;
  return {...agent, tools: has.filter((tool) => only.includes(tool))};
}

/** The agents that can be dispatched. Each call returns the definitions as they are now. */
export interface AgentCatalog {
  list(): readonly AgentDefinition[];
  get(name: string): AgentDefinition | undefined;
}

/**
 * The error text for an unknown agent.
 * @param sent the name as it was sent. @param name the name after its repair, without quotes and tags.
 */
export function formatUnknownAgent(sent: string, name: string, agents: readonly string[]): string {
  const meant = findTypo(name, agents);
  const suggestion = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `Invalid agent_type: "${sent}".${suggestion} Valid types: ${agents.join(', ')}`;
}

/** Applies `subagents.allowAgents`: only these agents can be dispatched. @param allowed names; `*` allows all. */
export function restrictCatalog(catalog: AgentCatalog, allowed: readonly string[]): AgentCatalog {
  const isAllowed = (name: string) => allowed.includes('*') || allowed.includes(name);
  return {
    list: () => catalog.list().filter(({name}) => isAllowed(name)),
    get: (name) => (isAllowed(name) ? catalog.get(name) : undefined),
  };
}
