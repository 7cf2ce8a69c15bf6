/**
 * Handles the encodings in which a key may occur. Encodings of whole bytes (base64, base32, hex) become further texts
 * to search for. Escapes of single characters (JSON, addresses, HTML) and line breaks are undone in views of the text,
 * and each view maps its characters back to the original.
 */

import {tryOr} from '../util/errors.ts';

/** A view of a text without some of its escapes or line breaks. */
export interface TextView {
  readonly text: string;
  /** Returns the position in the original text where the text from this position of the view begins. */
  toStart(at: number): number;
  /** Returns the position in the original text where the text before this position of the view ends. */
  toEnd(at: number): number;
  /** Position in the original text from which it may become a key by what follows, where the view does not show it. */
  readonly heldFrom?: number;
}

interface Transformation {
  readonly token: RegExp;
  /** Matches the start of a token at the end of a text. */
  readonly openToken: RegExp;
  /** @param groups what the groups of `token` matched @returns undefined for a text that only looks like a token */
  readonly decode: (token: string, ...groups: readonly (string | undefined)[]) => string | undefined;
}

const ESCAPES: Transformation = {
  token:
    /\\(?:u\{[\da-f]{1,6}\}|u[\da-f]{4}|x[\da-f]{2}|[0-3][0-7]{2}|[bfnrt]|[^\w\s])|(?:%[c-f][\da-f](?:%[89ab][\da-f]){1,3}|%[0-7][\da-f])|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi,
  openToken:
    /(?:\\(?:u\{?[\da-f]{0,6}|x[\da-f]?|[0-3][0-7]?)?|%[\da-f]?|%[c-f][\da-f](?:%[89ab][\da-f])*(?:%[89ab]?)?|&(?:#x?[\da-f]{0,7}|[a-z]{0,8}))$/i,
  decode: (token) => {
    // The bytes of an address may be no valid text.
    if (token.startsWith('%')) return tryOr(() => decodeURIComponent(token), undefined);
    return token.startsWith('&') ? decodeEntity(token.slice(1, -1)) : decodeBackslash(token.slice(1));
  },
};

/** A break includes the backslash that continues a line in a shell, and the indentation of the next line. */
const LINE_BREAKS: Transformation = {
  token: /\\?\r?\n[ \t]*/g,
  openToken: /(?:\\\r?|\r)$/,
  decode: () => '',
};

/** What programs put before each line. */
const LINE_STARTS = [
  // Numbers of lines: `cat -n`, `nl`, `grep -n`, read_file.
  String.raw`[ \t]*\d+(?:\t|\^I|→| {2}|[:-]| ?[|│] ?)`,
  // Marks of diffs and quotes.
  '> ?|[|│] ?|[-+ ]',
  // Paths with numbers of lines and columns, and paths alone.
  ...[String.raw`:\d+:`, String.raw`-\d+-`, ':'].map((end) => String.raw`[\w./~@][^\s:]{0,200}?${end}`),
].join('|');
const LINE_END = String.raw`(?=[\^$\\\r\n])(?:\^M)?\$?\\?\r?`;

/** A break includes what `cat -A` prints at the end of a line, and what programs put before the next line. */
const STARTED_LINES: Transformation = {
  token: new RegExp(String.raw`${LINE_END}\n(?:${LINE_STARTS})?[ \t]*`, 'g'),
  // The first word of a line may become such a start.
  openToken: new RegExp(String.raw`(?:${LINE_END}\n[ \t]*[^\s:]{0,200}(?::\d*){0,2} ?[|│]? ?|[\^$\r\\][M$\r]{0,2})$`),
  decode: () => '',
};

/**
 * A line of `xxd`, `hexdump -C` or `od` is one token, so that its column of characters is replaced too. Elsewhere each
 * byte is one, such as `0x41`, and so is what stands between two bytes, also at the end of a line.
 */
const HEX_DUMPS: Transformation = {
  token: new RegExp(
    [
      String.raw`(?:^|\r?\n)(?:[ \t]*\d+\t)?(?:[\da-f]{4,16}: ([\da-f]+(?: [\da-f]+)*)(?: {2}[^\n]*)?|[\da-f]{6,16} {1,2}([\da-f]{2}(?: {1,2}[\da-f]{2})*) *(?:[|>][^\n]*)?)(?=\r?\n|$)`,
      String.raw`\b(?:0x)?([\da-f]{2})\b`,
      String.raw`(?<=\b(?:0x)?[\da-f]{2})(?:,\s*|[ :]*(?:\r?\n)?[ \t]*)(?=(?:0x)?[\da-f]{2}\b)`,
    ].join('|'),
    'gi',
  ),
  openToken:
    /(?:(?:\r?\n(?:[ \t]*\d+\t|[ \t]*\d*)?|^(?=[\da-f]{4}))(?:[\da-f]{0,16}|[\da-f]{4,16}:? {0,2}[\da-f ]*(?:(?: {2}|[|>])[^\n]*)?)|\b0(?:x[\da-f]?)?)$/i,
  decode: (_, ...hex) => Buffer.from(hex.join('').replaceAll(' ', ''), 'hex').toString('latin1'),
};

/** Matches two bytes that stand side by side. A text without them has no hex dump. */
const TWO_BYTES = /[\da-f]{2}(?:[ :]|,\s*0x|\s)[\da-f]{2}\b|[\da-f]{4}: /i;
/** Matches the end of a text behind a byte, where another byte may follow. */
const BETWEEN_BYTES = /(?<=\b(?:0x)?[\da-f]{2})[\s:,]+(?:0x?)?[\da-f]?$/i;

/** Number of times that a text may be escaped: a JSON text inside a JSON text. */
const MAX_ESCAPES = 2;

/**
 * Returns the text itself, and its views without escapes and without line breaks, as far as they differ from it.
 * @param isOpen whether the text continues later. An incomplete escape or line break at its end is then left out
 */
export function listViews(text: string, isOpen: boolean): TextView[] {
  const plain: TextView = {text, toStart: (at) => at, toEnd: (at) => at};
  const views = [plain];
  const joined = apply(plain, LINE_BREAKS, isOpen);
  if (joined !== plain) views.push(joined);
  views.push(...listLineViews(plain, isOpen));
  let [escaped, inLines, isOneLine] = [joined, plain, joined === plain];
  for (let round = 0; round < MAX_ESCAPES; round += 1) {
    if (!/[\\%&]/.test(escaped.text)) break;
    const unescaped = apply(escaped, ESCAPES, isOpen);
    const decoded = apply(unescaped, LINE_BREAKS, isOpen);
    if (decoded === escaped) break;
    views.push(decoded);
    escaped = decoded;
    inLines = isOneLine ? unescaped : apply(inLines, ESCAPES, isOpen);
    isOneLine &&= decoded === unescaped;
    if (!isOneLine) views.push(inLines, ...listLineViews(inLines, isOpen));
  }
  return views;
}

/** Returns the views without the starts of lines, and with the bytes of hex dumps, as far as they differ. */
function listLineViews(view: TextView, isOpen: boolean): TextView[] {
  const {length} = view.text;
  const mayBeDump = isOpen || TWO_BYTES.test(view.text);
  const heldFrom = isOpen ? findOpenToken(view.text, 0, HEX_DUMPS.openToken) : length;
  const lines = isOpen ? cutAt(view, findOpenToken(view.text, 0, STARTED_LINES.openToken)) : view;
  const bytes = isOpen ? cutAt(view, findOpenToken(view.text.slice(0, heldFrom), 0, BETWEEN_BYTES)) : view;
  return [
    {...apply(lines, STARTED_LINES, false), heldFrom: view.toStart(length)},
    {
      ...(mayBeDump ? apply(apply(bytes, HEX_DUMPS, false), LINE_BREAKS, isOpen) : view),
      heldFrom: view.toStart(heldFrom),
    },
  ].filter((each) => each.text !== view.text);
}

function cutAt(view: TextView, end: number): TextView {
  return end === view.text.length ? view : {...view, text: view.text.slice(0, end)};
}

function apply(source: TextView, {token, openToken, decode}: Transformation, isOpen: boolean): TextView {
  // Starts and ends of the changed parts, in the view and in the source. Between two of them the texts are the same.
  const [starts, ends]: [number[], number[]] = [[], []];
  const [sourceStarts, sourceEnds]: [number[], number[]] = [[], []];
  let [text, at] = ['', 0];
  for (const match of source.text.matchAll(token)) {
    const decoded = decode(match[0], ...match.slice(1));
    if (decoded === undefined) continue;
    text += source.text.slice(at, match.index);
    at = match.index + match[0].length;
    starts.push(text.length);
    text += decoded;
    ends.push(text.length);
    sourceStarts.push(match.index);
    sourceEnds.push(at);
  }
  const end = isOpen ? findOpenToken(source.text, at, openToken) : source.text.length;
  if (starts.length === 0 && end === source.text.length) return source;
  return {
    text: text + source.text.slice(at, end),
    toStart(position) {
      const index = findLast(starts, position);
      if (index < 0) return source.toStart(position);
      const behind = position - ends[index]!;
      return source.toStart(behind < 0 ? sourceStarts[index]! : sourceEnds[index]! + behind);
    },
    toEnd(position) {
      const index = findLast(starts, position - 1);
      if (index < 0) return source.toEnd(position);
      return source.toEnd(sourceEnds[index]! + Math.max(0, position - ends[index]!));
    },
  };
}

/** No token is longer than this. */
const MAX_TOKEN_CHARS = 256;

/**
 * Returns the position of a token that the end of the text cuts off. @param from position after the last complete token
 */
function findOpenToken(text: string, from: number, openToken: RegExp): number {
  const start = Math.max(from, text.length - MAX_TOKEN_CHARS);
  const found = text.slice(start).search(openToken);
  return found < 0 ? text.length : start + found;
}

/** Returns the index of the last number that is not greater than `value`, or -1 if all are greater. */
function findLast(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Names of characters that occur in keys. */
const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  amp: '&',
  apos: "'",
  lt: '<',
  gt: '>',
  excl: '!',
  num: '#',
  dollar: '$',
  percnt: '%',
  lpar: '(',
  rpar: ')',
  ast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  equals: '=',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  hat: '^',
  lowbar: '_',
  grave: '`',
  lcub: '{',
  lbrace: '{',
  verbar: '|',
  vert: '|',
  rcub: '}',
  rbrace: '}',
  newline: '\n',
  tab: '\t',
};

function decodeEntity(name: string): string | undefined {
  const [, hex, decimal] = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name) ?? [];
  if (hex !== undefined) return fromCode(Number.parseInt(hex, 16));
  if (decimal !== undefined) return fromCode(Number(decimal));
  const lower = name.toLowerCase();
  return Object.hasOwn(ENTITIES, lower) ? ENTITIES[lower] : undefined;
}

const LETTERS: Readonly<Record<string, string>> = {b: '\b', f: '\f', n: '\n', r: '\r', t: '\t'};

/** @param code text after the backslash */
function decodeBackslash(code: string): string | undefined {
  if (/^[ux]/i.test(code)) return fromCode(Number.parseInt(code.replace(/[^\da-f]/gi, ''), 16));
  if (/^\d/.test(code)) return fromCode(Number.parseInt(code, 8));
  return LETTERS[code.toLowerCase()] ?? code;
}

function fromCode(code: number): string | undefined {
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** Returns the value, and the texts by which it occurs in base64 (also twice), base32 or hex, at any offset. */
export function getForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const once = listBase64(bytes);
  return [
    ...new Set([
      value,
      value.replaceAll(' ', '+'),
      ...once,
      ...once.flatMap((form) => listBase64(Buffer.from(form))),
      ...[0, 1, 2, 3, 4].flatMap((before) => inBothCases(encode(bytes, before, 5, BASE32))),
      ...['', ' ', ':'].flatMap((between) => inBothCases(listHex(bytes).join(between).toUpperCase())),
    ]),
  ];
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function listBase64(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((before) => encode(bytes, before, 6, BASE64));
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

/**
 * Returns the encoded characters that depend only on these bytes.
 * @param before number of bytes that come first
 * @param bits bits of each character
 */
function encode(bytes: Buffer, before: number, bits: number, alphabet: string): string {
  let [out, buffer, held] = ['', 0, 0];
  // The first bits share a character with the bytes that come first.
  let skip = (bits - ((before * 8) % bits)) % bits;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    held += 8;
    if (skip > 0) {
      held -= skip;
      skip = 0;
    }
    while (held >= bits) {
      held -= bits;
      out += alphabet[(buffer >> held) & ((1 << bits) - 1)];
    }
    buffer &= (1 << held) - 1;
  }
  return out;
}

function listHex(bytes: Buffer): string[] {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
}

function inBothCases(form: string): string[] {
  return [form, form.toLowerCase()];
}

/**
 * Yields texts inside the text that are encoded as base64 and have line breaks: these are lines of base64 that were
 * encoded again.
 */
export function* listDecoded(
  view: TextView,
): Generator<{readonly text: string; readonly start: number; readonly end: number}> {
  for (const {0: run, index} of view.text.matchAll(/[\w+/-]{24,}/g)) {
    for (let from = 0; from < 4; from += 1) {
      const text = Buffer.from(run.slice(from), 'base64').toString('latin1');
      if (/[\r\n]/.test(text)) yield {text, start: view.toStart(index), end: view.toEnd(index + run.length)};
    }
  }
}
