/** Predicts how bash expands a word of a command, as far as that is known before the command runs. */
import type {ArithmeticExpression, DoubleQuotedChild, Word, WordPart} from 'unbash';

/**
 * Says why a command is not understood, or is of another kind than the caller needs. The message has no dot at its end.
 */
export class UnclearCommand extends Error {
  override name = 'UnclearCommand';
}

/** @returns the result of `work`, or the `UnclearCommand` that it throws */
export function unlessUnclear<T>(work: () => T): T | UnclearCommand {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnclearCommand) return error;
    throw error;
  }
}

export type ShellWord =
  /** Exactly this text. `home` is true when it begins with a `~` that bash replaces by the home directory. */
  | {readonly kind: 'text'; readonly text: string; readonly home: boolean}
  /** Names of the files that match this pattern. A pattern that matches no file stays as it is. */
  | {readonly kind: 'glob'; readonly text: string; readonly home: boolean}
  /** Any number of words, which are known only when the command runs. `word` is what was written. */
  | {readonly kind: 'unknown'; readonly word?: Word};

/** Several braces in one word multiply the words. */
export const MAX_WORDS = 64;
/** Parameters of other forms may run code when bash expands them: indirection, assignment, indices, prompts. */
const PLAIN_PARAMETER = /^\$(?:\w+|[?#$!*@-]|\{(?:\w+|[?#$!*@-])\})$/;

/**
 * Scripts of substitutions are not read here: they are parts of the parsed command.
 * @returns several words for braces such as `{a,b}`
 * @throws UnclearCommand for an expansion that may do more than its text shows
 */
export function readWord(word: Word): readonly ShellWord[] {
  const [only] = word.parts ?? [];
  if (only?.type === 'ProcessSubstitution' && word.parts?.length === 1) {
    if (only.operator !== '<' || !only.script) throw new UnclearCommand(`${word.text} is written to`);
    return [{kind: 'unknown', word}];
  }
  if (!word.parts) {
    checkBare(word.text);
    return [{kind: 'text', text: word.value, home: isHome(word.text, word.text)}];
  }
  let states: readonly Expansion[] = [toKnown('')];
  const hasGlob = word.parts.some(({type}) => type === 'Glob');
  for (const part of word.parts) {
    const expansions = readPart(part);
    if (hasGlob && part.type !== 'Glob' && expansions.some(({text}) => /[*?[\\]/.test(text))) {
      throw new UnclearCommand(`${word.text} is a pattern with quoted pattern characters`);
    }
    states = states.flatMap((state) => expansions.map((more) => join(state, more)));
    if (states.length > MAX_WORDS) throw new UnclearCommand('its braces make too many words');
  }
  const first = word.parts[0];
  const home = first?.type === 'Literal' && isHome(first.text, word.text);
  return states.map(({text, glob, unknown}) =>
    unknown ? {kind: 'unknown', word} : {kind: glob ? 'glob' : 'text', text, home},
  );
}

/** Reads a word as `readWord`. One that may do more than its text shows is unknown. */
export function expandWord(word: Word): readonly ShellWord[] {
  const words = unlessUnclear(() => readWord(word));
  return words instanceof UnclearCommand ? [{kind: 'unknown', word}] : words;
}

/** @throws UnclearCommand when bash may run code while it expands the text of a here-document */
export function checkText(parts: readonly WordPart[]): void {
  for (const part of parts) if (part.type !== 'Literal') readPart(part);
}

interface Expansion {
  readonly text: string;
  readonly glob: boolean;
  readonly unknown: boolean;
}

function join(a: Expansion, b: Expansion): Expansion {
  return {text: a.text + b.text, glob: a.glob || b.glob, unknown: a.unknown || b.unknown};
}

function readPart(part: WordPart): readonly Expansion[] {
  switch (part.type) {
    case 'Literal':
      checkBare(part.text);
      return [toKnown(part.value)];
    case 'SingleQuoted':
      return [toKnown(part.value)];
    case 'AnsiCQuoted':
      // Bash may read bytes outside of ASCII differently, and it ends such a text at a NUL byte.
      if (!/^[ -~\n\t]*$/.test(part.value) || /\\(?:0|x00|u0+\b|c)/i.test(part.text)) {
        throw new UnclearCommand(`${part.text} hides its text`);
      }
      return [toKnown(part.value)];
    case 'DoubleQuoted':
      return [part.parts.map((child) => readQuoted(child)).reduce(join, toKnown(''))];
    case 'Glob':
      if (!/^(?:[*?]|\[[\w!^:.-]+\])$/.test(part.text)) throw new UnclearCommand(`${part.text} is an unusual pattern`);
      return [{text: part.text, glob: true, unknown: false}];
    case 'BraceExpansion':
      return readBraces(part.text).map(toKnown);
    case 'ExtendedGlob':
    case 'LocaleString':
    case 'ProcessSubstitution':
      throw new UnclearCommand(`${part.text} is known only when it runs`);
    default:
      return [readQuoted(part)];
  }
}

function readQuoted(part: DoubleQuotedChild): Expansion {
  switch (part.type) {
    case 'Literal':
      return toKnown(part.value);
    case 'CommandExpansion':
      if (!part.script || part.text.startsWith('${')) throw new UnclearCommand(`${part.text} was not understood`);
      return UNKNOWN;
    case 'ArithmeticExpansion':
      if (!part.expression || !isPlainNumber(part.expression)) throw new UnclearCommand(`${part.text} may run code`);
      return UNKNOWN;
    default:
      if (!PLAIN_PARAMETER.test(part.text)) throw new UnclearCommand(`${part.text} may run code`);
      return UNKNOWN;
  }
}

const UNKNOWN: Expansion = {text: '', glob: false, unknown: true};

function toKnown(text: string): Expansion {
  return {text, glob: false, unknown: false};
}

/** Bash also evaluates the values of names in an expression, which may contain code. Only numbers are safe. */
function isPlainNumber(expression: ArithmeticExpression): boolean {
  switch (expression.type) {
    case 'ArithmeticBinary':
      return isPlainNumber(expression.left) && isPlainNumber(expression.right);
    case 'ArithmeticUnary':
      return isPlainNumber(expression.operand);
    case 'ArithmeticGroup':
      return isPlainNumber(expression.expression);
    case 'ArithmeticWord':
      return /^\d+$/.test(expression.value);
    default:
      return false;
  }
}

/** Reads braces of plain words such as `{a,b}`. @throws UnclearCommand for other braces */
function readBraces(text: string): string[] {
  if (!/^\{[\w./@+-]+(?:,[\w./@+-]+)+\}$/.test(text))
    throw new UnclearCommand(`${text}: only plain braces are understood`);
  return text.slice(1, -1).split(',');
}

/**
 * @throws UnclearCommand for characters that have a meaning without quotes, but which the parser reads as plain text
 */
function checkBare(text: string): void {
  const bare = text.replace(/\\[\s\S]/g, '');
  const opensBracket = bare.includes('[') && bare !== '[';
  const expandsBraces = /\{[^}]*(?:,|\.\.)/.test(bare);
  if (opensBracket || expandsBraces || /[`*?<>|&;()"'\s]|\$(?!$)/.test(bare))
    throw new UnclearCommand(`${text} was not understood`);
}

/** @throws UnclearCommand for forms such as `~name` and `~+` */
function isHome(firstText: string, whole: string): boolean {
  if (!firstText.startsWith('~')) return false;
  if (whole === '~' || firstText.startsWith('~/')) return true;
  throw new UnclearCommand(`${whole}: which directory ~ means here is known only when it runs`);
}
