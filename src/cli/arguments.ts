/**
 * Parses the command line. meow parses it by the table of flags.ts, prints --help and --version, converts numbers and
 * checks choices. The other functions do what meow has no option for: `toMeowArguments` before meow, `checkFlags` and
 * the others after it.
 */
import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import meow from 'meow';
import {description, name, version} from '../../package.json';
import type {SubcommandArguments} from '../commands/shared/command-line.ts';
import type {TestFlags} from '../compose/evals.ts';
import type {ServerFlags} from '../compose/mcp-command-line.ts';
import type {SessionOptions} from '../compose/options.ts';
import type {ReviewCommandLine} from '../compose/review.ts';
import type {WorkerFlags} from '../compose/workers/command-line.ts';
import {SETTING_SOURCES, type SettingSource} from '../config/layers.ts';
import type {ForeignWord} from '../core/contract/events.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {readMode} from '../core/permissions/foreign-modes.ts';
import {parseRule, splitRules} from '../core/permissions/rules/rule.ts';
import {toThinking} from '../core/util/effort.ts';
import {getErrorMessage, UsageError} from '../core/util/errors.ts';
import {findTypo, formatMeant} from '../core/util/names.ts';
import {mapTexts, withoutUndefined} from '../core/util/objects.ts';
import type {OutputFormat} from '../drivers/print.ts';
import {
  FLAGS,
  type FlagName,
  type Flags,
  goesWith,
  helpText,
  LIST_FLAGS,
  SUBCOMMANDS,
  type SubcommandName,
  subcommandHelp,
  written,
} from './flags.ts';
import {takeOutForeignFlags} from './foreign-flags.ts';
import {getCurrentFolder, isDebugSet} from './start.ts';

export interface Arguments {
  readonly print: boolean;
  readonly prompt: string;
  readonly subcommand?: Subcommand;
  readonly format: OutputFormat;
  readonly verbose: boolean;
  readonly includeHookEvents: boolean;
  /** Set when a program drives the session, by lines of JSON or by the Agent Client Protocol. */
  readonly driver?: {readonly mayBypass: boolean};
  /** Options for `compose`, without those that the process itself decides. */
  readonly session: Omit<SessionOptions, 'env' | 'home' | 'interactive'>;
}

/** A subcommand, e.g. `mini-cc agents …`. */
export interface Subcommand extends Omit<SubcommandArguments, 'verb'> {
  readonly name: SubcommandName;
  /** Flags of `mini-cc mcp`. */
  readonly server?: ServerFlags;
  /** Flags of `mini-cc runs`. */
  readonly runs?: {readonly all: boolean; readonly watch: boolean};
  /** Flags of `mini-cc agents test` and `mini-cc skills test`. */
  readonly test?: TestFlags;
  /** Words and flags of `mini-cc review`. */
  readonly review?: Omit<ReviewCommandLine, 'say' | 'ask'>;
  /** Flags of `mini-cc worker` and `mini-cc workers`. */
  readonly worker?: WorkerFlags;
}

/**
 * Parses the arguments. It ends the process for --help and --version.
 * @param currentFolder replaced in tests
 * @throws UsageError in one line that names the flag and the values that it takes
 */
export function parseArguments(
  typed: readonly string[],
  env: NodeJS.ProcessEnv,
  currentFolder: () => string = getCurrentFolder,
  tools: readonly ToolFacts[] = [],
): Arguments {
  const {args, foreignWords} = takeOutForeignFlags(typed, (flag) => Object.hasOwn(FLAGS, camelCase(flag)));
  const {flags, input} = parseFlags(args, tools);
  checkFlags(args);
  // The words after -- are the command of a server in `mini-cc mcp add NAME -- COMMAND`, and paths of `mini-cc review`.
  const [first = ''] = input;
  const takesWords = ['mcp', 'review'].includes(first) && args.slice(0, args.indexOf('--')).includes(first);
  const isPrompt = flags.print || (args.includes('--') && !takesWords);
  const subcommand = isPrompt ? undefined : getSubcommand(input, flags, args);
  if (!isPrompt && !subcommand) checkFirstWord(input);
  if (subcommand && foreignWords[0]) throw unknownFlag(camelCase(foreignWords[0].name.slice(2)));
  checkCombination(flags, subcommand);
  const isDriven = flags.inputFormat === 'stream-json';
  const mayBypass = (flags.allowDangerouslySkipPermissions || flags.dangerouslySkipPermissions) ?? false;
  return {
    ...withoutUndefined({subcommand}),
    print: flags.print === true || isDriven,
    prompt: input.join(' '),
    ...((isDriven || subcommand?.name === 'acp') && {driver: {mayBypass}}),
    format: flags.outputFormat ?? 'text',
    verbose: flags.verbose ?? false,
    includeHookEvents: flags.includeHookEvents ?? false,
    session: getSessionOptions(flags, getFolder(flags.cwd, currentFolder), env, foreignWords),
  };
}

function getSessionOptions(
  flags: Flags,
  cwd: string,
  env: NodeJS.ProcessEnv,
  foreignFlags: readonly ForeignWord[],
): Arguments['session'] {
  const {mode, sandboxMode, foreignWords: foreignModes = []} = readMode(flags.permissionMode);
  const maxTurns = wholeNumber('maxTurns', flags.maxTurns);
  const timeoutSeconds = wholeNumber('timeout', flags.timeout);
  return {
    cwd,
    which: getWhich(flags),
    ...(flags.forkSession && {fork: withoutUndefined({id: getSessionId(flags)})}),
    limits: withoutUndefined({maxTurns, timeoutSeconds}),
    allowedTools: (flags.allowedTools ?? []).flatMap(splitRules),
    disallowedTools: (flags.disallowedTools ?? []).flatMap(splitRules),
    addDirs: (flags.addDir ?? []).map((dir) => getFolder(dir, () => cwd)),
    offline: flags.offline ?? false,
    trust: flags.trust ?? false,
    takeOver: flags.takeOver ?? false,
    rawStream: flags.includePartialMessages ?? false,
    driverAnswers: flags.permissionPromptTool === 'stdio' && flags.permissionPrompts !== 'none',
    debug: flags.debug || flags.debugFile !== undefined || isDebugSet(env),
    foreignWords: [...foreignFlags, ...foreignModes],
    ...withoutUndefined({
      sandboxMode,
      permissionMode: flags.dangerouslySkipPermissions ? 'bypassPermissions' : mode,
      fanOut: flags.fanOut,
      maxBudgetUsd: decimal(
        'maxBudgetUsd',
        flags.maxBudgetUsd,
        'an amount in US dollars above 0',
        (amount) => amount > 0,
      ),
      jsonSchema: flags.jsonSchema,
      model: flags.model,
      fallback: splitNames(flags.fallbackModel),
      thinking: flags.effort && toThinking(flags.effort),
      thinkingTokens: wholeNumber('maxThinkingTokens', flags.maxThinkingTokens, 0),
      appendSystemPrompt: flags.appendSystemPrompt,
      systemPrompt: flags.systemPrompt,
      tools: parseTools(flags.tools),
      settingsFile: flags.settings,
      managedSettings: flags.managedSettings,
      debugFile: flags.debugFile,
      answeringTool: flags.permissionPrompts === 'none' ? undefined : getAnsweringTool(flags),
      settingSources: parseSources(flags.settingSources),
      mcpConfig: flags.mcpConfig,
      pluginDirs: flags.pluginDir?.map((dir) => getFolder(dir, () => cwd)),
      strictMcpConfig: flags.strictMcpConfig,
      isTemporary: flags.noSessionPersistence,
      agentsJson: flags.agents,
      agent: flags.agent,
    }),
  };
}

function parseFlags(args: readonly string[], tools: readonly ToolFacts[]) {
  const parsed = parseByMeow(args, tools);
  if (parsed.flags.version) parsed.showVersion();
  if (parsed.flags.help) showHelp(parsed);
  return {flags: takeLast(withoutMarks(parsed.flags)), input: withoutMarks(parsed.input)};
}

/** Takes the last value of each flag, except of those whose values all count. */
function takeLast(typed: object): Flags {
  const flags = Object.entries(typed).map(([name, value]) => {
    const isList = LIST_FLAGS.some((each) => each === name);
    return [name, Array.isArray(value) && !isList ? value.at(-1) : value];
  });
  return Object.fromEntries(flags) as Flags;
}

/** Prints the help of the subcommand that the first word names, or that of mini-cc, and ends the process. */
function showHelp({input, flags, showHelp: showWhole}: ReturnType<typeof parseByMeow>): never {
  const subcommand = flags.print ? undefined : SUBCOMMANDS.find((each) => each === input[0]);
  if (!subcommand) return showWhole(0);
  process.stdout.write(subcommandHelp(subcommand));
  return process.exit(0);
}

function parseByMeow(args: readonly string[], tools: readonly ToolFacts[]) {
  try {
    return meow(helpText(), {
      importMeta: import.meta,
      pkg: {name, version, description},
      argv: toMeowArguments(args, tools),
      flags: FLAGS,
      booleanDefault: undefined,
    });
  } catch (error) {
    // The message has one line for each flag with a wrong choice.
    throw new UsageError(withoutMarks(getErrorMessage(error)).split('\n')[0]!, {cause: error});
  }
}

/** Matches `--name`, `--name=value` and `-n`. Anything else is text, e.g. `-5 apples` or `- be brief`. */
const FLAG = /^--?([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/;
/** Stands for a session's id when the person chooses the session. No id can have this value. */
const CHOOSE = '?';
/** Marks text. No argument can contain this character. */
const MARK = '\0';

/**
 * Prepares the arguments for meow, in two cases for which meow has no option. meow reads text that begins with a dash
 * as a flag, reads `true` after a switch as its value, and removes quotes; such text is marked, so that it comes back
 * as it was typed. And several rules may follow one --allowed-tools, as in Claude Code, but meow needs the flag before
 * each rule.
 */
function toMeowArguments(args: readonly string[], tools: readonly ToolFacts[]): string[] {
  const words: string[] = [];
  let rules: {readonly flag: string; isEmpty: boolean} | undefined;
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return [...words, ...args.slice(index)];
    const [, flag, value] = FLAG.exec(arg) ?? [];
    if (isBareResume(flag, value, args[index + 1])) {
      words.push(`--resume=${CHOOSE}`);
    } else if (flag?.startsWith('no-') && value === undefined) {
      // Without a value, `--no-x` would set `x` to false.
      words.push(`${arg}=true`);
    } else if (flag !== undefined) {
      const isOfRules = ['allowedTools', 'disallowedTools'].includes(camelCase(flag));
      rules = isOfRules ? {flag: `--${flag}`, isEmpty: value === undefined} : undefined;
      words.push(
        value === undefined ? arg : `${arg.slice(0, arg.length - value.length)}${marked(value, /^(?:["']|$)/)}`,
      );
    } else {
      if (rules && !rules.isEmpty && isRule(arg, tools)) words.push(rules.flag);
      else if (!rules?.isEmpty) rules = undefined;
      if (rules) rules.isEmpty = false;
      words.push(marked(arg, /^(?:[-"']|true$|false$|$)/));
    }
  }
  return words;
}

/** Tells whether --resume has no id, so that the person chooses a session. */
function isBareResume(flag: string | undefined, value: string | undefined, next: string | undefined): boolean {
  if ((flag !== 'resume' && flag !== 'r') || value !== undefined) return false;
  return next === undefined || next === '--' || FLAG.test(next);
}

function marked(text: string, wouldChange: RegExp): string {
  return wouldChange.test(text) ? `${MARK}${text}` : text;
}

function withoutMarks<T>(value: T): T {
  return mapTexts(value, (text) => text.replaceAll(MARK, ''));
}

/** Tells whether the word is a whole rule, and so not a prompt. */
function isRule(word: string, tools: readonly ToolFacts[]): boolean {
  return /^\w+(?:\(.*\))?$/s.test(word) && !('problem' in parseRule(word, tools));
}

/** Rejects what meow lets pass or ends the process at: unknown flags, flags without a value, and `--print=maybe`. */
function checkFlags(args: readonly string[]): void {
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return;
    const [, typed, value] = FLAG.exec(arg) ?? [];
    if (typed === undefined) continue;
    const name = arg.startsWith('--') ? camelCase(typed) : longName(typed);
    if (!Object.hasOwn(FLAGS, name)) throw unknownFlag(name);
    const flag = FLAGS[name as FlagName];
    if (flag.type === 'boolean') {
      if (![undefined, 'true', 'false'].includes(value)) throw new UsageError(`${written(name)} takes no value`);
    } else if (value === undefined) {
      const next = args[index + 1];
      if (isBareResume(typed, value, next)) continue;
      if (next === undefined || next === '--' || FLAG.test(next))
        throw new UsageError(`${written(name)} needs a value`);
    }
  }
}

function unknownFlag(name: string): UsageError {
  const flag = name.length === 1 ? `-${name}` : written(name);
  return new UsageError(`Unknown flag ${flag}${formatMeant(name, Object.keys(FLAGS), written)}. --help lists them`);
}

function longName(short: string): string {
  const found = Object.entries(FLAGS).find(([, flag]) => 'shortFlag' in flag && flag.shortFlag === short);
  return found?.[0] ?? short;
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function getSubcommand(
  [word, ...words]: readonly string[],
  flags: Flags,
  args: readonly string[],
): Subcommand | undefined {
  const found = SUBCOMMANDS.find((each) => each === word);
  if (!found) return undefined;
  const {env = [], header: headers = []} = flags;
  return {
    name: found,
    words,
    json: flags.json ?? false,
    sure: flags.yes ?? false,
    ...withoutUndefined({template: flags.template}),
    ...(found === 'mcp' && {
      server: {...withoutUndefined({transport: flags.transport, scope: flags.scope}), env, headers},
    }),
    ...(found === 'runs' && {runs: {all: flags.all ?? false, watch: flags.watch ?? false}}),
    ...((found === 'agents' || found === 'skills') && {test: getTestFlags(flags)}),
    ...(found === 'review' && {review: getReview(words, flags, args)}),
    ...((found === 'worker' || found === 'workers') && {worker: flags}),
  };
}

/** @param args the whole command line, which shows the words after `--` */
function getReview(words: readonly string[], flags: Flags, args: readonly string[]): NonNullable<Subcommand['review']> {
  const end = args.indexOf('--');
  const paths = end < 0 ? [] : args.slice(end + 1);
  return {
    words: words.slice(0, words.length - paths.length),
    paths,
    all: flags.all ?? false,
    sure: flags.yes ?? false,
    json: flags.json ?? false,
    base: flags.base,
    finders: flags.finders,
    sarif: flags.sarif,
    failOn: flags.failOn,
  };
}

/** Rejects flags that would have no effect. */
function checkCombination(flags: Flags, subcommand: Subcommand | undefined): void {
  const given = (Object.keys(FLAGS) as FlagName[]).filter((each) => {
    const value = flags[each];
    return Array.isArray(value) ? value.length > 0 : value !== undefined;
  });
  const wrong = given.find((each) => !goesWith(each).includes(subcommand?.name ?? 'session'));
  if (wrong && subcommand) throw new UsageError(`${written(wrong)} does not go with mini-cc ${subcommand.name}`);
  if (wrong) {
    const subcommands = goesWith(wrong).map((each) => `mini-cc ${each}`);
    throw new UsageError(`${written(wrong)} goes with ${new Intl.ListFormat('en').format(subcommands)}`);
  }
  // When a session is forked, --session-id is the id of the new session.
  const namesSession = flags.forkSession
    ? (['continue', 'resume'] as const)
    : (['continue', 'resume', 'sessionId'] as const);
  const [one, other] = namesSession.filter((each) => given.includes(each));
  if (one && other) throw new UsageError(`${written(one)} and ${written(other)} name different sessions: give one`);
  const ofStored = (['takeOver', 'forkSession'] as const).find((each) => flags[each]);
  if (ofStored && !given.includes('continue') && !given.includes('resume')) {
    throw new UsageError(`${written(ofStored)} goes with --continue and --resume`);
  }
  if (flags.noSessionPersistence) {
    if (!flags.print && flags.inputFormat !== 'stream-json')
      throw new UsageError('--no-session-persistence goes with -p: a session in the terminal is kept');
    if (given.includes('continue') || given.includes('resume')) {
      throw new UsageError('--no-session-persistence is for a new session: leave out --continue and --resume');
    }
  }
  if (given.includes('jsonSchema') && !flags.print && flags.inputFormat !== 'stream-json') {
    throw new UsageError('--json-schema goes with -p: in the terminal a person reads the answer');
  }
  checkDriverFlags(flags, given);
  if (flags.includePartialMessages && flags.outputFormat !== 'stream-json') {
    throw new UsageError('--include-partial-messages goes with --output-format stream-json');
  }
}

const DRIVER_FLAGS: readonly FlagName[] = [
  'permissionPromptTool',
  'permissionPrompts',
  'awaitInitialize',
  'allowDangerouslySkipPermissions',
];

function checkDriverFlags(flags: Flags, given: readonly FlagName[]): void {
  const isDriven = flags.inputFormat === 'stream-json';
  if (isDriven && flags.outputFormat !== 'stream-json') {
    throw new UsageError('--input-format stream-json goes with --output-format stream-json');
  }
  const ofDriver = DRIVER_FLAGS.find((each) => given.includes(each));
  if (ofDriver && !isDriven) throw new UsageError(`${written(ofDriver)} goes with --input-format stream-json`);
  const tool = flags.permissionPromptTool;
  if (tool !== undefined && tool !== 'stdio' && !/^mcp__\w/.test(tool))
    throw new UsageError('--permission-prompt-tool takes stdio, or a tool of an MCP server: mcp__SERVER__TOOL');
}

function getAnsweringTool(flags: Flags): string | undefined {
  const tool = flags.permissionPromptTool;
  return tool === 'stdio' ? undefined : tool;
}

function getWhich(flags: Flags): SessionOptions['which'] {
  const resume = flags.resume;
  if (resume === '') throw new UsageError('--resume needs the id of a session; --continue takes the last one');
  if (resume === CHOOSE) return {type: 'choose'};
  if (resume !== undefined) return {type: 'resume', id: resume};
  if (flags.continue) return {type: 'continue'};
  return {type: 'new', ...withoutUndefined({id: getSessionId(flags)})};
}

function getSessionId(flags: Flags): string | undefined {
  const id = flags.sessionId;
  if (id === undefined) return undefined;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new UsageError(`--session-id: not a UUID: ${JSON.stringify(id)}`);
  }
  return id.toLowerCase();
}

/** Checks a number that meow converted. It is NaN when the text was not a number. */
function wholeNumber(flag: FlagName, value: number | undefined, least = 1): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= least)) return value;
  throw new UsageError(`${written(flag)} takes a whole number from ${least} on`);
}

function splitNames(value: string | undefined): readonly string[] | undefined {
  return value?.split(',').map((name) => name.trim());
}

function decimal(
  flag: FlagName,
  value: string | undefined,
  what: string,
  isTaken: (number: number) => boolean,
): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number) && isTaken(number)) return number;
  throw new UsageError(`${written(flag)} takes ${what}, not ${JSON.stringify(value)}`);
}

function getTestFlags(flags: Flags) {
  const {case: only, from, baseline, judge, junit, html, out, record, replay, fresh = false, regrade = false} = flags;
  const trials = wholeNumber('trials', flags.trials);
  const failUnder = decimal('failUnder', flags.failUnder, 'a rate from 0 to 1', (rate) => rate >= 0 && rate <= 1);
  const texts = {case: only, from, baseline, judge, junit, html, out, record, replay};
  return {...withoutUndefined({...texts, trials, failUnder}), fresh, regrade};
}

/** @param base start of a relative path, and the folder when none is given */
function getFolder(dir: string | undefined, base: () => string): string {
  const absolute = dir !== undefined && path.isAbsolute(dir) ? path.resolve(dir) : path.resolve(base(), dir ?? '.');
  if (!existsSync(absolute) || !statSync(absolute).isDirectory()) {
    throw new UsageError(`No such directory: ${absolute}`);
  }
  return absolute;
}

function parseTools(value: string | undefined): readonly string[] | undefined {
  return value === undefined || value.trim() === 'default' ? undefined : splitRules(value);
}

function parseSources(value: string | undefined): readonly SettingSource[] | undefined {
  return value === undefined
    ? undefined
    : splitRules(value).map((name) => {
        const source = SETTING_SOURCES.find((each) => each === name);
        if (!source) {
          const meant = formatMeant(name, SETTING_SOURCES);
          throw new UsageError(
            `--setting-sources has no ${JSON.stringify(name)}${meant}: ${SETTING_SOURCES.join(', ')}`,
          );
        }
        return source;
      });
}

/** Commands of similar programs that mini-cc does not have. */
const FOREIGN = ['update', 'upgrade', 'serve', 'login', 'logout', 'install', 'setup-token'];
/** Maximal number of words that may be a command. A prompt has more. */
const MAX_WORDS = 2;

/**
 * Checks words that were meant as a command of mini-cc or of a similar program. They are not sent to a model as a
 * prompt.
 * @param words words beside the flags, without `-p` and `--`; the first one is not a subcommand
 * @throws UsageError when there are at most two bare words, and the first one names a command or is similar to one
 */
function checkFirstWord(words: readonly string[]): void {
  const [first = ''] = words;
  if (words.length > MAX_WORDS || words.some((word) => /\s/.test(word))) return;
  const meant = findTypo(first, SUBCOMMANDS, 1);
  if (meant === undefined && !FOREIGN.includes(first)) return;
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  throw new UsageError(`no such command: ${first}${hint}; to send it as a prompt: mini-cc -- ${words.join(' ')}`);
}
