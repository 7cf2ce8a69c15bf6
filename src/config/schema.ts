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

function text(what: string) {
  return z.string(mustBe(what)).regex(/\S/, {error: `must be ${what}, and is empty`});
}

/** `item` names one entry, `items` the list: `list('the name of a tool', 'a list of tool names')`. */
function list(item: string, items: string) {
  return z.array(text(item), mustBe(items));
}

function oneOf<const T extends readonly string[]>(values: T) {
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

const modelName = () => text('the name of a model');
const rules = (what: string) =>
  list('a rule such as "bash" or "edit_file(src/**)"', 'a list of rules')
    .optional()
    .meta({description: `${what} Lists of all files add up.`, default: []});
const commands = (what: string) =>
  list('a command', 'a list of commands')
    .optional()
    .meta({description: what, defaultText: 'found in package.json and the like'});
const dollars = (what: string) => atLeastZero('US dollars for a million tokens').meta({description: what});

const thinking = () => oneOf(['off', 'low', 'medium', 'high']).optional();

const dollarLimit = (what: string) =>
  z
    .number(mustBe('an amount in US dollars above 0'))
    .positive(mustBe('an amount in US dollars above 0'))
    .optional()
    .meta({description: what, defaultText: 'none'});

const agent = section({
  model: modelName().optional().meta({description: 'Its model: an alias, provider/model, or a model’s name.'}),
  thinking: thinking().meta({description: 'How much its model thinks before it answers.'}),
  apiKeyEnv: text('the name of an environment variable')
    .optional()
    .meta({description: 'The environment variable that holds its own key.'}),
  maxTurns: whole(1, 400).optional().meta({description: 'Model calls of a run, 1 to 400.'}),
  timeoutSeconds: atLeastZero('a number of seconds, 0 for no limit')
    .optional()
    .meta({description: 'Wall time of a run in seconds; 0 = no limit.'}),
  maxBudgetUsd: dollarLimit('Cost of a run in US dollars.'),
});

const permissions = section({
  allow: rules('What passes without a question. Of a project that is not trusted it is ignored.'),
  ask: rules('What is always asked. Wins over allow.'),
  deny: rules('What is refused. Wins over ask and allow.'),
});

const POOL_SIZE = '"auto" or a whole number from 1 to 64';
const subagents = section({
  maxConcurrent: z
    .union([z.literal('auto'), whole(1, 64, POOL_SIZE)], mustBe(POOL_SIZE))
    .optional()
    .meta({
      description: 'Runs at a time. auto: 8 for a hosted model, 3 for a model server on this machine.',
      default: 'auto',
    }),
  resultTokens: whole(1)
    .optional()
    .meta({description: 'Tokens that a result should keep within; past twice that it is cut.', default: 500}),
  archiveAfterMinutes: atLeastZero('a number of minutes')
    .optional()
    .meta({description: 'Minutes after its end until a run’s transcript is archived; 0 = never.', default: 60}),
  allowAgents: list('the name of an agent', 'a list of agents')
    .optional()
    .meta({description: 'What Task may dispatch; "*" = all.', default: ['*']}),
  tools: section({
    allow: list('the name of a tool', 'a list of tool names')
      .optional()
      .meta({description: 'Subagents get these tools only.', defaultText: 'all'}),
    deny: list('the name of a tool', 'a list of tool names')
      .optional()
      .meta({description: 'No subagent gets these. Wins over allow. Lists of all files add up.', default: []}),
  })
    .optional()
    .meta({description: 'Limits the tools of every subagent.'}),
  queue: section({
    url: z.url({protocol: /^rediss?$/, ...mustBe('the address of Redis, redis://… or rediss://…')}).meta({
      description: 'The Redis or Valkey server through which runs go to workers.',
      defaultText: 'none; a queue needs it',
    }),
    prefix: z
      .string(mustBe('a name'))
      .regex(/^[\w.-]{1,64}$/, mustBe('letters, digits, dots, hyphens and underscores'))
      .optional()
      .meta({description: 'Its keys begin with it.', defaultText: 'mini-cc'}),
    secretEnv: text('the name of an environment variable').optional().meta({
      description: 'The environment variable with the secret that signs what goes through the queue.',
      defaultText: 'MINI_CC_QUEUE_SECRET',
    }),
  })
    .optional()
    .meta({description: 'The queue of runs that work on other machines.'}),
});

const limits = section({
  profile: oneOf(['standard', 'graded'])
    .optional()
    .meta({description: 'Turns and wall time of subagents: fixed, or by role and task.', default: 'standard'}),
  maxBudgetUsd: dollarLimit('Cost of a session with its subagents, in US dollars. Needs the prices of its models.'),
  idleSeconds: whole(0)
    .optional()
    .meta({description: 'Seconds without a byte from the model’s stream until the call is given up.', default: 120}),
  thinkingSeconds: whole(0).optional().meta({
    description: 'Seconds without content while the model’s stream still brings pings until the call is given up.',
    default: 600,
  }),
});

const retry = section({
  maxWaitSeconds: atLeastZero('a number of seconds').optional().meta({
    description: 'Seconds for which a failed model call is tried again. Attempts are not counted.',
    defaultText: '120 in print mode, 300 in the REPL',
  }),
});

const provider = section({
  api: oneOf(['anthropic', 'openai', 'bedrock', 'vertex']).optional().meta({
    description: 'What the server speaks: the Messages API, chat completions, or a cloud’s own.',
    default: 'anthropic',
  }),
  baseURL: z
    .url({protocol: /^https?$/, ...mustBe('the address of a server, http://… or https://…')})
    .optional()
    .meta({description: 'The server. bedrock and vertex need none.'}),
  apiKeyEnv: text('the name of an environment variable')
    .optional()
    .meta({description: 'The environment variable that holds its key.'}),
  auth: oneOf(['bearer', 'x-api-key'])
    .optional()
    .meta({description: 'The header for the key of a server that speaks the Messages API.', default: 'bearer'}),
  local: flag()
    .optional()
    .meta({description: 'It runs on this machine.', defaultText: 'whether its address is of this machine'}),
  webSearch: flag().optional().meta({description: 'It has the Messages API’s own web search.', default: false}),
  region: text('a region of the cloud').optional().meta({description: 'Of bedrock and vertex.'}),
  project: text('a project of the cloud').optional().meta({description: 'Of vertex.'}),
}).refine(({api, baseURL}) => baseURL !== undefined || api === 'bedrock' || api === 'vertex', {
  path: ['baseURL'],
  error: 'is missing',
});

const role = section({
  model: modelName().optional().meta({description: 'Its model: an alias, provider/model, or a model’s name.'}),
  thinking: thinking().meta({description: 'How much it thinks before it answers.'}),
});

const price = section({
  input: dollars('US dollars for a million tokens in.'),
  output: dollars('US dollars for a million tokens out.'),
  cacheRead: dollars('US dollars for a million tokens read from the cache.').optional(),
  cacheWrite: dollars('US dollars for a million tokens written to the cache.').optional(),
});

const sandbox = section({
  mode: oneOf(SANDBOX_MODES)
    .optional()
    .meta({description: 'Confines the bash of the main agent and of agents that may write.', default: 'off'}),
  show: list('a path', 'a list of paths')
    .optional()
    .meta({description: 'Further paths that confined commands see. Lists of all files add up.', default: []}),
  hide: list('a path', 'a list of paths')
    .optional()
    .meta({description: 'Further paths that confined commands do not see. Lists of all files add up.', default: []}),
  env: list('the name of a variable', 'a list of variables')
    .optional()
    .meta({description: 'Further variables that confined commands get. Lists of all files add up.', default: []}),
  container: flag().optional().meta({
    description: 'mini-cc runs in a container that is the wall where no sandbox works. Only in your own settings.',
    default: false,
  }),
  allowedHosts: list('the name of a host', 'a list of hosts')
    .optional()
    .meta({description: 'Hosts that confined commands of agents that may write can reach.', default: []}),
  unixSockets: flag().optional().meta({
    description:
      'Confined commands of agents that may write can use Unix sockets: those of your programs too, unless in /tmp or /run.',
    default: false,
  }),
});

const fanOut = section({
  mode: oneOf(FAN_OUT_MODES).optional().meta({
    description: 'Whether a prompt about many files is split among agents.',
    defaultText: 'ask in the REPL, off in print mode',
  }),
  parts: whole(1, 64).optional().meta({description: 'Parts that the files are split into.', default: 3}),
  split: oneOf(SPLITS)
    .optional()
    .meta({description: 'ceil: 100 files = 34, 34, 32; balanced: 34, 33, 33.', default: 'ceil'}),
  tools: list('the name of a tool', 'a list of tool names')
    .optional()
    .meta({description: 'Tools of the parts.', default: ['read_file', 'edit_file', 'write_file']}),
  where: oneOf(['local', 'workers', 'auto']).optional().meta({description: 'Where the parts run.', default: 'local'}),
});

const verify = section({
  level: oneOf(['off', 'fast', 'thorough']).optional().meta({
    description: 'What is run after code was changed. fast: lint and types; thorough: tests too.',
    default: 'off',
  }),
  rounds: whole(0).optional().meta({description: 'Times that what fails goes back to the run.', default: 2}),
  fast: commands('Commands of level fast.'),
  thorough: commands('Further commands of level thorough.'),
});

/** `"sandbox": "auto"` is short for `"sandbox": {"mode": "auto"}`. */
function modeOr<M extends readonly [string, ...string[]], S extends z.ZodObject>(modes: M, whole: S, what: string) {
  const short = z.union([z.enum(modes), whole], mustBe(what));
  return short.transform((value) => (typeof value === 'string' ? {mode: value as M[number]} : value) as z.output<S>);
}

export const settingsSchema = section({
  $schema: z.string(mustBe('an address')).optional().meta({description: 'Where editors find the schema of this file.'}),
  version: whole(1)
    .optional()
    .meta({description: `Version of this format, ${FORMAT_VERSION} if absent.`}),
  model: modelName().optional().meta({
    description: 'The main agent’s model: opus, sonnet, haiku, provider/model, or a model’s name.',
    default: 'sonnet',
  }),
  subagentModel: modelName()
    .optional()
    .meta({description: 'The model of subagents that name none; inherit = the main agent’s.', default: 'inherit'}),
  fallback: list('the name of a model', 'a list of models')
    .optional()
    .meta({description: 'Models that answer when the chosen one cannot, in this order.', default: []}),
  roles: named(role)
    .optional()
    .meta({description: 'Models by the name or the group of an agent: explore, plan, code-review, code, default.'}),
  thinking: thinking().meta({
    description: 'How much the model thinks before it answers.',
    defaultText: 'the model’s own',
  }),
  contextWindow: named(whole(1024)).optional().meta({
    description: 'Tokens that a model can read and write at once, by its name.',
    defaultText: 'as the server says',
  }),
  compaction: section({
    model: modelName().optional().meta({
      description: 'Summarises conversations that fill the context window.',
      defaultText: 'the model of the run',
    }),
  })
    .optional()
    .meta({description: 'What happens to conversations that fill the context window.'}),
  maxOutputTokens: whole(256).optional().meta({description: 'Tokens of one reply.', default: 16_384}),
  contextTokens: whole(1024)
    .optional()
    .meta({description: 'Limits runs to a smaller context window.', defaultText: 'the model’s own'}),
  agents: named(agent).optional().meta({description: 'Models and limits by the name of the agent.'}),
  permissions: permissions.optional().meta({description: 'What is allowed, asked, refused.'}),
  sandbox: modeOr(SANDBOX_MODES, sandbox, 'off, auto, required or an object')
    .optional()
    .meta({description: 'Confinement of commands by the operating system.'}),
  subagents: subagents.optional().meta({description: 'How subagents run.'}),
  limits: limits.optional().meta({description: 'What ends a run.'}),
  retry: retry.optional().meta({description: 'Model calls that failed are tried again.'}),
  providers: named(provider).optional().meta({description: 'Model servers by name.'}),
  pricing: named(price).optional().meta({description: 'Prices by provider/model or model.'}),
  fanOut: modeOr(FAN_OUT_MODES, fanOut, 'ask, auto, off or an object')
    .optional()
    .meta({description: 'The same work on many files, split among agents.'}),
  theme: oneOf(THEME_NAMES)
    .optional()
    .meta({description: 'The colours of the screen. terminal: the palette of the terminal.', default: 'terminal'}),
  notify: oneOf(NOTIFY_KINDS)
    .optional()
    .meta({description: 'How you are called when a question waits while you look elsewhere.', default: 'bell'}),
  verify: verify.optional().meta({description: 'Checks after code was changed.'}),
  claude: section({
    hooks: flag().optional().meta({description: 'Whether the hooks of ~/.claude/settings.json run.', default: true}),
  })
    .optional()
    .meta({description: 'What is read of files made for Claude Code.'}),
  hooks: named(z.array(z.looseObject({}, mustBe('an object')), mustBe('a list')))
    .optional()
    .meta({description: 'Commands that run at certain events.'}),
  mcpServers: named(z.looseObject({}, mustBe('an object')))
    .optional()
    .meta({description: 'Servers of the Model Context Protocol by name.'}),
  retention: section({
    days: atLeastZero('a number of days, 0 for ever')
      .optional()
      .meta({description: 'Days until transcripts are erased; 0 = never.', default: 0}),
  })
    .optional()
    .meta({description: 'How long transcripts are kept.'}),
});

/** Settings of one file, or of all files merged. */
export type SettingsValues = Omit<z.output<typeof settingsSchema>, '$schema' | 'version'>;
