/** Defines what an agent is, and the built-in agents. To add one, add an entry to `AGENT_TYPES`. */
import type {PermissionMode} from './contract/events.ts';
import type {HookSetting} from './contract/hook.ts';
import type {Thinking} from './contract/model.ts';
import type {NamedLimits} from './contract/results.ts';
import type {Isolation, Where} from './contract/worktree.ts';
import codePrompt from './prompts/code.md';
import explorePrompt from './prompts/explore.md';
import planPrompt from './prompts/plan.md';
import {findTypo} from './util/names.ts';

/** Where the folder of an agent's notes is: in the user's home, in the project, or in the project for this user alone. */
export const MEMORY_SCOPES = ['user', 'project', 'local'] as const;

export interface AgentDefinition extends NamedLimits {
  readonly name: string;
  /** Text for the main model: when to choose the agent. */
  readonly description: string;
  /** Names of tools, or `*` for all base tools. A subagent never gets the Task tools. */
  readonly tools: '*' | readonly string[];
  /** System prompt of the agent. */
  readonly prompt: string;
  /** True when the sandbox confines the agent's bash and nothing that it calls may write. */
  readonly readOnly: boolean;
  readonly model?: string;
  readonly thinking?: Thinking;
  /** Goes before the first prompt of a conversation when the session runs as this agent. */
  readonly initialPrompt?: string;
  /** Environment variable with the agent's own key for its model's server. */
  readonly apiKeyEnv?: string;
  /** With `worktree`, each run works in its own worktree. A Task call cannot change that. */
  readonly isolation?: Isolation;
  /** Machine of its runs, unless the Task call names another. Allowed only with isolation: worktree. */
  readonly where?: Where;
  /** True when its runs continue in the background, unless the Task call says otherwise. */
  readonly background?: boolean;
  /** Permission mode of its runs, instead of the session's. */
  readonly permissionMode?: PermissionMode;
  /** JSON Schema that its answer must match. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Servers that the agent names: those of the session, or its own with an entry as in `.mcp.json`. */
  readonly mcpServers?: readonly {readonly name: string; readonly entry?: unknown}[];
  /** Skills whose texts the agent has from the start. */
  readonly skills?: readonly string[];
  /** Notes that outlive its runs. `tools`: those that it has for its notes alone. */
  readonly memory?: {readonly scope: (typeof MEMORY_SCOPES)[number]; readonly tools: readonly string[]};
  /** Commands that run at events of its runs. */
  readonly hooks?: readonly HookSetting[];
  /** Tools of MCP servers that the agent may not have. */
  readonly disallowedMcp?: readonly string[];
  /** True when only a command of mini-cc starts its runs. Task does not offer it. */
  readonly isCommandOnly?: boolean;
  /** Colour of the agent on the screen. Default: it depends on the name. */
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

/** Returns the agent with only those of its tools. @param offered tools of an agent with `*` */
export function restrictTools(
  agent: AgentDefinition,
  only: readonly string[],
  offered: readonly string[],
): AgentDefinition {
  const has = agent.tools === '*' ? offered : agent.tools;
  const {memory, ...rest} = agent;
  const keep = (tools: readonly string[]) => tools.filter((tool) => only.includes(tool));
  return {...rest, tools: keep(has), ...(memory && {memory: {...memory, tools: keep(memory.tools)}})};
}

/** The agents that can be dispatched. Each call returns the current definitions. */
export interface AgentCatalog {
  list(): readonly AgentDefinition[];
  get(name: string): AgentDefinition | undefined;
}

/**
 * Formats the error for an unknown agent.
 * @param sent name as it was sent
 * @param name name after its repair, without quotes and tags
 */
export function formatUnknownAgent(sent: string, name: string, agents: readonly string[]): string {
  const meant = findTypo(name, agents);
  const suggestion = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `Invalid agent_type: "${sent}".${suggestion} Valid types: ${agents.join(', ')}`;
}

/**
 * Applies `subagents.allowAgents`: only these agents can be dispatched. Agents of a command are not listed, but found by
 * name, so that their runs can continue.
 * @param allowed names; `*` allows all
 */
export function restrictCatalog(catalog: AgentCatalog, allowed: readonly string[]): AgentCatalog {
  const isAllowed = (name: string) => allowed.includes('*') || allowed.includes(name);
  return {
    list: () => catalog.list().filter(({name, isCommandOnly}) => !isCommandOnly && isAllowed(name)),
    get(name) {
      const agent = catalog.get(name);
      return agent?.isCommandOnly || isAllowed(name) ? agent : undefined;
    },
  };
}
