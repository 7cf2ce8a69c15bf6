/** What an agent is, and the three that are built in. A new one is one entry in `AGENT_TYPES`. */
import type {PermissionMode} from './contract/events.ts';
import type {Isolation} from './contract/worktree.ts';
import codePrompt from './prompts/code.md';
import explorePrompt from './prompts/explore.md';
import planPrompt from './prompts/plan.md';
import {findTypo} from './util/names.ts';

export interface AgentDefinition {
  readonly name: string;
  /** When to choose it: the main model reads this. */
  readonly description: string;
  /** Tool names, or `*` for all base tools. Task is never among them. */
  readonly tools: '*' | readonly string[];
  /** Its system prompt. */
  readonly prompt: string;
  /** The sandbox confines its bash, and nothing it calls may write. */
  readonly readOnly: boolean;
  readonly model?: string;
  /** Model calls, 1 to 400. */
  readonly maxTurns?: number;
  /** Seconds of wall time; 0 = none. */
  readonly timeoutSeconds?: number;
  /** Tokens in and out of a run, cache included. */
  readonly maxTokens?: number;
  /** `worktree`: each run works in its own worktree. A Task call cannot lift that. */
  readonly isolation?: Isolation;
  /** Its runs go on in the background, unless the Task call says otherwise. */
  readonly background?: boolean;
  /** What it may do unasked, instead of what the session's mode says. */
  readonly permissionMode?: PermissionMode;
  /** Its colour on the screen. Default: chosen by its name. */
  readonly color?: string;
}

export const AGENT_TYPES: Readonly<Record<string, AgentDefinition>> = {
  explore: {
    name: 'explore',
    description: 'Finds and explains code: where things are, how they work. Cannot change anything.',
    tools: ['bash', 'read_file', 'grep', 'glob'],
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
    tools: ['bash', 'read_file', 'grep', 'glob'],
    prompt: planPrompt,
    readOnly: true,
  },
};

/** The agent with some of its tools only. @param offered tools that an agent with `*` has. */
export function restrictTools(
  agent: AgentDefinition,
  only: readonly string[],
  offered: readonly string[],
): AgentDefinition {
  const has = agent.tools === '*' ? offered : agent.tools;
  return {...agent, tools: has.filter((tool) => only.includes(tool))};
}

/** The agents that can be dispatched now. Read anew for each Task. */
export interface AgentCatalog {
  list(): readonly AgentDefinition[];
  get(name: string): AgentDefinition | undefined;
}

export const builtInAgents: AgentCatalog = {
  list: () => Object.values(AGENT_TYPES),
  get: (name) => (Object.hasOwn(AGENT_TYPES, name) ? AGENT_TYPES[name] : undefined),
};

/** What a dispatch of an agent that is not there is told. @param name `sent` without what surrounds it. */
export function formatUnknownAgent(sent: string, name: string, agents: readonly string[]): string {
  const near = findTypo(name, agents);
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
  return `Invalid agent_type: "${sent}".${meant} Valid types: ${agents.join(', ')}`;
}

/** `subagents.allowAgents`: only those named can be dispatched; `*` stands for all. */
export function restrictCatalog(catalog: AgentCatalog, allowed: readonly string[]): AgentCatalog {
  const isAllowed = (name: string) => allowed.includes('*') || allowed.includes(name);
  return {
    list: () => catalog.list().filter(({name}) => isAllowed(name)),
    get: (name) => (isAllowed(name) ? catalog.get(name) : undefined),
  };
}
