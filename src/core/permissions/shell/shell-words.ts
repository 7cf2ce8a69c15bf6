/** What a word of a command will be once bash has expanded it, as far as that is known before it runs. */
import type {ArithmeticExpression, DoubleQuotedChild, ParsedScript, Word, WordPart} from 'unbash';

/** Why a command is not understood, or not proven to read only. Ends with no dot. */
export class NotProven extends Error {
  override name = 'NotProven';
}

export type ShellWord =
  /** This very text. `home`: it begins with a `~` that stands for the home directory. */
  | {readonly kind: 'text'; readonly text: string; readonly home: boolean}
  /** The names of files that match; a pattern that matches nothing stays as it is. */
  | {readonly kind: 'glob'; readonly text: string; readonly home: boolean}
  /** What another command prints, as a file to read. */
  | {readonly kind: 'stream'}
  /** Known only when it runs; any number of words. */
  | {readonly kind: 'unknown'};

export interface ReadWord {
  /** More than one for braces. */
  readonly words: readonly ShellWord[];
  /** Of its substitutions; they run when the word is expanded. */
  readonly scripts: readonly ParsedScript[];
}

/** Braces may multiply. */
const MOST_WORDS = 64;
/** Expanding such a one may run code of its own: indirection, assignment, indices, prompts. */
const PLAIN_PARAMETER = /^\$(?:\w+|[?#$!*@-]|\{(?:\w+|[?#$!*@-])\})$/;

/** @throws NotProven for an expansion that does more than it shows. */
export function readWord(word: Word): ReadWord {
  const scripts: ParsedScript[] = [];
  const [only] = word.parts ?? [];
  if (only?.type === 'ProcessSubstitution' && word.parts?.length === 1) {
    if (only.operator !== '<' || !only.script) throw new NotProven(`${word.text} is written to`);
    return {words: [{kind: 'stream'}], scripts: [only.script]};
  }
  if (!word.parts) {
    checkBare(word.text, word.text);
    return {words: [{kind: 'text', text: word.value, home: isHome(word.text, word.text)}], scripts};
  }
  let states: readonly Growing[] = [{text: '', glob: false, unknown: false}];
  const hasGlob = word.parts.some(({type}) => type === 'Glob');
  for (const part of word.parts) {
    const grown = readPart(part, scripts);
    if (hasGlob && part.type !== 'Glob' && grown.some(({text}) => /[*?[\\]/.test(text))) {
      throw new NotProven(`${word.text} is a pattern with quoted signs of a pattern`);
    }
    states = states.flatMap((state) => grown.map((more) => join(state, more)));
    if (states.length > MOST_WORDS) throw new NotProven('its braces make too many words');
  }
  const first = word.parts[0];
  const home = first?.type === 'Literal' && isHome(first.text, word.text);
  return {words: states.map((state) => finished(state, home)), scripts};
}

/** The scripts that run within the text of a here-document. @throws NotProven as `readWord` does */
export function readText(parts: readonly WordPart[]): ParsedScript[] {
  const scripts: ParsedScript[] = [];
  for (const part of parts) if (part.type !== 'Literal') readPart(part, scripts);
  return scripts;
}

interface Growing {
  readonly text: string;
  readonly glob: boolean;
  readonly unknown: boolean;
}

function join(a: Growing, b: Growing): Growing {
  return {text: a.text + b.text, glob: a.glob || b.glob, unknown: a.unknown || b.unknown};
}

function finished({text, glob, unknown}: Growing, home: boolean): ShellWord {
  if (unknown) return {kind: 'unknown'};
  return {kind: glob ? 'glob' : 'text', text, home};
}

function readPart(part: WordPart, scripts: ParsedScript[]): readonly Growing[] {
  switch (part.type) {
    case 'Literal':
      checkBare(part.text, part.text);
      return [known(part.value)];
    case 'SingleQuoted':
      return [known(part.value)];
    case 'AnsiCQuoted':
      // Bytes that are no ASCII, and an end before the end, may be read otherwise by bash.
      if (!/^[ -~\n\t]*$/.test(part.value) || /\\(?:0|x00|u0+\b|c)/i.test(part.text)) {
        throw new NotProven(`${part.text} hides what it is`);
      }
      return [known(part.value)];
    case 'DoubleQuoted':
      return [part.parts.map((child) => readQuoted(child, scripts)).reduce(join, known(''))];
    case 'Glob':
      if (!/^(?:[*?]|\[[\w!^:.-]+\])$/.test(part.text)) throw new NotProven(`${part.text} is an unusual pattern`);
      return [{text: part.text, glob: true, unknown: false}];
    case 'BraceExpansion':
      return braced(part.text).map(known);
    case 'ExtendedGlob':
    case 'LocaleString':
    case 'ProcessSubstitution':
      throw new NotProven(`${part.text} is known only when it runs`);
    default:
      return [readQuoted(part, scripts)];
  }
}

function readQuoted(part: DoubleQuotedChild, scripts: ParsedScript[]): Growing {
  switch (part.type) {
    case 'Literal':
      return known(part.value);
    case 'CommandExpansion':
      if (!part.script || part.text.startsWith('${')) throw new NotProven(`${part.text} was not understood`);
      scripts.push(part.script);
      return UNKNOWN;
    case 'ArithmeticExpansion':
      if (!part.expression || !isPlainNumber(part.expression)) throw new NotProven(`${part.text} may run code`);
      return UNKNOWN;
    default:
      if (!PLAIN_PARAMETER.test(part.text)) throw new NotProven(`${part.text} may run code`);
      return UNKNOWN;
  }
}

const UNKNOWN: Growing = {text: '', glob: false, unknown: true};

function known(text: string): Growing {
  return {text, glob: false, unknown: false};
}

/** Names in an expression are evaluated like code of their own; numbers are not. */
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

/** `{a,b}` of plain words. @throws NotProven for other braces. */
function braced(text: string): string[] {
  if (!/^\{[\w./@+-]+(?:,[\w./@+-]+)+\}$/.test(text)) throw new NotProven(`${text}: only plain braces are understood`);
  return text.slice(1, -1).split(',');
}

/** Signs that mean something without quotes, where the parser took them for letters. */
function checkBare(text: string, shown: string): void {
  const bare = text.replace(/\\[\s\S]/g, '');
  const opensBracket = bare.includes('[') && bare !== '[';
  const makesWords = /\{[^}]*(?:,|\.\.)/.test(bare);
  if (opensBracket || makesWords || /[`*?<>|&;()"'\s]|\$(?!$)/.test(bare))
    throw new NotProven(`${shown} was not understood`);
}

/** @throws NotProven for `~name`, `~+` and the like. */
function isHome(firstText: string, whole: string): boolean {
  if (!firstText.startsWith('~')) return false;
  if (whole === '~' || firstText.startsWith('~/')) return true;
  throw new NotProven(`${whole}: whose home that is, is known only when it runs`);
}
