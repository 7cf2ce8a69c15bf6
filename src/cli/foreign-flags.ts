/**
 * Takes flags of Claude Code that mini-cc lacks out of the command line, so that a script or a program written for it
 * works. Each becomes a warning.
 */
import {SETTING_SOURCES} from '../config/layers.ts';
import type {ForeignWord} from '../core/contract/events.ts';
import {EFFORTS} from '../core/util/effort.ts';

/**
 * Says whether the next word is the value of the flag: never, always, or only where it cannot be the prompt, because a
 * driver sent it or the prompt follows.
 */
type Value = 'none' | 'one' | 'maybe';

/** Flags of Claude Code 2.1.330 and of its SDK that mini-cc lacks. */
const FOREIGN_FLAGS: ReadonlyMap<string, Value> = new Map([
  ...list('none', 'bare bg background brief chrome no-chrome disable-slash-commands'),
  ...list('none', 'exclude-dynamic-system-prompt-sections ide init init-only maintenance'),
  ...list('none', 'mcp-debug replay-user-messages tmux'),
  ...list('one', 'append-system-prompt-file betas file name plugin-url'),
  ...list('one', 'resume-session-at system-prompt-file task-budget teammate-mode thinking'),
  ...list('maybe', 'from-pr prompt-suggestions remote remote-control session-mirror worktree'),
]);

/** A flag that narrows what a session may do is never left out, also where a driver sends it. */
const RESTRICTS = /permission|sandbox|deny|disallow|managed|safe-mode|restrict/i;

/** Flags of which a newer driver may send other values. A value that mini-cc lacks is left out. */
const KNOWN_VALUES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['effort', ['off', ...EFFORTS]],
  ['setting-sources', SETTING_SOURCES],
]);

/** Short flags of Claude Code that mini-cc lacks. */
const SHORT_FLAGS: Readonly<Record<string, string>> = {d: '--debug', n: '--name', w: '--worktree'};
/** Matches several short flags in one word, such as `-pc`. Only the last one may take a value. */
const BUNDLE = /^-([pcd]+[pcdnrw])$/;

const FLAG = /^--([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/;

/** Writes short flags in one word as several, and those that mini-cc lacks as the long ones. */
function spellOut(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const spelt = flags.flatMap((arg) => {
    const letters = BUNDLE.exec(arg)?.[1] ?? /^-([dnw])$/.exec(arg)?.[1];
    return letters === undefined ? arg : [...letters].map((letter) => SHORT_FLAGS[letter] ?? `-${letter}`);
  });
  return [...spelt, ...args.slice(flags.length)];
}

/** Tells whether the words have a prompt after the flag's own word, so that this word is a value. */
function isFollowedByPrompt(args: readonly string[], own: number): boolean {
  const isWord = (at: number) => args[at] !== undefined && !args[at].startsWith('-');
  return args.some((_, at) => at > own && isWord(at) && (isWord(at - 1) || /^(?:-p|--print|--)$/.test(args[at - 1]!)));
}

/**
 * @param knows whether mini-cc has the flag, by its name as it is typed
 * @returns the words that are left, and a warning for each flag
 */
export function takeOutForeignFlags(
  typed: readonly string[],
  knows: (flag: string) => boolean,
): {readonly args: readonly string[]; readonly foreignWords: readonly ForeignWord[]} {
  const args = spellOut(typed);
  const isDriven = args.some((arg, at) => /^--input-?[fF]ormat(?:=|$)/.test(arg) && isStreamJson(arg, args[at + 1]));
  const left: string[] = [];
  const foreignWords: ForeignWord[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (arg === '--') return {args: [...left, ...args.slice(at)], foreignWords};
    const [, name, value] = FLAG.exec(arg) ?? [];
    const values = isDriven && name !== undefined && value ? KNOWN_VALUES.get(name) : undefined;
    const missing = values ? value!.split(',').filter((each) => !values.includes(each.trim())) : [];
    if (missing.length > 0) {
      const words = missing.map((each) => JSON.stringify(each)).join(', ');
      foreignWords.push({
        kind: 'flag',
        name: `--${name}`,
        text: `--${name}: mini-cc has no ${words}: it has no effect`,
      });
      const others = value!.split(',').filter((each) => !missing.includes(each));
      if (name === 'setting-sources' || others.length > 0) left.push(`--${name}=${others.join(',')}`);
      continue;
    }
    if (name === undefined || knows(name)) {
      left.push(arg);
      continue;
    }
    if (name === 'ax-screen-reader') {
      left.push('--screen-reader');
      continue;
    }
    const listed = FOREIGN_FLAGS.get(name);
    // A driver sends no prompt among its arguments, so that a word after a flag is its value.
    const takes = listed ?? (isDriven && !RESTRICTS.test(name) ? 'maybe' : undefined);
    if (takes === undefined) {
      left.push(arg);
      continue;
    }
    const next = args[at + 1];
    const hasWord = next !== undefined && !next.startsWith('-');
    const mayTake = takes === 'maybe' && (isDriven || (!/\s/.test(next ?? '') && isFollowedByPrompt(args, at + 1)));
    if (value === undefined && hasWord && (takes === 'one' || mayTake)) at += 1;
    if (name === 'thinking') {
      left.push(...translateThinking(value ?? next));
      continue;
    }
    foreignWords.push({kind: 'flag', name: `--${name}`, text: `mini-cc has no --${name}, so that it has no effect`});
  }
  return {args: left, foreignWords};
}

/** Thinking that adapts itself is what a model does by default. */
function translateThinking(kind: string | undefined): readonly string[] {
  return kind === 'disabled' ? ['--effort=off'] : [];
}

function isStreamJson(arg: string, next: string | undefined): boolean {
  return (arg.split('=')[1] ?? next) === 'stream-json';
}

function list(value: Value, names: string): [string, Value][] {
  return names.split(' ').map((name) => [name, value]);
}
