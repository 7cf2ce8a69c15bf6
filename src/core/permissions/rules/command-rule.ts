/** Which commands a rule is about: `npm test` (that very command), `git log:*` (with more words), `npm run *`. */

import {type CommandPart, type PartWord, parseCommand, plainText} from '../shell/command-parser.ts';
import {NotProven} from '../shell/shell-words.ts';

/** Whether a text is what stands in a rule's brackets. `x:*` and `x *` are `x` too; `\*` is a star, `\\` a backslash. */
export function matchesCommand(about: string, text: string): boolean {
  if (about === text) return true;
  const [end, sign] = /(?<!\\)([:\s])\*$/.exec(about) ?? [];
  const body = end === undefined ? about : about.slice(0, -end.length).trimEnd();
  const pieces = body.split(/(?<!\\)\*/).map(unescaped);
  if (matchesPieces(pieces, text)) return true;
  if (end === undefined) return false;
  // `npm run test:*` is `npm run test:unit` too, as it reads; the first word names a program, and stays that one.
  const separators = sign === ':' && body.includes(' ') ? [' ', ':'] : [' '];
  return separators.some((separator) => matchesPieces([...pieces.slice(0, -1), pieces.at(-1)! + separator, ''], text));
}

/** Pieces with any letters between them. By hand: a project's pattern of many stars would take a RegExp for ever. */
function matchesPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.endsWith(last) && text.length - last.length >= at;
}

function unescaped(text: string): string {
  return text.replace(/\\([\\*])/g, '$1');
}

/** A rule's words for this very command. */
export function exactCommand(command: string): string {
  return command.trim().replace(/[\\*]/g, '\\$&');
}

/** Run another command that stands in their own words, and change nothing of what it does. */
const MERE_WRAPPERS: Readonly<Record<string, {option: RegExp; withValue: RegExp; words: number}>> = {
  timeout: {
    option: /^(?:-v|--foreground|--preserve-status|--verbose|-[ks]\S+|--(?:kill-after|signal)=\S+)$/,
    withValue: /^-[ks]$/,
    words: 1,
  },
  nice: {option: /^(?:-n-?\d+|-\d+|--adjustment=-?\d+)$/, withValue: /^-n$/, words: 0},
  nohup: {option: /^$/, withValue: /^$/, words: 0},
  stdbuf: {option: /^-[ioe][L0]$/, withValue: /^$/, words: 0},
};

/** What a rule that allows is held against: the part as written, and without wrappers that only start it. */
export function textsToAllow({words}: CommandPart): string[] {
  const texts = [plainText(words)];
  for (let rest = unwrapped(words); rest !== undefined; rest = unwrapped(rest)) texts.push(plainText(rest));
  return texts;
}

function unwrapped(words: readonly PartWord[]): readonly PartWord[] | undefined {
  const name = words[0]?.text ?? '';
  const wrapper = Object.hasOwn(MERE_WRAPPERS, name) ? MERE_WRAPPERS[name] : undefined;
  if (!wrapper) return undefined;
  let at = 1;
  for (;;) {
    const text = words[at]?.text ?? '';
    if (wrapper.withValue.test(text) && text !== '') at += 2;
    else if (wrapper.option.test(text) && text !== '') at += 1;
    else break;
  }
  const rest = words.slice(at + wrapper.words);
  return rest[0]?.text === undefined || rest[0].text.startsWith('-') ? undefined : rest;
}

/** Run what stands somewhere in their words. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  ...['timeout', 'nice', 'nohup', 'stdbuf', 'time', 'env', 'sudo', 'doas', 'xargs', 'exec', 'command', 'builtin'],
  ...['setsid', 'ionice', 'chrt', 'taskset', 'watch', 'parallel', 'strace', 'ltrace', 'unshare', 'chroot', 'busybox'],
  ...['flock', 'script', 'npx', 'find', 'fd', 'su', 'runuser', 'setpriv', 'systemd-run', 'coproc'],
]);
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish']);

export interface Spellings {
  /** All that a rule which forbids is held against. */
  readonly texts: readonly string[];
  /** Some of what it runs is known only when it runs. */
  readonly isUnsure: boolean;
}

/** Generous: what a person forbids is not to be had by other quotes, a path, or another program that runs it. */
export async function spellingsOf(part: CommandPart, depth = 0): Promise<Spellings> {
  const texts = new Set<string>();
  const name = baseName(part.words[0]);
  let isUnsure = name === undefined;
  const add = (words: readonly PartWord[]) => {
    const program = baseName(words[0]);
    for (const each of program === undefined ? [words] : [words, [{raw: program, text: program}, ...words.slice(1)]]) {
      texts.add(plainText(each));
      texts.add(each.map(({raw}) => raw).join(' '));
      texts.add(each.map(({raw, text}) => text ?? raw).join(' '));
    }
  };
  add(part.words);
  for (const words of withoutOptions(part.words)) add(words);
  if (name !== undefined && WRAPPERS.has(name))
    part.words.forEach((_, at) => void (at > 0 && add(part.words.slice(at))));
  for (const script of scriptsOf(part.words)) {
    if (script === undefined || depth >= MOST_DEPTH) {
      isUnsure = true;
      continue;
    }
    const inner = await readOrNothing(script);
    if (!inner) isUnsure = true;
    for (const each of inner?.parts ?? []) {
      const spelt = await spellingsOf(each, depth + 1);
      for (const text of spelt.texts) texts.add(text);
      isUnsure ||= spelt.isUnsure;
    }
  }
  return {texts: [...texts], isUnsure};
}

const MOST_DEPTH = 5;

/** `git -C sub push` is `git push`: options that stand first left out, each also with the word behind it. */
function withoutOptions([program, ...words]: readonly PartWord[]): PartWord[][] {
  if (!program) return [];
  const isOption = (word: PartWord | undefined) => word?.raw.startsWith('-') ?? false;
  const found: PartWord[][] = [];
  for (let at = 0; isOption(words[at]); ) {
    at += 1;
    found.push([program, ...words.slice(at)]);
    if (at >= words.length || isOption(words[at])) continue;
    at += 1;
    found.push([program, ...words.slice(at)]);
  }
  return found.filter((each) => each.length > 1);
}

/** Commands given as a text: `bash -c …`, `eval …`. Undefined for one that is not known. */
function scriptsOf(words: readonly PartWord[]): (string | undefined)[] {
  return words.flatMap((word, at) => {
    const name = baseName(word);
    if (at === 0 && name === 'eval') {
      const rest = words.slice(1).map(({text}) => text);
      return rest.includes(undefined) ? [undefined] : [rest.join(' ')];
    }
    if (name === undefined || !SHELLS.has(name)) return [];
    const flag = words.findIndex(({text}, index) => index > at && /^-\w*c\w*$/.test(text ?? ''));
    if (flag >= 0) return [words[flag + 1]?.text];
    // Without a file it reads what to do from its input.
    return at === 0 && words.slice(1).every(({raw}) => /^-\w/.test(raw)) ? [undefined] : [];
  });
}

function baseName(word: PartWord | undefined): string | undefined {
  return word?.text?.replace(/^.*\//s, '');
}

async function readOrNothing(script: string) {
  try {
    return await parseCommand(script);
  } catch (error) {
    if (error instanceof NotProven) return undefined;
    throw error;
  }
}
