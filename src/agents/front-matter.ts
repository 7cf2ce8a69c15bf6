/** The YAML between two `---` at the head of a markdown file: by the rules of YAML, else line by line. */
import {isMap, isScalar, LineCounter, type Pair, parseDocument, Scalar} from 'yaml';
import {messageOf} from '../core/util/errors.ts';
import {type Place, type ProblemList, quote} from '../core/util/problem.ts';

export interface FrontMatter {
  readonly values: ReadonlyMap<string, unknown>;
  /** Of the keys. */
  readonly places: ReadonlyMap<string, Place>;
  /** What follows the front matter. */
  readonly body: string;
}

export type Split =
  | {readonly type: 'none'}
  | {readonly type: 'open'}
  | {
      readonly type: 'found';
      readonly yaml: string;
      readonly firstLine: number;
      readonly body: string;
      readonly bodyLine: number;
    };

/** @param text without byte order mark. Blank lines may stand before the first `---`. */
export function splitFrontMatter(text: string): Split {
  const lines = text.split(/\r\n|\n|\r/);
  const start = lines.findIndex((line) => line.trim() !== '');
  if (start < 0 || !isFence(lines[start]!)) return {type: 'none'};
  const end = lines.findIndex((line, index) => index > start && isFence(line));
  if (end < 0) return {type: 'open'};
  const below = lines.slice(end + 1);
  return {
    type: 'found',
    yaml: lines.slice(start + 1, end).join('\n'),
    firstLine: start + 2,
    body: below.join('\n').trim(),
    bodyLine:
      end +
      2 +
      Math.max(
        0,
        below.findIndex((line) => line.trim() !== ''),
      ),
  };
}

function isFence(line: string): boolean {
  return /^---\s*$/.test(line);
}

/** @param known keys that may start a value when the text is no YAML */
export function readFrontMatter(
  split: Extract<Split, {type: 'found'}>,
  known: readonly string[],
  problems: ProblemList,
): FrontMatter {
  const strict = readStrictly(split, problems);
  if ('values' in strict) return strict;
  const place = {line: strict.place.line, column: strict.place.column};
  problems.warn('yaml', place, `the front matter is no valid YAML (${strict.why}): it is read line by line`);
  return readTolerantly(split, known);
}

type Failure = {readonly why: string; readonly place: Place};

function readStrictly(
  {yaml, firstLine, body}: Extract<Split, {type: 'found'}>,
  problems: ProblemList,
): FrontMatter | Failure {
  const lineCounter = new LineCounter();
  const placeOf = (offset: number): Place => {
    const {line, col} = lineCounter.linePos(offset);
    return {line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1)};
  };
  try {
    const document = parseDocument(yaml, {lineCounter, uniqueKeys: false, logLevel: 'silent'});
    const [error] = document.errors;
    if (error) return {why: error.message.split('\n')[0]!.replace(/ at line \d+.*$/, ''), place: placeOf(error.pos[0])};
    const {contents} = document;
    if (contents === null) return {values: new Map(), places: new Map(), body};
    if (!isMap(contents)) return {why: 'it holds no keys', place: placeOf(contents.range?.[0] ?? 0)};
    const values = new Map<string, unknown>();
    const places = new Map<string, Place>();
    for (const {key, value} of contents.items as Pair[]) {
      if (!isScalar(key)) return {why: 'a key is no text', place: {line: firstLine, column: 1}};
      const name = String(key.value);
      const place = placeOf(key.range?.[0] ?? 0);
      if (values.has(name)) problems.warn('double-key', place, `${quote(name)} stands twice: the last one counts`);
      if (isCutByComment(value)) {
        problems.warn('yaml', place, `${quote(name)}: what follows " #" is a comment in YAML and is not read`);
      }
      values.set(name, isNode(value) ? value.toJS(document) : value);
      places.set(name, place);
    }
    return {values, places, body};
  } catch (error) {
    // The library throws for aliases that lead nowhere or grow without end, and for nesting past its stack.
    return {why: messageOf(error).split('\n')[0]!, place: {line: firstLine, column: 1}};
  }
}

interface NodeLike {
  toJS(document: unknown): unknown;
}

function isNode(value: unknown): value is NodeLike {
  return typeof value === 'object' && value !== null && 'toJS' in value;
}

/** `description: Knows C #1`: whoever wrote that hardly meant a comment. Short values such as a model may have one. */
function isCutByComment(value: unknown): boolean {
  return isScalar(value) && value.type === Scalar.PLAIN && Boolean(value.comment) && String(value.value).includes(' ');
}

/**
 * Takes what stands between two known keys as the value of the first: text with colons, tags and blank lines, as people
 * write it. Inside of text a line such as `user: "…"` starts no key; after a short value an unknown key is a key.
 */
function readTolerantly(
  {yaml, firstLine, body}: Extract<Split, {type: 'found'}>,
  known: readonly string[],
): FrontMatter {
  const lines = new Map<string, string[]>();
  const places = new Map<string, Place>();
  let current: string | undefined;
  for (const [index, line] of yaml.split('\n').entries()) {
    const [, indent = '', key, rest = ''] = /^(\s*)([A-Za-z_$][\w-]*)\s*:(?:\s+(.*)|\s*)$/.exec(line) ?? [];
    const starts =
      key !== undefined && indent.length <= 1 && (known.includes(key) || !(current && LONG_TEXT.has(current)));
    if (starts && !lines.has(key)) {
      current = key;
      lines.set(key, [rest]);
      places.set(key, {line: firstLine + index, column: indent.length + 1});
    } else if (current !== undefined) lines.get(current)!.push(line);
  }
  return {values: new Map([...lines].map(([key, value]) => [key, joined(value)])), places, body};
}

const LONG_TEXT = new Set(['description', 'prompt']);

function joined([first = '', ...more]: readonly string[]): unknown {
  const items = more.filter((line) => line.trim() !== '');
  if (first.trim() === '' && items.length > 0 && items.every((line) => /^\s*-\s/.test(line))) {
    return items.map((line) => unquote(line.replace(/^\s*-\s+/, '').trim()));
  }
  // A block scalar's sign says how its lines are joined, and is no part of them.
  const head = /^[|>][-+]?\d*\s*$/.test(first) ? [] : [first];
  return unquote([...head, ...more.map((line) => line.trim())].join('\n').trim());
}

function unquote(text: string): string {
  const [, , inner] = /^(["'])([\s\S]*)\1$/.exec(text) ?? [];
  return inner ?? text;
}
