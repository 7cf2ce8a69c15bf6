/** The command line: parsed by meow, checked here, every flag of the contract known by name. */
import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import meow from 'meow';
import type {SessionOptions} from '../compose.ts';
import {PERMISSION_MODES, type PermissionMode} from '../core/contract/events.ts';
import {readRule} from '../core/permissions/rules/rule.ts';
import {UsageError} from '../core/util/errors.ts';
import {nearest} from '../core/util/nearest.ts';
import {isNotYet, notYet} from '../core/util/not-yet.ts';
import {OUTPUT_FORMATS, type OutputFormat} from '../print/print.ts';
import {kebab, sortWords} from './argument-words.ts';
import {currentFolder} from './current-folder.ts';
import {debugVariable} from './debug-variable.ts';

export interface Arguments {
  readonly print: boolean;
  readonly prompt: string;
  /** `mini-cc agents …`, `mini-cc sessions …`, `mini-cc doctor`: the verb and its words. */
  readonly subcommand?: Subcommand;
  readonly format: OutputFormat;
  readonly verbose: boolean;
  /** For `compose`, but for what the surroundings decide. */
  readonly session: Omit<SessionOptions, 'env' | 'home' | 'interactive'>;
}

export interface Subcommand {
  readonly name: 'agents' | 'sessions' | 'doctor';
  readonly words: readonly string[];
  readonly json: boolean;
  /** `--yes` */
  readonly sure: boolean;
  readonly template?: string;
}

/** What subcommands take, and what only they take. */
const ONLY_SUBCOMMANDS: ReadonlySet<string> = new Set(['json', 'yes', 'template']);
const OF_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...ONLY_SUBCOMMANDS,
  ...['cwd', 'settings', 'agents', 'model', 'offline', 'debug', 'trust'],
]);

/** Several rules may follow one flag, as in Claude Code: a whole rule is no prompt. */
const RULES = {
  type: 'string',
  isMultiple: true,
  takesMore: (word: string) => /^\w+(?:\(.*\))?$/s.test(word) && !('wrong' in readRule(word)),
} as const;

const FLAGS = {
  print: {type: 'boolean', shortFlag: 'p'},
  outputFormat: {type: 'string'},
  includePartialMessages: {type: 'boolean'},
  verbose: {type: 'boolean'},
  model: {type: 'string'},
  offline: {type: 'boolean'},
  permissionMode: {type: 'string'},
  dangerouslySkipPermissions: {type: 'boolean'},
  allowedTools: RULES,
  disallowedTools: RULES,
  maxTurns: {type: 'string'},
  timeout: {type: 'string'},
  continue: {type: 'boolean', shortFlag: 'c'},
  resume: {type: 'string', shortFlag: 'r'},
  sessionId: {type: 'string'},
  appendSystemPrompt: {type: 'string'},
  addDir: {type: 'string', isMultiple: true},
  settings: {type: 'string'},
  cwd: {type: 'string'},
  trust: {type: 'boolean'},
  debug: {type: 'boolean'},
  agent: {type: 'string'},
  agents: {type: 'string'},
  // Of subcommands.
  json: {type: 'boolean'},
  yes: {type: 'boolean'},
  template: {type: 'string'},
} as const;

/** @throws UsageError in one line that names the flag and what it takes. */
export function parseArguments(args: readonly string[], env: NodeJS.ProcessEnv): Arguments {
  const words = sortWords(args, FLAGS, unknownFlag);
  const {flags, input} = meow({
    importMeta: import.meta,
    argv: [...words.flags, '--', ...words.positional],
    flags: FLAGS,
    autoHelp: false,
    autoVersion: false,
    booleanDefault: undefined,
    pkg: {},
  });
  const subcommand = flags.print ? undefined : subcommandOf(input, flags);
  assertTogether(flags, subcommand);
  const cwd = folder(flags.cwd ?? currentFolder());
  const debug = flags.debug || debugVariable(env);
  const mode = flags.dangerouslySkipPermissions ? 'bypassPermissions' : flags.permissionMode;
  const maxTurns = wholeNumber('--max-turns', flags.maxTurns, 1);
  const timeoutSeconds = wholeNumber('--timeout', flags.timeout, 1);
  return {
    ...(subcommand ? {subcommand} : {}),
    print: flags.print ?? false,
    prompt: input.join(' '),
    format: oneOf('--output-format', flags.outputFormat ?? 'text', OUTPUT_FORMATS),
    verbose: flags.verbose ?? false,
    session: {
      cwd,
      which: which(flags),
      limits: {...(maxTurns ? {maxTurns} : {}), ...(timeoutSeconds ? {timeoutSeconds} : {})},
      allowedTools: list(flags.allowedTools),
      disallowedTools: list(flags.disallowedTools),
      addDirs: (flags.addDir ?? []).map((dir) => folder(path.resolve(cwd, dir))),
      offline: flags.offline ?? false,
      trust: flags.trust ?? false,
      rawStream: flags.includePartialMessages ?? false,
      debug,
      ...(mode === undefined
        ? {}
        : {permissionMode: oneOf<PermissionMode>('--permission-mode', mode, PERMISSION_MODES)}),
      ...optional('model', flags.model),
      ...optional('appendSystemPrompt', flags.appendSystemPrompt),
      ...optional('settingsFile', flags.settings),
      ...optional('agentsJson', flags.agents),
      ...optional('agent', flags.agent),
    },
  };
}

function subcommandOf(
  [name, ...words]: readonly string[],
  flags: {json?: boolean | undefined; yes?: boolean | undefined; template?: string | undefined},
): Subcommand | undefined {
  if (name !== 'agents' && name !== 'sessions' && name !== 'doctor') return undefined;
  return {name, words, json: flags.json ?? false, sure: flags.yes ?? false, ...optional('template', flags.template)};
}

/** What goes with what: a flag that would count for nothing is an error, not ignored. */
function assertTogether(flags: Readonly<Record<string, unknown>>, subcommand: Subcommand | undefined): void {
  const given = Object.keys(FLAGS).filter((name) => {
    const value = flags[name];
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  });
  const wrong = given.find((name) => (subcommand ? !OF_SUBCOMMANDS.has(name) : ONLY_SUBCOMMANDS.has(name)));
  if (wrong) {
    throw new UsageError(
      subcommand
        ? `--${kebab(wrong)} does not go with mini-cc ${subcommand.name}`
        : `--${kebab(wrong)} goes with mini-cc agents, mini-cc sessions and mini-cc doctor`,
    );
  }
  const [one, other] = ['continue', 'resume', 'sessionId'].filter((name) => given.includes(name));
  if (one && other) throw new UsageError(`--${kebab(one)} and --${kebab(other)} name different sessions: say one`);
  if (flags.includePartialMessages && flags.outputFormat !== 'stream-json') {
    throw new UsageError('--include-partial-messages goes with --output-format stream-json');
  }
}

function unknownFlag(name: string): never {
  const flag = name.length === 1 ? `-${name}` : `--${kebab(name)}`;
  if (isNotYet('flags', name)) throw new UsageError(notYet(flag));
  throw new UsageError(
    `Unknown flag ${flag} (did you mean --${kebab(nearest(name, Object.keys(FLAGS))!)}?). --help lists them`,
  );
}

function which(flags: {
  continue?: boolean | undefined;
  resume?: string | undefined;
  sessionId?: string | undefined;
}): SessionOptions['which'] {
  if (flags.resume !== undefined) {
    if (flags.resume === '') throw new UsageError('--resume needs the id of a session; --continue takes the last one');
    return {type: 'resume', id: flags.resume};
  }
  if (flags.continue) return {type: 'continue'};
  if (flags.sessionId === undefined) return {type: 'new'};
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(flags.sessionId)) {
    throw new UsageError(`--session-id: not a UUID: ${JSON.stringify(flags.sessionId)}`);
  }
  return {type: 'new', id: flags.sessionId.toLowerCase()};
}

function oneOf<T extends string>(flag: string, value: string, values: readonly T[]): T {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw new UsageError(`${flag}: ${JSON.stringify(value)} is none of ${values.join(', ')}`);
  return found;
}

function wholeNumber(flag: string, value: string | undefined, least: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value.trim() === '' || !Number.isInteger(number) || number < least) {
    throw new UsageError(`${flag}: ${JSON.stringify(value)} is no whole number from ${least} on`);
  }
  return number;
}

function folder(dir: string): string {
  const absolute = path.resolve(dir);
  if (!existsSync(absolute) || !statSync(absolute).isDirectory())
    throw new UsageError(`No such directory: ${absolute}`);
  return absolute;
}

/** Rules, apart by commas or white space; what stands in brackets is one. */
function list(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => {
    let depth = 0;
    const rules = [''];
    for (const letter of value) {
      if (letter === '(') depth += 1;
      if (letter === ')') depth -= 1;
      if (depth <= 0 && /[\s,]/.test(letter)) rules.push('');
      else rules.push(rules.pop() + letter);
    }
    return rules.filter((rule) => rule !== '');
  });
}

function optional<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({[key]: value} as Record<K, string>);
}
