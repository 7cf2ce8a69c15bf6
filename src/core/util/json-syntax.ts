/** Parses JSON with comments and trailing commas into a tree with positions; reports syntax errors in plain English. */
import {applyEdits, modify, type Node, type ParseError, parseTree, printParseErrorCode} from 'jsonc-parser';
import {type ProblemList, positionAt, quote, START} from './problem.ts';

/**
 * Parses a text that must contain one object. For any other text it adds a problem and returns undefined. Never throws.
 * @param maxMarks brackets, colons and commas outside of texts, which decide how long it takes
 */
export function parseRoot(text: string, problems: ProblemList, maxMarks = MAX_MARKS): Node | undefined {
  if (text.trim() === '') {
    problems.error('syntax', START, 'is empty');
    return undefined;
  }
  if (hasMoreMarks(text, maxMarks)) {
    problems.error('too-large', START, `has more than ${maxMarks.toLocaleString('en-US')} brackets, colons and commas`);
    return undefined;
  }
  const errors: ParseError[] = [];
  const root = parseSafely(text, errors, problems);
  if (problems.failed) return undefined;
  const [first] = errors;
  // Further errors are mostly consequences of the first one.
  if (first) problems.error('syntax', positionAt(text, first.offset), describeSyntaxError(first, text));
  else if (root?.type !== 'object')
    problems.error('syntax', positionAt(text, root?.offset ?? 0), 'must contain one object: { … }');
  else return root;
  return undefined;
}

/** No settings file or definition has so many. The tree of 4 MB of numbers would take seconds and 700 MB. */
const MAX_MARKS = 50_000;

function hasMoreMarks(text: string, max: number): boolean {
  let marks = 0;
  for (const [token] of text.matchAll(/"[^"\\\n]*(?:\\.[^"\\\n]*)*"|[[\]{},:]/g)) {
    if (token.length === 1) marks += 1;
    if (marks > max) return true;
  }
  return false;
}

/**
 * Returns the text with another value of a key. For a text that is no object it adds a problem and returns undefined.
 * @param path keys that lead to the value
 * @param value undefined to remove the key
 */
export function setProperty(
  text: string,
  path: readonly string[],
  value: unknown,
  problems: ProblemList,
): string | undefined {
  if (!parseRoot(text, problems)) return undefined;
  const edits = modify(text, [...path], value, {formattingOptions: {insertSpaces: true, tabSize: 2, eol: '\n'}});
  return applyEdits(text, edits);
}

/** The parser is recursive, so a text with a million brackets overflows its stack. */
function parseSafely(text: string, errors: ParseError[], problems: ProblemList): Node | undefined {
  try {
    return parseTree(text, errors, {allowTrailingComma: true});
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    problems.error('syntax', START, 'is nested too deeply');
    return undefined;
  }
}

/** Returns the keys and values of an object, in the order of the text. */
export function getProperties(node: Node): (readonly [key: Node, value: Node | undefined])[] {
  return (node.children ?? []).flatMap(({children}) => (children?.[0] ? [[children[0], children[1]] as const] : []));
}

function describeSyntaxError({error, offset, length}: ParseError, text: string): string {
  const found = text.slice(offset, offset + length).split(/[\r\n]/)[0] ?? '';
  // A JSON string already has its own quotes.
  const here = found === '' ? '' : ` before ${quote(found.replace(/^"(.*)"$/s, '$1'))}`;
  const texts: Readonly<Record<string, string>> = {
    InvalidSymbol: `${quote(found)} is not JSON: text needs double quotes`,
    InvalidNumberFormat: 'this is not a number',
    PropertyNameExpected: `a key in double quotes is expected${here}`,
    ValueExpected: `a value is missing${here}`,
    ColonExpected: `a colon is missing${here}`,
    CommaExpected: `a comma is missing${here}`,
    CloseBraceExpected: `a closing } is missing${here}`,
    CloseBracketExpected: `a closing ] is missing${here}`,
    EndOfFileExpected: `the object ends before this, but ${quote(found)} follows`,
    UnexpectedEndOfComment: 'this comment does not end',
    UnexpectedEndOfString: 'this text has no closing double quote on its line',
    UnexpectedEndOfNumber: 'this number is incomplete',
    InvalidUnicode: String.raw`\u must be followed by four hexadecimal digits`,
    InvalidEscapeCharacter: String.raw`unknown escape: a backslash in text is written \\`,
    InvalidCharacter: String.raw`a control character must be escaped: a new line in text is \n, a tab \t`,
  };
  return texts[printParseErrorCode(error)] ?? 'this is not JSON';
}
