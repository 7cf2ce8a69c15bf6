/** Which commands a rule matches: `npm test` (exactly this one), `git log:*` (also with more words), `npm run *`. */
import {type CommandPart, formatWords, type PartWord, parseCommand} from '../shell/command-parser.ts';
import {NotProven} from '../shell/shell-words.ts';

/**
 * Whether a rule's pattern matches the text of a command. `*` matches any characters; `x:*` and `x *` match `x` alone,
 * too. `\*` is a star, `\\` a backslash.
 */
export function matchesCommand(pattern: string, text: string): boolean {
  if (pattern === text) return true;
  const [end, sign] = /(?<!\\)([:\s])\*$/.exec(pattern) ?? [];
  const body = end === undefined ? pattern : pattern.slice(0, -end.length).trimEnd();
  const pieces = body.split(/(?<!\\)\*/).map(removeEscapes);
  if (matchesPieces(pieces, text)) return true;
  if (end === undefined) return false;
  // `npm run test:*` matches `npm run test:unit` too. A pattern of one word names a program: `npm:*` is not `npm:x`.
  const separators = sign === ':' && body.includes(' ') ? [' ', ':'] : [' '];
  return separators.some((separator) => matchesPieces([...pieces.slice(0, -1), pieces.at(-1)! + separator, ''], text));
}

/**
 * Whether the text consists of the pieces, with any characters between them. Not a RegExp: one with many stars, from a
 * project's settings, would take exponential time.
 */
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

function removeEscapes(text: string): string {
  return text.replace(/\\([\\*])/g, '$1');
}

/** The pattern of a rule that matches exactly this command. */
export function toCommandPattern(command: string): string {
  return command.trim().replace(/[\\*]/g, '\\$&');
}

/** Programs that run the command in their words and do not change what it does, with the words that may precede it. */
const PLAIN_WRAPPERS: Readonly<Record<string, {option: RegExp; withValue: RegExp; operands: number}>> = {
  timeout: {
    option: /^(?:-v|--foreground|--preserve-status|--verbose|-[ks]\S+|--(?:kill-after|signal)=\S+)$/,
    withValue: /^-[ks]$/,
    operands: 1,
  },
  nice: {option: /^(?:-n-?\d+|-\d+|--adjustment=-?\d+)$/, withValue: /^-n$/, operands: 0},
  nohup: {option: /^$/, withValue: /^$/, operands: 0},
  stdbuf: {option: /^-[ioe][L0]$/, withValue: /^$/, operands: 0},
};

/** The texts that allow rules are matched against: the part as written, and without `timeout` and the like before it. */
export function getTextsToAllow({words}: CommandPart): string[] {
  const texts = [formatWords(words)];
  for (let rest = removeWrapper(words); rest !== undefined; rest = removeWrapper(rest)) texts.push(formatWords(rest));
  return texts;
}

function removeWrapper(words: readonly PartWord[]): readonly PartWord[] | undefined {
  const name = words[0]?.text ?? '';
  const wrapper = Object.hasOwn(PLAIN_WRAPPERS, name) ? PLAIN_WRAPPERS[name] : undefined;
  if (!wrapper) return undefined;
  let at = 1;
  for (;;) {
    const text = words[at]?.text ?? '';
    if (wrapper.withValue.test(text) && text !== '') at += 2;
    else if (wrapper.option.test(text) && text !== '') at += 1;
    else break;
  }
  const rest = words.slice(at + wrapper.operands);
  return rest[0]?.text === undefined || rest[0].text.startsWith('-') ? undefined : rest;
}

/** Programs that run a command which begins at one of their words. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  ...['timeout', 'nice', 'nohup', 'stdbuf', 'time', 'env', 'sudo', 'doas', 'xargs', 'exec', 'command', 'builtin'],
  ...['setsid', 'ionice', 'chrt', 'taskset', 'watch', 'parallel', 'strace', 'ltrace', 'unshare', 'chroot', 'busybox'],
  ...['flock', 'script', 'npx', 'find', 'fd', 'su', 'runuser', 'setpriv', 'systemd-run', 'coproc'],
]);
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish']);

interface Spellings {
  /** The texts that deny and ask rules are matched against. */
  readonly texts: readonly string[];
  /** Some of what the command runs is known only when it runs: there may be other spellings. */
  readonly hasUnknown: boolean;
}

/** How deep commands inside commands are read, as in `bash -c "bash -c …"`. */
const MAX_DEPTH = 5;

/**
 * Every text by which a deny or ask rule could name this part. Rather too many: other quotes, a path before the program,
 * or a program that runs it, must not lead around a rule.
 */
export async function getSpellings(part: CommandPart, depth = 0): Promise<Spellings> {
  const texts = new Set<string>();
  const name = getBaseName(part.words[0]);
  let hasUnknown = name === undefined;
  const add = (words: readonly PartWord[]) => {
    const program = getBaseName(words[0]);
    for (const each of program === undefined ? [words] : [words, [{raw: program, text: program}, ...words.slice(1)]]) {
      texts.add(formatWords(each));
      texts.add(each.map(({raw}) => raw).join(' '));
      texts.add(each.map(({raw, text}) => text ?? raw).join(' '));
    }
  };
  add(part.words);
  for (const words of listWithoutOptions(part.words)) add(words);
  if (name !== undefined && WRAPPERS.has(name))
    part.words.forEach((_, at) => void (at > 0 && add(part.words.slice(at))));
  for (const script of getScripts(part.words)) {
    if (script === undefined || depth >= MAX_DEPTH) {
      hasUnknown = true;
      continue;
    }
    const inner = await parseOrUndefined(script);
    if (!inner) hasUnknown = true;
    for (const each of inner?.parts ?? []) {
      const spellings = await getSpellings(each, depth + 1);
      for (const text of spellings.texts) texts.add(text);
      hasUnknown ||= spellings.hasUnknown;
    }
  }
  return {texts: [...texts], hasUnknown};
}

/**
 * The command without options directly behind the program: `git -C sub push` is also `git push`. Whether a word is the
 * value of the option before it is not known here, so each option is left out alone and with the word behind it.
 */
function listWithoutOptions([program, ...words]: readonly PartWord[]): PartWord[][] {
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

/** The commands that the words give as a text: `bash -c …`, `eval …`. Undefined for a text that is not known. */
function getScripts(words: readonly PartWord[]): (string | undefined)[] {
  return words.flatMap((word, at) => {
    const name = getBaseName(word);
    if (at === 0 && name === 'eval') {
      const rest = words.slice(1).map(({text}) => text);
      return rest.includes(undefined) ? [undefined] : [rest.join(' ')];
    }
    if (name === undefined || !SHELLS.has(name)) return [];
    const flag = words.findIndex(({text}, index) => index > at && /^-\w*c\w*$/.test(text ?? ''));
    if (flag >= 0) return [words[flag + 1]?.text];
    // A shell without a file reads its commands from standard input.
    return at === 0 && words.slice(1).every(({raw}) => /^-\w/.test(raw)) ? [undefined] : [];
  });
}

function getBaseName(word: PartWord | undefined): string | undefined {
  return word?.text?.replace(/^.*\//s, '');
}

async function parseOrUndefined(script: string) {
  try {
    return await parseCommand(script);
  } catch (error) {
    if (error instanceof NotProven) return undefined;
    throw error;
  }
}
