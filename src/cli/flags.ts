/**
 * Defines the one table of flags. meow parses by it, --help prints it, and arguments.ts checks by it which flags go
 * together.
 */
import {FAN_OUT_MODES, type FanOutMode} from '../core/contract/fan-out.ts';
import {ANY_MODES, type AnyMode} from '../core/permissions/foreign-modes.ts';
import {EFFORTS, type Effort} from '../core/util/effort.ts';
import type {OutputFormat} from '../drivers/print.ts';
import {wrapWords} from '../ui/first-paint/frame.ts';

type InputFormat = 'text' | 'stream-json';

/** Subcommands that report something. They can print JSON. */
const REPORTS = [
  'agents',
  'skills',
  'sessions',
  'doctor',
  'config',
  'mcp',
  'plugin',
  'runs',
  'workers',
  'review',
] as const;
export const SUBCOMMANDS = [...REPORTS, 'worker', 'acp', 'completion'] as const;
export type SubcommandName = (typeof SUBCOMMANDS)[number];

interface SubcommandText {
  readonly help: string;
  /** Words that may follow the subcommand, each with its argument, e.g. `show NAME` or `lint|stats [NAME]`. */
  readonly verbs: readonly string[];
}

export const SUBCOMMAND_TEXTS: Readonly<Record<SubcommandName, SubcommandText>> = {
  agents: {
    help: 'the agents',
    verbs: ['list|schema', 'show|delete NAME', 'create TEXT', 'lint|stats [NAME]', 'test [NAME…]'],
  },
  skills: {help: 'tests of skills, with and without each', verbs: ['test [NAME…]']},
  sessions: {
    help: 'stored sessions',
    verbs: ['list', 'show ID', 'export ID [md|json|html] [FILE]', 'delete ID'],
  },
  doctor: {help: 'what works here, and how to repair what does not', verbs: []},
  config: {help: 'the settings in force, and why', verbs: ['show', 'schema']},
  mcp: {
    help: 'MCP servers',
    verbs: [
      'list',
      'get NAME',
      'add NAME -- COMMAND',
      'add --transport http NAME URL',
      'add-json NAME JSON',
      'remove NAME',
      'login NAME',
      'logout NAME',
      'serve',
    ],
  },
  plugin: {
    help: 'plugins and marketplaces',
    verbs: [
      'list',
      'install NAME[@MARKETPLACE]',
      'enable NAME',
      'disable NAME',
      'update [NAME]',
      'remove NAME',
      'marketplace add PATH|GIT-URL',
      'marketplace list',
      'marketplace update [NAME]',
      'marketplace remove NAME',
    ],
  },
  runs: {help: 'your sessions on this machine and their runs', verbs: ['list', 'stop ID', 'log ID', 'open SESSION']},
  review: {help: 'finds what is wrong with a change', verbs: ['[PATH|REF|A..B|-]', '-- PATH']},
  worker: {help: 'runs subagents for sessions on other machines', verbs: []},
  workers: {help: 'the workers of the queue, their state and load', verbs: []},
  acp: {help: 'serves an editor by the Agent Client Protocol', verbs: []},
  completion: {help: 'prints the completion script of a shell', verbs: ['bash', 'zsh', 'fish']},
};

/** Where a flag may be used. `session` means the REPL, print mode and stream-json. */
type FlagUse = 'session' | SubcommandName;

const OUTPUT_FORMATS: OutputFormat[] = ['text', 'json', 'stream-json'];
const INPUT_FORMATS: InputFormat[] = ['text', 'stream-json'];
const ANYWHERE: readonly FlagUse[] = ['session', ...SUBCOMMANDS];
/** Subcommands that read agents and models as a session does. */
const WITH_MODEL: readonly FlagUse[] = [
  'session',
  'agents',
  'skills',
  'sessions',
  'doctor',
  'mcp',
  'plugin',
  'acp',
  'review',
];
/** Subcommands that test something by cases. */
const WITH_CASES: readonly FlagUse[] = ['agents', 'skills'];
const WITH_SERVERS: readonly FlagUse[] = ['session', 'mcp', 'acp'];
/** Uses of a flag that holds for sessions, also for those of an editor, whose protocol has no such value. */
const SESSIONS: readonly FlagUse[] = ['session', 'acp'];
/** Uses of a flag that says what tools may do, which `mini-cc mcp serve` offers too. */
const WITH_TOOLS: readonly FlagUse[] = [...SESSIONS, 'mcp'];

interface FlagText {
  readonly help: string;
  /** Uses of the flag; only the session by default. */
  readonly goesWith?: readonly FlagUse[];
  readonly shortFlag?: string;
}

/* @__NO_SIDE_EFFECTS__ */
function aSwitch(help: string, more: Omit<FlagText, 'help'> = {}) {
  return {type: 'boolean', help, ...more} as const;
}

/** Flags of which all values count when they are given several times. Of the others, the last value counts. */
export const LIST_FLAGS = [
  'allowedTools',
  'disallowedTools',
  'addDir',
  'mcpConfig',
  'pluginDir',
  'env',
  'header',
] as const;

/** Defines a flag with a value. Without `isMultiple`, meow would refuse a flag that is given twice. */
/* @__NO_SIDE_EFFECTS__ */
function text(valueName: string, help: string, more: Omit<FlagText, 'help'> = {}) {
  return {type: 'string', isMultiple: true, valueName, help, ...more} as const;
}

/* @__NO_SIDE_EFFECTS__ */
function oneOf<T extends string>(valueName: string, choices: readonly T[], more: Omit<FlagText, 'help'> = {}) {
  const list = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  return {...text(valueName, list, more), choices: choices as T[]} as const;
}

/* @__NO_SIDE_EFFECTS__ */
function count(valueName: string, help: string, more: Omit<FlagText, 'help'>) {
  return {type: 'number', isMultiple: true, valueName, help, ...more} as const;
}

export const FLAGS = {
  print: aSwitch('one answer, no REPL', {shortFlag: 'p'}),
  outputFormat: oneOf<OutputFormat>('FORMAT', OUTPUT_FORMATS),
  inputFormat: oneOf<InputFormat>('FORMAT', INPUT_FORMATS),
  includePartialMessages: aSwitch('raw stream events too (stream-json)'),
  includeHookEvents: aSwitch('starts and ends of hooks too (stream-json)'),
  verbose: aSwitch('tool calls on standard error'),
  model: text('NAME', 'opus, sonnet, haiku, provider/model, or any name that the server knows', {goesWith: WITH_MODEL}),
  fallbackModel: text('A,B', 'models that answer where the first one cannot', {goesWith: SESSIONS}),
  effort: oneOf<'off' | Effort>('LEVEL', ['off', ...EFFORTS], {goesWith: SESSIONS}),
  maxThinkingTokens: count('N', 'tokens of thinking in a reply at most, in place of a level; 0: none', {
    goesWith: SESSIONS,
  }),
  offline: aSwitch('the built-in rule-based model, also where keys are set', {goesWith: WITH_MODEL}),
  jsonSchema: text('FILE', 'with -p: the answer must match this JSON Schema: a file, or JSON'),
  permissionMode: oneOf<AnyMode>('MODE', ANY_MODES, {goesWith: WITH_TOOLS}),
  dangerouslySkipPermissions: aSwitch('the same as --permission-mode bypassPermissions', {goesWith: WITH_TOOLS}),
  allowDangerouslySkipPermissions: aSwitch('a driver may turn all questions off', {goesWith: SESSIONS}),
  permissionPromptTool: text('stdio', 'a driver answers questions about calls: itself, or its mcp__SERVER__TOOL'),
  permissionPrompts: oneOf('WHO', ['host', 'none']),
  awaitInitialize: aSwitch('of drivers: their first line is initialize'),
  allowedTools: text('A,B', 'rules that pass without a question: edit_file, "bash(npm test)"', {goesWith: WITH_TOOLS}),
  disallowedTools: text('A,B', 'rules that are refused', {goesWith: WITH_TOOLS}),
  fanOut: oneOf<FanOutMode>('MODE', FAN_OUT_MODES, {goesWith: SESSIONS}),
  maxTurns: count('N', 'model calls at most', {goesWith: SESSIONS}),
  maxBudgetUsd: text('X', 'US dollars at most, with all subagents', {goesWith: [...SESSIONS, ...WITH_CASES, 'review']}),
  timeout: count('S', 'seconds at most', {goesWith: SESSIONS}),
  continue: aSwitch('go on with the last session of this directory', {shortFlag: 'c'}),
  resume: text('[ID]', 'go on with a session; without an id you choose one', {shortFlag: 'r'}),
  forkSession: aSwitch('with --continue, --resume: go on with a copy of it, in a new session'),
  takeOver: aSwitch('go on with it although another machine or container has locked it'),
  sessionId: text('UUID', 'the id of the new session'),
  appendSystemPrompt: text('TEXT', 'added to the system prompt', {goesWith: SESSIONS}),
  systemPrompt: text('TEXT', "in place of mini-cc's own system prompt", {goesWith: SESSIONS}),
  tools: text('A,B', 'only these tools; "default" is all of them, "" none', {goesWith: WITH_TOOLS}),
  addDir: text('DIR', 'a further directory that may be read and written', {goesWith: WITH_TOOLS}),
  settings: text('FILE', 'settings over all others: a file, or JSON', {goesWith: ANYWHERE}),
  managedSettings: text('FILE', 'rules that deny or ask and a sandbox that nothing loosens: a file, or JSON', {
    goesWith: SESSIONS,
  }),
  settingSources: text('A,B', 'only the files of these: user, project, local', {goesWith: ANYWHERE}),
  mcpConfig: text('FILE', 'further MCP servers: a file like .mcp.json, or JSON', {goesWith: WITH_SERVERS}),
  pluginDir: text('DIR', 'a plugin for this session: the folder that has .claude-plugin', {goesWith: WITH_MODEL}),
  strictMcpConfig: aSwitch('no other MCP servers than those of --mcp-config', {goesWith: WITH_SERVERS}),
  noSessionPersistence: aSwitch('with -p: keep nothing of the session on disk'),
  agent: text('NAME', 'run as that agent', {goesWith: SESSIONS}),
  agents: text('JSON', 'further agents: {"name": {"description", "prompt", "tools", "model"}}', {goesWith: WITH_MODEL}),
  screenReader: aSwitch('lines of words for a screen reader'),
  cwd: text('DIR', 'work there', {goesWith: ANYWHERE}),
  trust: aSwitch("trust what this directory's settings and agents ask for, until it changes", {goesWith: WITH_MODEL}),
  debug: aSwitch('log to ~/.mini-cc/logs (also MINI_CC_DEBUG=1)', {goesWith: ANYWHERE}),
  debugFile: text('FILE', 'log to this file', {goesWith: SESSIONS}),
  queue: text('URL', 'of workers: the Redis server, redis://… or rediss://…', {goesWith: ['worker', 'workers']}),
  prefix: text('P', 'of workers: the keys of the queue begin with it', {goesWith: ['worker', 'workers']}),
  secretEnv: text('NAME', 'of workers: the variable with the secret of the queue', {goesWith: ['worker', 'workers']}),
  concurrency: count('N', 'of worker: runs at a time', {goesWith: ['worker']}),
  labels: text('A,B', 'of worker: shown in the list of workers', {goesWith: ['worker']}),
  cache: text('DIR', 'of worker: where it keeps the files of runs', {goesWith: ['worker']}),
  once: aSwitch('of worker: serve one run and end', {goesWith: ['worker']}),
  all: aSwitch('of runs: also the sessions that ended; of review: all findings', {goesWith: ['runs', 'review']}),
  watch: aSwitch('of runs: print the list anew whenever it changes, until Ctrl+C', {goesWith: ['runs']}),
  json: aSwitch('of subcommands: JSON for scripts', {goesWith: REPORTS}),
  yes: aSwitch('of subcommands: answers their questions with yes', {
    goesWith: [...WITH_CASES, 'sessions', 'plugin', 'review'],
  }),
  base: text('REF', 'of review: compare with the merge base with it; default: the main branch', {goesWith: ['review']}),
  finders: text('A,B', 'of review: correctness, security, tests, api; default: all', {goesWith: ['review']}),
  sarif: text('FILE', 'of review: write the findings there as SARIF 2.1.0', {goesWith: ['review']}),
  failOn: text('SEVERITY', 'of review: high, medium, low or never: exit 1 from it on; default: high', {
    goesWith: ['review'],
  }),
  template: text('NAME', 'of agents create: begin with this template', {goesWith: ['agents']}),
  case: text('ID', 'of test: only this case', {goesWith: WITH_CASES}),
  trials: count('K', 'of test: runs of each case', {goesWith: WITH_CASES}),
  baseline: text('WHAT', 'of test: compares with none, a git revision, or a file', {goesWith: WITH_CASES}),
  judge: text('MODEL', 'of test: grades the assertions of the cases', {goesWith: WITH_CASES}),
  failUnder: text('RATE', 'of test: the pass rate that is enough, 0 to 1', {goesWith: WITH_CASES}),
  fresh: aSwitch('of test: makes runs anew that were made before', {goesWith: WITH_CASES}),
  from: text('RUN', 'of agents test: adds a case from a run, by its id or number', {goesWith: ['agents']}),
  regrade: aSwitch('of test: judges stored runs, and makes none', {goesWith: WITH_CASES}),
  record: text('DIR', "of test: keeps the models' replies there, for --replay", {goesWith: WITH_CASES}),
  replay: text('DIR', 'of test: says what changed since --record, without a model', {goesWith: WITH_CASES}),
  junit: text('FILE', 'of test: writes a report for CI systems', {goesWith: WITH_CASES}),
  html: text('FILE', 'of test: writes a page with pictures, answers and diffs', {goesWith: WITH_CASES}),
  out: text('DIR', 'of test: where the files of the results go', {goesWith: WITH_CASES}),
  transport: oneOf('KIND', ['stdio', 'http', 'sse'], {shortFlag: 't', goesWith: ['mcp']}),
  scope: oneOf('SCOPE', ['local', 'project', 'user'], {shortFlag: 's', goesWith: ['mcp']}),
  env: text('K=V', 'of mcp add: a variable of its environment', {shortFlag: 'e', goesWith: ['mcp']}),
  header: text('TEXT', 'of mcp add: a header, "Name: value"', {shortFlag: 'H', goesWith: ['mcp']}),
  version: aSwitch('print the version', {shortFlag: 'v', goesWith: ANYWHERE}),
  help: aSwitch('print this text', {shortFlag: 'h', goesWith: ANYWHERE}),
} as const;

export type FlagName = keyof typeof FLAGS;

/** The values of the flags that were given. meow has checked choices and converted numbers. */
export type Flags = {
  readonly [Name in FlagName]?: Name extends (typeof LIST_FLAGS)[number]
    ? readonly string[]
    : FlagValue<(typeof FLAGS)[Name]>;
};
type FlagValue<Flag> = Flag extends {readonly choices: readonly (infer Choice)[]}
  ? Choice
  : Flag extends {readonly type: 'boolean'}
    ? boolean
    : Flag extends {readonly type: 'number'}
      ? number
      : string;

/** Returns the flag as it is typed: `maxTurns` becomes `--max-turns`. */
export function written(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function goesWith(name: FlagName): readonly FlagUse[] {
  const flag: FlagText = FLAGS[name];
  return flag.goesWith ?? ['session'];
}

/** Returns the text of --help below the description of the program. */
export function helpText(): string {
  return `Usage
${formatRows([
  ['mini-cc [prompt]', 'the REPL'],
  ['mini-cc -p [prompt]', 'one answer on standard output (also: piped standard input)'],
  ...SUBCOMMANDS.map((name) => [`mini-cc ${name}`, describeSubcommand(name)] as const),
])}

Examples
${formatRows(EXAMPLES)}

Flags
${formatRows((Object.keys(FLAGS) as FlagName[]).map(describeFlag))}

Environment
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL,
  ANTHROPIC_DEFAULT_{OPUS,SONNET,HAIKU}_MODEL,
  MINI_CC_HOME, MINI_CC_FAN_OUT, MINI_CC_DEBUG, NO_COLOR

Without a key or a server the built-in offline model answers.
Exit codes: 0 done, 1 the run failed, 2 bad usage, 3 a limit ended it, 129 130 143 by a signal.
`;
}

/** Returns the text of `mini-cc NAME --help`, with the flags that the subcommand shares with sessions at its end. */
export function subcommandHelp(name: SubcommandName): string {
  const {help, verbs} = SUBCOMMAND_TEXTS[name];
  const flags = (Object.keys(FLAGS) as FlagName[]).filter((flag) => goesWith(flag).includes(name));
  const [own, shared] = [
    flags.filter((flag) => !goesWith(flag).includes('session')),
    flags.filter((flag) => goesWith(flag).includes('session')),
  ];
  const usage = verbs.length > 0 ? verbs.map((verb) => `  mini-cc ${name} ${verb}`) : [`  mini-cc ${name}`];
  const rows = [...own, ...(own.length + shared.length > 16 ? [] : shared)].map(describeFlag);
  const rest =
    own.length + shared.length > 16
      ? `\nAlso (mini-cc --help says more)\n${wrapWords(shared.map(written).join(' '), 94)
          .map((row) => `  ${row}`)
          .join('\n')}\n`
      : '\nmini-cc --help lists all flags.\n';
  return `mini-cc ${name}: ${help}

Usage
${usage.join('\n')}
${rows.length > 0 ? `\nFlags\n${formatRows(rows)}\n` : ''}${rest}`;
}

/** Returns the flag as it is typed, with the name of its value, and what it does. */
function describeFlag(name: FlagName): readonly [string, string] {
  const flag: FlagText & {readonly valueName?: string} = FLAGS[name];
  const short = flag.shortFlag === undefined ? '' : `-${flag.shortFlag}, `;
  return [`${short}${written(name)} ${flag.valueName ?? ''}`.trimEnd(), flag.help];
}

/** Maximal columns of the help. meow indents all lines by two. */
const MAX_HELP_COLUMNS = 98;

/** Formats two columns. A long second column continues on rows below itself. */
function formatRows(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([what]) => what.length));
  const room = MAX_HELP_COLUMNS - width - 4;
  const next = `\n${' '.repeat(width + 4)}`;
  return rows.map(([what, help]) => `  ${what.padEnd(width)}  ${wrapWords(help, room).join(next)}`).join('\n');
}

/** Describes a subcommand, e.g. `stored sessions: list, show ID (--json, --yes)`. */
function describeSubcommand(name: SubcommandName): string {
  const {help, verbs} = SUBCOMMAND_TEXTS[name];
  const own = (Object.keys(FLAGS) as FlagName[]).filter(
    (flag) => goesWith(flag).includes(name) && !goesWith(flag).includes('session'),
  );
  const flags = own.length > 0 ? ` (${own.map(written).join(', ')})` : '';
  return `${[help, ...(verbs.length > 0 ? [verbs.join(', ')] : [])].join(': ')}${flags}`;
}

/** Examples that can be typed unchanged in bash. */
export const EXAMPLES: readonly (readonly [string, string])[] = [
  ['mini-cc "explain src/server.ts"', 'begins with this prompt'],
  ['git diff | mini-cc -p "review this"', 'about what is piped in'],
  ['mini-cc -p "fix the lint errors" --permission-mode acceptEdits', 'may change files'],
  ['mini-cc -p "run the tests" --allowed-tools "bash(npm test)"', 'may run this command'],
  ['mini-cc -p "list the routes" --json-schema routes.json', 'an answer by this schema'],
  ['mini-cc --continue --fork-session', 'a copy of the last session'],
  ['mini-cc --model ollama/qwen3-coder', 'a server on this machine'],
  ['source <(mini-cc completion bash)', 'completes commands and flags'],
];
