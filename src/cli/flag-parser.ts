/**
 * Parses the command line by the table of flags.ts. A flag takes its value behind `=` or as the next word; a word that begins
 * with a dash is a flag only where a letter follows. As in Claude Code several rules may follow one --allowed-tools.
 */
import {description, version} from '../../package.json';
import {parseRule} from '../core/permissions/rules/rule.ts';
import {UsageError} from '../core/util/errors.ts';
import {formatMeant} from '../core/util/names.ts';
import {formatNotYetAvailable, isPlanned} from '../core/util/planned-features.ts';
import {FLAGS, type FlagName, helpText, written} from './flags.ts';

type Value<Type> = Type extends 'boolean' ? boolean : Type extends 'number' ? readonly number[] : readonly string[];

/** What was given. Of a flag with a value all that were given, in their order. */
export type Flags = {readonly [Name in FlagName]?: Value<(typeof FLAGS)[Name]['type']>};

/** `--name`, `--name=value`, `-n`. Anything else is text: `-5 apples`, `- be brief`. */
const FLAG = /^--?([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/;
/** In place of a session's id: the person chooses one. No id can be this. */
export const CHOOSE = '?';
const RULE_LISTS: readonly FlagName[] = ['allowedTools', 'disallowedTools'];

/**
 * Ends the process for --help and --version.
 * @returns the flags, and all other words in their order
 * @throws UsageError in one line that names the flag and what it takes
 */
export function parseFlags(args: readonly string[]): {readonly flags: Flags; readonly input: readonly string[]} {
  const end = args.indexOf('--');
  const words = end === -1 ? args : args.slice(0, end);
  printAndExit(words);
  const flags: Partial<Record<FlagName, boolean | (string | number)[]>> = {};
  const input: string[] = [];
  // Of the list that was given last.
  let rules: (string | number)[] | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const [, typed, value] = FLAG.exec(word) ?? [];
    if (typed === undefined) {
      if (rules && isRule(word)) rules.push(word);
      else rules = void input.push(word);
      continue;
    }
    const name = toFlagName(word, typed);
    rules = undefined;
    if (FLAGS[name].type === 'boolean') {
      if (![undefined, 'true', 'false'].includes(value)) throw new UsageError(`${written(name)} takes no value`);
      flags[name] = value !== 'false';
      continue;
    }
    const next = words[at + 1];
    const hasNext = value === undefined && next !== undefined && !FLAG.test(next);
    const given = value ?? (hasNext ? next : name === 'resume' ? CHOOSE : undefined);
    if (given === undefined) throw new UsageError(`${written(name)} needs a value`);
    if (hasNext) at += 1;
    const list = flags[name] === undefined ? [] : (flags[name] as (string | number)[]);
    list.push(toValue(name, given));
    flags[name] = list;
    if (RULE_LISTS.includes(name)) rules = list;
  }
  return {flags: flags as Flags, input: [...input, ...(end === -1 ? [] : args.slice(end + 1))]};
}

function printAndExit(words: readonly string[]): void {
  const has = (name: FlagName, short: string) => words.includes(written(name)) || words.includes(short);
  const isVersion = has('version', '-v');
  if (!isVersion && !has('help', '-h')) return;
  const indented = helpText().replaceAll(/^(?=.)/gm, '  ');
  process.stdout.write(isVersion ? `${version}\n` : `\n  ${description}\n\n${indented}\n`);
  process.exit(0);
}

function toFlagName(word: string, typed: string): FlagName {
  const name = word.startsWith('--') ? camelCase(typed) : longName(typed);
  if (!Object.hasOwn(FLAGS, name)) throw unknownFlag(name);
  return name as FlagName;
}

/** A number that was none is NaN. */
function toValue(name: FlagName, given: string): string | number {
  const flag: {readonly type: string; readonly choices?: readonly string[]} = FLAGS[name];
  if (flag.choices && !flag.choices.includes(given)) {
    const choices = flag.choices.map((each) => `\`${each}\``).join(', ');
    throw new UsageError(
      `Unknown value for flag \`${written(name)}\`: \`${given}\`. Value must be one of: [${choices}]`,
    );
  }
  if (flag.type !== 'number') return given;
  return given.trim() === '' ? Number.NaN : Number(given);
}

/** A whole rule is no prompt. */
function isRule(word: string): boolean {
  return /^\w+(?:\(.*\))?$/s.test(word) && !('problem' in parseRule(word));
}

function unknownFlag(name: string): UsageError {
  const flag = name.length === 1 ? `-${name}` : written(name);
  if (isPlanned('flags', name)) return new UsageError(formatNotYetAvailable(flag));
  return new UsageError(`Unknown flag ${flag}${formatMeant(name, Object.keys(FLAGS), written)}. --help lists them`);
}

function longName(short: string): string {
  const found = Object.entries(FLAGS).find(([, flag]) => 'shortFlag' in flag && flag.shortFlag === short);
  return found?.[0] ?? short;
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
