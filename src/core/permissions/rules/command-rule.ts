/** Matches commands by rules: `npm test` (exactly this one), `git log:*` (also with more words), `npm run *`. */
import {matchesPieces} from '../../util/glob.ts';
import {formatWords} from '../shell/command-parser.ts';
import type {CommandPart, PartWord} from '../shell/command-shape.ts';

/**
 * Whether a rule's pattern matches the text of a command. `*` matches any characters; `x:*` and `x *` match `x` alone,
 * too. `\*` is a star, `\\` a backslash.
 */
export function matchesCommand(pattern: string, text: string): boolean {
  return pattern === text || listForms(pattern).some((pieces) => matchesPieces(pieces, text));
}

/** Whether the pattern could match a text that begins like this. */
export function couldMatchCommand(pattern: string, start: string): boolean {
  return listForms(pattern).some(([first = '', ...others]) =>
    first.length < start.length ? others.length > 0 && start.startsWith(first) : first.startsWith(start),
  );
}

/** Returns the forms of a pattern. Each form is a list of pieces with any characters between them. */
function listForms(pattern: string): readonly (readonly string[])[] {
  const [end, sign] = /(?<!\\)([:\s])\*$/.exec(pattern) ?? [];
  const body = end === undefined ? pattern : pattern.slice(0, -end.length).trimEnd();
  const pieces = body.split(/(?<!\\)\*/).map(removeEscapes);
  if (end === undefined) return [pieces];
  // `npm run test:*` matches `npm run test:unit` too. A pattern of one word names a program: `npm:*` is not `npm:x`.
  const separators = sign === ':' && body.includes(' ') ? [' ', ':'] : [' '];
  return [pieces, ...separators.map((separator) => [...pieces.slice(0, -1), pieces.at(-1)! + separator, ''])];
}

function removeEscapes(text: string): string {
  return text.replace(/\\([\\*])/g, '$1');
}

/** Returns the pattern of a rule that matches exactly this command. */
export function toCommandPattern(command: string): string {
  return command.trim().replace(/[\\*]/g, '\\$&');
}

/** Programs that run the command in their words without changing what it does, with the words that may precede it. */
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

/**
 * Returns the texts that allow rules are matched against: the part as written, and without `timeout` and the like
 * before it.
 */
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
