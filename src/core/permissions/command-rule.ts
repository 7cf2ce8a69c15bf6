/** Which commands a rule is about: `npm test` (that very command), `git log:*` (with more words), `npm run *`. */
import {type CommandPart, type PartWord, plainText, readCommand} from './command-parts.ts';
import {escapeRegExp} from './rule.ts';
import {NotProven} from './shell-script.ts';

/** Whether a text is what stands in a rule's brackets. `\*` is a star, `\\` a backslash. */
export function matchesCommand(about: string, text: string): boolean {
  if (about === text) return true;
  if (about.endsWith(':*') && !about.endsWith('\\:*')) {
    const beginning = unescaped(about.slice(0, -2).trim());
    return text === beginning || text.startsWith(`${beginning} `);
  }
  const pieces = about.split(/(?<!\\)\*/);
  if (pieces.length === 1) return text === unescaped(about);
  // `npm run *` is also `npm run`.
  const last = pieces.at(-1) === '' && pieces.at(-2)?.endsWith(' ');
  const body = (last ? [...pieces.slice(0, -2), pieces.at(-2)!.slice(0, -1)] : pieces)
    .map((piece) => escapeRegExp(unescaped(piece)))
    .join('[^]*');
  return new RegExp(`^${body}${last ? '(?: [^]*)?' : ''}$`).test(text);
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
const WRAPPERS = new Set([
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
    return flag < 0 ? [] : [words[flag + 1]?.text];
  });
}

function baseName(word: PartWord | undefined): string | undefined {
  return word?.text?.replace(/^.*\//s, '');
}

async function readOrNothing(script: string) {
  try {
    return await readCommand(script);
  } catch (error) {
    if (error instanceof NotProven) return undefined;
    throw error;
  }
}
