/**
 * The one schema of all settings. TypeScript types, JSON Schema, error texts and the table of `config show` come from
 * it. `default` is the value of a setting that is not set. `defaultText` describes a default that depends on other
 * things.
 */

import {z} from 'zod';
import {NOTIFY_KINDS, THEME_NAMES} from '../core/contract/events.ts';
import {FAN_OUT_MODES, SPLITS} from '../core/contract/fan-out.ts';
import {SANDBOX_MODES} from '../core/contract/permission.ts';
import {mustBe} from '../core/util/problem.ts';
import {LOWERS} from './setting-keys.ts';

export function text(what: string) {
  return z.string(mustBe(what)).regex(/\S/, {error: `must be ${what}, and is empty`});
}

/** `item` names one entry, `items` the list: `list('the name of a tool', 'a list of tool names')`. */
function list(item: string, items: string) {
  return z.array(text(item), mustBe(items));
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, mustBe(`${values.slice(0, -1).join(', ')} or ${values.at(-1)}`));
}

function whole(min: number, max?: number, what?: string) {
  const error = mustBe(what ?? `a whole number from ${min}${max === undefined ? '' : ` to ${max}`}`);
  const number = z.int(error).min(min, error);
  return max === undefined ? number : number.max(max, error);
}

function atLeastZero(what: string) {
  return z.number(mustBe(what)).min(0, mustBe(what));
}

function flag() {
  return z.boolean(mustBe('true or false'));
}

/** A setting that may be absent. @param more its default value, or a text for a default that depends on other things */
function setting<T extends z.ZodType>(
  schema: T,
  description: string,
  more: {readonly default?: unknown; readonly defaultText?: string} = {},
) {
  return schema.optional().meta({description, ...more});
}

/** An unknown key becomes an issue, which settings-file.ts turns into a warning or an error. */
function section<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, mustBe('an object'));
}

/** An object whose keys the user chooses: names of agents, providers, models. */
function named<T extends z.core.$ZodType>(entry: T) {
  return z.record(z.string(), entry, mustBe('an object'));
}

/** The newest format that this program reads, and the one that it writes. */
export const FORMAT_VERSION = 1;

const modelName = text('the name of a model');
const variableName = text('the name of an environment variable');
const toolNames = list('the name of a tool', 'a list of tool names');
const paths = list('a path', 'a list of paths');
const rules = (what: string) =>
  setting(
    list('a rule such as "bash" or "edit_file(src/**)"', 'a list of rules'),
    `${what} Lists of all files add up.`,
    {default: []},
  );
const commands = (what: string) =>
  setting(list('a command', 'a list of commands'), what, {defaultText: 'found in package.json and the like'});
const dollars = (what: string) => atLeastZero('US dollars for a million tokens').meta({description: what});

const thinking = oneOf(['off', 'low', 'medium', 'high']);

const amount = mustBe('an amount in US dollars above 0');
const dollarLimit = (what: string) => setting(z.number(amount).positive(amount), what, {defaultText: 'none'});

const agent = section({
  model: setting(modelName, 'Its model: an alias, provider/model, or a model’s name.'),
  thinking: setting(thinking, 'How much its model thinks before it answers.'),
  apiKeyEnv: setting(variableName, 'The environment variable that holds its own key.'),
  maxTurns: setting(whole(1, 400), 'Model calls of a run, 1 to 400.'),
  timeoutSeconds: setting(
    atLeastZero('a number of seconds, 0 for no limit'),
    'Wall time of a run in seconds; 0 = no limit.',
  ),
  maxBudgetUsd: dollarLimit('Cost of a run in US dollars.'),
});

const permissions = section({
  allow: rules('What passes without a question. Of a project that is not trusted it is ignored.'),
  ask: rules('What is always asked. Wins over allow.'),
  deny: rules('What is refused. Wins over ask and allow.'),
  disableBypassPermissionsMode: setting(
    z.literal('disable', mustBe('"disable"')),
    'Turns the mode bypassPermissions off for flags, commands, drivers and agents.',
    {defaultText: 'none'},
  ),
});

const ceiling = (schema: z.ZodNumber, what: string, key: string) =>
  setting(schema.nullable(), `${what} null = no limit.`, {default: LOWERS[`subagents.perPrompt.${key}`]});

const POOL_SIZE = '"auto" or a whole number from 1 to 64';
const subagents = section({
  maxConcurrent: setting(
    z.union([z.literal('auto'), whole(1, 64, POOL_SIZE)], mustBe(POOL_SIZE)),
    'Runs at a time. auto: 8 for a hosted model, 3 for a model server on this machine.',
    {default: 'auto'},
  ),
  perPrompt: setting(
    section({
      runs: ceiling(whole(0), 'Runs that the model may start by Task and FanOut.', 'runs'),
      tokens: ceiling(whole(1), 'Tokens that these runs may use, with the cache.', 'tokens'),
      usd: ceiling(z.number(amount).positive(amount), 'US dollars that these runs may cost.', 'usd'),
    }).nullable(),
    'What one prompt may set off before the user is asked; null = no limit. A project can only lower it.',
  ),
  resultTokens: setting(whole(1), 'Tokens that a result should keep within; past twice that it is cut.', {
    default: 500,
  }),
  archiveAfterMinutes: setting(
    atLeastZero('a number of minutes'),
    'Minutes after its end until a run’s transcript is archived; 0 = never.',
    {default: 60},
  ),
  allowAgents: setting(list('the name of an agent', 'a list of agents'), 'What Task may dispatch; "*" = all.', {
    default: ['*'],
  }),
  tools: setting(
    section({
      allow: setting(toolNames, 'Subagents get these tools only.', {
        defaultText: 'all',
      }),
      deny: setting(toolNames, 'No subagent gets these. Wins over allow. Lists of all files add up.', {default: []}),
    }),
    'Limits the tools of every subagent.',
  ),
  queue: setting(
    section({
      url: z.url({protocol: /^rediss?$/, ...mustBe('the address of Redis, redis://… or rediss://…')}).meta({
        description: 'The Redis or Valkey server through which runs go to workers.',
        defaultText: 'none; a queue needs it',
      }),
      prefix: setting(
        z.string(mustBe('a name')).regex(/^[\w.-]{1,64}$/, mustBe('letters, digits, dots, hyphens and underscores')),
        'Its keys begin with it.',
        {defaultText: 'mini-cc'},
      ),
      secretEnv: setting(
        variableName,
        'The environment variable with the secret that signs what goes through the queue.',
        {defaultText: 'MINI_CC_QUEUE_SECRET'},
      ),
    }),
    'The queue of runs that work on other machines.',
  ),
});

const limits = section({
  profile: setting(oneOf(['standard', 'graded']), 'Turns and wall time of subagents: fixed, or by role and task.', {
    default: 'standard',
  }),
  maxBudgetUsd: dollarLimit('Cost of a session with its subagents, in US dollars. Needs the prices of its models.'),
  idleSeconds: setting(whole(0), 'Seconds without a byte from the model’s stream until the call is given up.', {
    default: 120,
  }),
  thinkingSeconds: setting(
    whole(0),
    'Seconds without content while the model’s stream still brings pings until the call is given up.',
    {default: 600},
  ),
});

const retry = section({
  maxWaitSeconds: setting(
    atLeastZero('a number of seconds'),
    'Seconds for which a failed model call is tried again. Attempts are not counted.',
    {defaultText: '120 in print mode, 300 in the REPL'},
  ),
  pauseSeconds: setting(
    atLeastZero('a number of seconds'),
    'Seconds for which print mode and drivers wait for the end of a limit of the account. The REPL waits until you stop it.',
    {default: 0},
  ),
});

const provider = section({
  api: setting(
    oneOf(['anthropic', 'openai', 'bedrock', 'vertex']),
    'What the server speaks: the Messages API, chat completions, or a cloud’s own.',
    {default: 'anthropic'},
  ),
  baseURL: setting(
    z.url({protocol: /^https?$/, ...mustBe('the address of a server, http://… or https://…')}),
    'The server. bedrock and vertex need none.',
  ),
  apiKeyEnv: setting(variableName, 'The environment variable that holds its key.'),
  auth: setting(oneOf(['bearer', 'x-api-key']), 'The header for the key of a server that speaks the Messages API.', {
    default: 'bearer',
  }),
  local: setting(flag(), 'It runs on this machine.', {defaultText: 'whether its address is of this machine'}),
  webSearch: setting(flag(), 'It has the Messages API’s own web search.', {default: false}),
  region: setting(text('a region of the cloud'), 'Of bedrock and vertex.'),
  project: setting(text('a project of the cloud'), 'Of vertex.'),
}).refine(({api, baseURL}) => baseURL !== undefined || api === 'bedrock' || api === 'vertex', {
  path: ['baseURL'],
  error: 'is missing',
});

const role = section({
  model: setting(modelName, 'Its model: an alias, provider/model, or a model’s name.'),
  thinking: setting(thinking, 'How much it thinks before it answers.'),
});

const price = section({
  input: dollars('US dollars for a million tokens in.'),
  output: dollars('US dollars for a million tokens out.'),
  cacheRead: dollars('US dollars for a million tokens read from the cache.').optional(),
  cacheWrite: dollars('US dollars for a million tokens written to the cache.').optional(),
});

const sandbox = section({
  mode: setting(oneOf(SANDBOX_MODES), 'Confines the bash of the main agent and of agents that may write.', {
    default: 'off',
  }),
  show: setting(paths, 'Further paths that confined commands see. Lists of all files add up.', {default: []}),
  hide: setting(paths, 'Further paths that confined commands do not see. Lists of all files add up.', {default: []}),
  env: setting(
    list('the name of a variable', 'a list of variables'),
    'Further variables that confined commands get. Lists of all files add up.',
    {default: []},
  ),
  container: setting(
    flag(),
    'mini-cc runs in a container that is the wall where no sandbox works. Only in your own settings.',
    {default: false},
  ),
  allowedHosts: setting(
    list('the name of a host', 'a list of hosts'),
    'Hosts that confined commands of agents that may write can reach.',
    {default: []},
  ),
  unixSockets: setting(
    flag(),
    'Confined commands of agents that may write can use Unix sockets: those of your programs too, unless in /tmp or /run.',
    {default: false},
  ),
});

const fanOut = section({
  mode: setting(oneOf(FAN_OUT_MODES), 'Whether a prompt about many files is split among agents.', {
    defaultText: 'ask in the REPL, off in print mode',
  }),
  parts: setting(whole(1, 64), 'Parts that the files are split into.', {default: 3}),
  split: setting(oneOf(SPLITS), 'ceil: 100 files = 34, 34, 32; balanced: 34, 33, 33.', {default: 'ceil'}),
  tools: setting(toolNames, 'Tools of the parts.', {
    default: ['read_file', 'edit_file', 'write_file'],
  }),
  where: setting(oneOf(['local', 'workers', 'auto']), 'Where the parts run.', {default: 'local'}),
});

const verify = section({
  level: setting(
    oneOf(['off', 'fast', 'thorough']),
    'What is run after code was changed. fast: lint and types; thorough: tests too.',
    {default: 'off'},
  ),
  rounds: setting(whole(0), 'Times that what fails goes back to the run.', {default: 2}),
  fast: commands('Commands of level fast.'),
  thorough: commands('Further commands of level thorough.'),
});

/** `"sandbox": "auto"` is short for `"sandbox": {"mode": "auto"}`. */
function modeOr<M extends readonly [string, ...string[]], S extends z.ZodObject>(modes: M, whole: S, what: string) {
  const short = z.union([z.enum(modes), whole], mustBe(what));
  return short.transform((value) => (typeof value === 'string' ? {mode: value as M[number]} : value) as z.output<S>);
}

export const settingsSchema = section({
  $schema: setting(z.string(mustBe('an address')), 'Where editors find the schema of this file.'),
  version: setting(whole(1), `Version of this format, ${FORMAT_VERSION} if absent.`),
  model: setting(modelName, 'The main agent’s model: opus, sonnet, haiku, provider/model, or a model’s name.', {
    default: 'sonnet',
  }),
  subagentModel: setting(modelName, 'The model of subagents that name none; inherit = the main agent’s.', {
    default: 'inherit',
  }),
  fallback: setting(
    list('the name of a model', 'a list of models'),
    'Models that answer when the chosen one cannot, in this order.',
    {default: []},
  ),
  roles: setting(
    named(role),
    'Models by the name or the group of an agent: explore, plan, code-review, code, default.',
  ),
  thinking: setting(thinking, 'How much the model thinks before it answers.', {defaultText: 'the model’s own'}),
  contextWindow: setting(named(whole(1024)), 'Tokens that a model can read and write at once, by its name.', {
    defaultText: 'as the server says',
  }),
  compaction: setting(
    section({
      model: setting(modelName, 'Summarises conversations that fill the context window.', {
        defaultText: 'the model of the run',
      }),
    }),
    'What happens to conversations that fill the context window.',
  ),
  maxOutputTokens: setting(whole(256), 'Tokens of one reply.', {default: 16_384}),
  contextTokens: setting(whole(1024), 'Limits runs to a smaller context window.', {defaultText: 'the model’s own'}),
  agents: setting(named(agent), 'Models and limits by the name of the agent.'),
  permissions: setting(permissions, 'What is allowed, asked, refused.'),
  env: setting(
    named(z.string(mustBe('a text'))),
    'Environment variables of the session: of commands, hooks, MCP servers, and of the model.',
  ),
  sandbox: setting(
    modeOr(SANDBOX_MODES, sandbox, 'off, auto, required or an object'),
    'Confinement of commands by the operating system.',
  ),
  subagents: setting(subagents, 'How subagents run.'),
  limits: setting(limits, 'What ends a run.'),
  retry: setting(retry, 'Model calls that failed are tried again.'),
  providers: setting(named(provider), 'Model servers by name.'),
  pricing: setting(named(price), 'Prices by provider/model or model.'),
  fanOut: setting(
    modeOr(FAN_OUT_MODES, fanOut, 'ask, auto, off or an object'),
    'The same work on many files, split among agents.',
  ),
  theme: setting(
    oneOf(THEME_NAMES),
    'The colours of the screen. auto: dark or light, as its background; terminal: its palette.',
    {
      default: 'auto',
    },
  ),
  title: setting(flag(), 'Whether the title of the terminal says state and task.', {default: true}),
  notify: setting(oneOf(NOTIFY_KINDS), 'How you are called when a question waits while you look elsewhere.', {
    default: 'bell',
  }),
  statusLine: setting(
    section({
      type: setting(z.literal('command', mustBe('"command"')), 'The kind of the status line.', {default: 'command'}),
      command: setting(text('a command'), 'It reads facts of the session as JSON; its first row is shown.', {
        defaultText: 'none',
      }),
    }),
    'A command that makes the status line.',
  ),
  screenReader: setting(flag(), 'Whether the REPL is lines of words for a screen reader. Only in your own settings.', {
    default: false,
  }),
  vim: setting(flag(), 'Whether the prompt has the keys of vi.', {default: false}),
  verify: setting(verify, 'Checks after code was changed.'),
  claude: setting(
    section({
      hooks: setting(flag(), 'Whether the hooks of ~/.claude/settings.json run.', {default: true}),
    }),
    'What is read of files made for Claude Code.',
  ),
  hooks: setting(
    named(z.array(z.looseObject({}, mustBe('an object')), mustBe('a list'))),
    'Commands that run at certain events.',
  ),
  mcp: setting(
    section({
      sampling: setting(
        z.union(
          [z.boolean(), z.literal('ask'), z.array(z.string())],
          mustBe('true, false, "ask" or a list of names of servers'),
        ),
        'Which servers may ask your model, at your cost; ask: you are asked each time.',
        {default: false},
      ),
    }),
    'What servers of the Model Context Protocol may do.',
  ),
  mcpServers: setting(named(z.looseObject({}, mustBe('an object'))), 'Servers of the Model Context Protocol by name.'),
  enabledPlugins: setting(named(flag()), 'Installed plugins that are on or off, as name@marketplace.'),
  extraKnownMarketplaces: setting(
    named(z.looseObject({}, mustBe('an object'))),
    'Marketplaces to install plugins from, by name: {"source": {"source": "github", "repo": "owner/name"}}.',
  ),
  retention: setting(
    section({
      days: setting(atLeastZero('a number of days, 0 for ever'), 'Days until transcripts are erased; 0 = never.', {
        default: 0,
      }),
    }),
    'How long transcripts are kept.',
  ),
});

/** Settings of one file, or of all files merged. */
export type SettingsValues = Omit<z.output<typeof settingsSchema>, '$schema' | 'version'>;
