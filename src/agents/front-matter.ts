/** Reads front matter: the YAML between two `---` at the start of a markdown file. Invalid YAML is read line by line. */
import {isMap, isScalar, LineCounter, type Pair, parse, parseDocument} from 'yaml';
import {getErrorMessage} from '../core/util/errors.ts';
import {type Position, type ProblemList, quote, START} from '../core/util/problem.ts';

export interface FrontMatter {
  readonly values: ReadonlyMap<string, unknown>;
  /** Position of each key in the file. */
  readonly positions: ReadonlyMap<string, Position>;
  /** Text after the front matter. */
  readonly body: string;
  readonly bodyLine: number;
}

/** Characters in which the front matter must end. Longer YAML takes seconds, and a project may bring many files. */
const MAX_HEAD = 32 * 1024;

/**
 * Reads the front matter of a text. Blank lines may come before the first `---`.
 * @param text text without byte order mark
 * @param known keys that start a value when the text is not valid YAML
 * @returns undefined when there is no front matter, or when it does not end, which is an error
 */
export function readFrontMatter(
  text: string,
  known: readonly string[],
  problems: ProblemList,
): FrontMatter | undefined {
  const lines = text.split(/\r\n|\n|\r/);
  const start = lines.findIndex((line) => line.trim() !== '');
  if (start < 0 || !isFence(lines[start]!)) return undefined;
  const head = text.slice(0, MAX_HEAD).split(/\r\n|\n|\r/);
  const end = head.findIndex((line, index) => index > start && isFence(line));
  if (end < 0) {
    problems.error('syntax', START, 'the front matter that begins here has no closing line of ---');
    return undefined;
  }
  const below = lines.slice(end + 1);
  const firstText = below.findIndex((line) => line.trim() !== '');
  const yaml = lines.slice(start + 1, end).join('\n');
  const keys = readKeys(yaml, start + 2, known, problems);
  return {...keys, body: below.join('\n').trim(), bodyLine: end + 2 + Math.max(0, firstText)};
}

function isFence(line: string): boolean {
  return /^---\s*$/.test(line);
}

type Keys = Pick<FrontMatter, 'values' | 'positions'>;

function readKeys(yaml: string, firstLine: number, known: readonly string[], problems: ProblemList): Keys {
  const strict = readStrictly(yaml, firstLine, problems);
  if ('values' in strict) return strict;
  problems.warn('yaml', strict.position, `the front matter is not valid YAML (${strict.why}): it is read line by line`);
  return readTolerantly(yaml, firstLine, known);
}

type YamlError = {readonly why: string; readonly position: Position};

function readStrictly(yaml: string, firstLine: number, problems: ProblemList): Keys | YamlError {
  const lineCounter = new LineCounter();
  const getPosition = (offset: number): Position => {
    const {line, col} = lineCounter.linePos(offset);
    return {line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1)};
  };
  try {
    const document = parseDocument(yaml, {lineCounter, uniqueKeys: false, logLevel: 'silent'});
    const [error] = document.errors;
    if (error)
      return {why: error.message.split('\n')[0]!.replace(/ at line \d+.*$/, ''), position: getPosition(error.pos[0])};
    const {contents} = document;
    if (contents === null) return {values: new Map(), positions: new Map()};
    if (!isMap(contents)) return {why: 'it has no keys', position: getPosition(contents.range?.[0] ?? 0)};
    const values = new Map<string, unknown>();
    const positions = new Map<string, Position>();
    for (const {key, value} of contents.items as Pair[]) {
      if (!isScalar(key)) return {why: 'a key is not text', position: {line: firstLine, column: 1}};
      const name = String(key.value);
      const position = getPosition(key.range?.[0] ?? 0);
      if (values.has(name)) problems.warn('double-key', position, `${quote(name)} appears twice: the last one is used`);
      values.set(name, isNode(value) ? value.toJS(document) : value);
      positions.set(name, position);
    }
    return {values, positions};
  } catch (error) {
    // The library throws for aliases without a target, for aliases that expand without end, and for too deep nesting.
    return {why: getErrorMessage(error).split('\n')[0]!, position: {line: firstLine, column: 1}};
  }
}

function isNode(value: unknown): value is {toJS(document: unknown): unknown} {
  return typeof value === 'object' && value !== null && 'toJS' in value;
}

/**
 * Takes the text between two known keys as the value of the first one, because people write colons, tags and blank
 * lines there. In a long text, a line such as `user: "…"` starts no key. After a short value, an unknown key ends the
 * value.
 */
function readTolerantly(yaml: string, firstLine: number, known: readonly string[]): Keys {
  const lines = new Map<string, string[]>();
  const positions = new Map<string, Position>();
  let current: string | undefined;
  for (const [index, line] of yaml.split('\n').entries()) {
    const [, indent = '', key, rest = ''] = /^(\s*)([A-Za-z_$][\w-]*)\s*:(?:\s+(.*)|\s*)$/.exec(line) ?? [];
    const starts =
      key !== undefined && indent.length <= 1 && (known.includes(key) || !(current && LONG_TEXT.has(current)));
    if (starts && !lines.has(key)) {
      current = key;
      lines.set(key, [rest]);
      positions.set(key, {line: firstLine + index, column: indent.length + 1});
    } else if (current !== undefined) lines.get(current)!.push(line);
  }
  return {values: new Map([...lines].map(([key, value]) => [key, joinLines(value)])), positions};
}

const LONG_TEXT = new Set(['description', 'prompt']);

function joinLines([first = '', ...more]: readonly string[]): unknown {
  const items = more.filter((line) => line.trim() !== '');
  if (first.trim() === '' && items.length > 0 && items.every((line) => /^\s*-\s/.test(line))) {
    return items.map((line) => unquote(line.replace(/^\s*-\s+/, '').trim()));
  }
  // `true` and `5` keep their types, as in valid YAML.
  if (items.length === 0 && /^(?:true|false|\d+(?:\.\d+)?)$/i.test(first.trim())) return parse(first.trim());
  // `|` or `>` says how the lines of a block are joined. It is not part of the text.
  const head = /^[|>][-+]?\d*\s*$/.test(first) ? [] : [first];
  return unquote([...head, ...more.map((line) => line.trim())].join('\n').trim());
}

function unquote(text: string): string {
  const [, , inner] = /^(["'])([\s\S]*)\1$/.exec(text) ?? [];
  return inner ?? text;
}
