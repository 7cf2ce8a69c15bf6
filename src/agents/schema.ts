/** The one schema of an agent definition. Its TypeScript type, JSON Schema, error texts and names come from it. */

import {z} from 'zod';
import {oneOf, text} from '../config/schema.ts';
import {AGENT_TYPES, MEMORY_SCOPES} from '../core/agent-types.ts';
import {PERMISSION_MODES} from '../core/contract/events.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {WHERE} from '../core/contract/worktree.ts';
import {mustBe} from '../core/util/problem.ts';

export const NAME_PATTERN = /^[a-z][a-z0-9-]{0,63}$/;
export const NAME_RULE = 'lower-case letters, digits and hyphens, a letter first, at most 64';

const MAX_LENGTH = 64;

const BUILT_IN_NAMES: readonly string[] = Object.keys(AGENT_TYPES);

export function isAgentName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(AGENT_TYPES, name);
}

/**
 * Converts a name: `Code Reviewer_v2` → `code-reviewer-v2`. Undefined when no letter from a to z is left to start with.
 */
export function toAgentName(written: string): string | undefined {
  const name = written
    .normalize('NFKD')
    // NFKD has separated the accents from their letters.
    .replace(/\p{Mark}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+/, '')
    .slice(0, MAX_LENGTH)
    .replace(/-+$/, '');
  return isAgentName(name) ? name : undefined;
}

/**
 * Returns the name, if necessary with the first number that makes it unused: `reviewer-2`. Built-in names are in use.
 */
export function toUnusedName(name: string, taken: Iterable<string>): string {
  const all = new Set([...taken, ...BUILT_IN_NAMES]);
  if (!all.has(name)) return name;
  for (let number = 2; ; number++) {
    const candidate = `${name.slice(0, MAX_LENGTH - `-${number}`.length)}-${number}`;
    if (!all.has(candidate)) return candidate;
  }
}

/** The format that this program writes, and the newest one that it reads. */
export const FORMAT_VERSION = 1;

export const SCHEMA_ID = `urn:mini-cc:schema:agent:${FORMAT_VERSION}`;

const COLORS = 'red orange yellow green cyan blue purple magenta pink white gray'.split(' ');

function toolList(what: string) {
  return z.array(z.string(mustBe('the name of a tool')), mustBe(what)).min(1, {error: `must be ${what}, and is empty`});
}

function optional<T extends z.ZodType>(schema: T, description: string) {
  return schema.optional().meta({description});
}

const positiveInt = (what: string) => z.int(mustBe(what)).positive(mustBe(what));

const TURNS = mustBe('a whole number from 1 to 400');
const DOLLARS = mustBe('an amount in US dollars');
const WINDOW = mustBe('a whole number of tokens from 1024');
const SECONDS = mustBe('a number of seconds, 0 for no limit');

export const agentFileSchema = z.object({
  $schema: optional(z.string(mustBe('an address')), 'Where editors find the schema of this file.'),
  version: optional(positiveInt('a whole number from 1'), `Version of this format, ${FORMAT_VERSION} if absent.`),
  name: z
    .string(mustBe('text'))
    .regex(NAME_PATTERN, {error: ({input}) => `${JSON.stringify(input)} is no name for an agent: ${NAME_RULE}`})
    .meta({description: `The name to dispatch it by, and of the file without .json: ${NAME_RULE}.`}),
  description: text('text').meta({
    description: 'When to choose this agent. The main model reads it, so say what it is for and what it cannot do.',
  }),
  tools: z
    .union([z.literal('*', mustBe('"*"')), toolList('a list of tool names')], mustBe('"*" or a list of tool names'))
    .meta({description: '"*" for all base tools, or their names. A subagent never has Task.'}),
  prompt: text('text').meta({description: 'Its system prompt: how to work, what to check, how to report.'}),
  disallowedTools: optional(
    toolList('a list of tool names'),
    'Tools that it may not have, although "tools" lists them.',
  ),
  model: optional(
    text('the name of a model'),
    'opus, sonnet, haiku, inherit, or the name of a model. Default: the main agent’s.',
  ),
  thinking: optional(oneOf(['off', 'low', 'medium', 'high']), 'How much the model thinks before it answers.'),
  effort: optional(
    z.union([oneOf(['low', 'medium', 'high', 'xhigh', 'max']), z.number()], mustBe('low, medium, high, xhigh or max')),
    'thinking in the words of Claude Code; levels above high mean high.',
  ),
  initialPrompt: optional(
    z.string(mustBe('text')),
    'Goes before the first prompt when the session runs as this agent.',
  ),
  maxTurns: optional(z.int(TURNS).min(1, TURNS).max(400, TURNS), 'Model calls, 1 to 400.'),
  timeoutSeconds: optional(z.number(SECONDS).min(0, SECONDS), 'Wall time in seconds; 0 = no limit.'),
  maxTokens: optional(positiveInt('a whole number of tokens'), 'Tokens of a run, in and out.'),
  maxBudgetUsd: optional(z.number(DOLLARS).positive(DOLLARS), 'Cost of a run in US dollars.'),
  contextTokens: optional(z.int(WINDOW).min(1024, WINDOW), 'Binds a run to a smaller context window.'),
  readOnly: optional(
    z.boolean(mustBe('true or false')),
    'Nothing it calls may write. Default: true when "tools" lists no writing tool.',
  ),
  isolation: optional(oneOf(['none', 'worktree']), 'worktree: each run works in its own git worktree.'),
  where: optional(
    oneOf(WHERE),
    'Where its runs work, with isolation: worktree. auto: at workers when all places here are taken.',
  ),
  background: optional(
    z.boolean(mustBe('true or false')),
    'Its runs go to the background: the main agent does not wait for them.',
  ),
  permissionMode: optional(
    oneOf(PERMISSION_MODES),
    'What it may do without a question. In a project that is not trusted only plan and default have an effect.',
  ),
  apiKeyEnv: optional(
    text('the name of an environment variable'),
    'Environment variable with its own key. Ignored in a project that is not trusted.',
  ),
  outputSchema: optional(
    z.record(z.string(), z.unknown(), mustBe('a JSON Schema object')),
    'JSON Schema that its answer must match.',
  ),
  mcpServers: optional(
    z.union(
      [
        z.array(z.union([z.string(), z.record(z.string(), z.looseObject({}))])),
        z.record(z.string(), z.looseObject({})),
      ],
      mustBe('a list of names of MCP servers, or an object of entries as in .mcp.json'),
    ),
    'MCP servers that it has: names, or entries as in .mcp.json. For a read-only agent they run in the sandbox.',
  ),
  skills: optional(
    z.array(text('the name of a skill'), mustBe('a list of names of skills')),
    'Skills whose texts it has from the start.',
  ),
  memory: optional(
    oneOf(MEMORY_SCOPES),
    'A folder of notes that it keeps: in your home, in the project, or in the project for you alone. Its MEMORY.md is in the system prompt, and only there a read-only agent may write.',
  ),
  hooks: optional(
    z.record(z.string(), z.array(z.unknown(), mustBe('a list')), mustBe('an object of events, as in the settings')),
    'Hooks of its runs alone, as in the settings; Stop is told when a run ends. Ignored in a project that is not trusted.',
  ),
  color: optional(z.enum(COLORS, mustBe(`one of ${COLORS.join(', ')}`)), 'Its colour on the screen.'),
});

export type AgentFile = z.infer<typeof agentFileSchema>;
export type AgentKey = keyof AgentFile;

export const AGENT_KEYS = Object.keys(agentFileSchema.shape) as readonly AgentKey[];

/**
 * Keys whose wrong value is an error in a definition for Claude Code, because without them the agent could do more than
 * intended. A newer version may know more values of the others.
 */
const STRICT_KEYS: readonly AgentKey[] = [
  'name',
  'description',
  'tools',
  'prompt',
  'disallowedTools',
  'readOnly',
  'isolation',
];

/** Keys whose wrong value is only a warning, because the agent works without it. */
export const SOFT_KEYS: Readonly<Record<'json' | 'claude', ReadonlySet<string>>> = {
  json: new Set<AgentKey>(['$schema', 'color']),
  claude: new Set(AGENT_KEYS.filter((key) => !STRICT_KEYS.includes(key))),
};

/**
 * Creates the JSON Schema (draft 2020-12) for editors. They complete the names of these tools; other names are allowed.
 */
export function createAgentSchema(tools: readonly ToolFacts[]): Record<string, unknown> {
  const {$schema, properties = {}, ...rest} = z.toJSONSchema(agentFileSchema, {io: 'input'});
  const name = {...asObject(properties.name), not: {enum: BUILT_IN_NAMES}};
  const offered = tools.filter(({dispatches}) => !dispatches).map((tool) => tool.name);
  const list = {type: 'array', minItems: 1, items: {anyOf: [{enum: offered}, {type: 'string'}]}};
  return {
    $schema,
    $id: SCHEMA_ID,
    title: 'mini-cc agent definition',
    ...rest,
    properties: {
      ...properties,
      name,
      tools: {description: asObject(properties.tools).description, anyOf: [{const: '*'}, list]},
      disallowedTools: {description: asObject(properties.disallowedTools).description, ...list},
    },
    additionalProperties: false,
  };
}

function asObject(schema: unknown): Record<string, unknown> {
  return typeof schema === 'object' && schema !== null ? {...schema} : {};
}
