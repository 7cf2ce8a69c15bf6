/**
 * Formats an answer that grows. Its finished blocks are printed. The block that still grows is live, and is formatted
 * again as it grows. The first rows of a long block are printed as soon as nothing can change them. Only the last block
 * is parsed again.
 */
import type {MarkedToken, Token, Tokens} from 'marked';
import type {Formatter} from './format.ts';
import {cutLine, type Line, type LinePlace, layoutLine, layoutLines, linesFrom, START} from './lines.ts';
import {screenText} from './screen-text.ts';

export interface AnswerStream {
  /**
   * Text that is safe for the screen. It begins with the block that still grows, or with a stand-in for its beginning.
   */
  readonly source: string;
  /** The last characters, which may be incomplete without the next text. */
  readonly pending: string;
  /** The place in the block's lines up to which they are printed. */
  readonly printed: LinePlace;
  /** True when the next piece continues the last printed one, without a blank line between them. */
  readonly continued: boolean;
  /** The lines of `source` that are not printed. */
  readonly live: readonly Line[];
  /** The length of `source` when `live` was made. */
  readonly formatted: number;
}

export const EMPTY_STREAM: AnswerStream = {
  source: '',
  pending: '',
  printed: START,
  continued: false,
  live: [],
  formatted: 0,
};

/** The space for the live part. */
export interface LiveRoom {
  readonly columns: number;
  /** Maximal number of rows of the answer that are live. */
  readonly rows: number;
}

/** Characters. A longer source is shortened. */
const MAX_SOURCE = 1500;
/** Characters. A longer source is formatted again only when it has grown by an eighth. */
const MAX_EAGER = 6000;
/** Number of rows of a block that stay live when its first rows are printed. */
const KEPT_ROWS = 4;

export function addAnswer(stream: AnswerStream, text: string): AnswerStream {
  const whole = stream.pending + text;
  // A carriage return may belong to the next newline. Half a character and a joiner need the characters after them.
  const half = /[\r\ud800-\udbff\p{Default_Ignorable_Code_Point}]*$/u.exec(whole)![0].length;
  const source = stream.source + whole.slice(0, whole.length - half);
  return {...stream, source: screenText(source), pending: whole.slice(whole.length - half)};
}

export function isEmpty({source, pending}: AnswerStream): boolean {
  return source === '' && pending === '';
}

/** Returns the rest of an answer that has ended. */
export function restOf({source, pending}: AnswerStream): string {
  return screenText(source + pending);
}

/** The parts of an answer that can be printed. */
interface Advance {
  readonly stream: AnswerStream;
  /** Finished blocks, each with its lines. `continued` is true when the beginning of the block was printed before. */
  readonly blocks: readonly {readonly lines: readonly Line[]; readonly continued: boolean}[];
  /** The first rows of the block that still grows. */
  readonly part: readonly Line[];
  /** True when `part` continues the last printed piece. */
  readonly continued: boolean;
}

/** Formats the answer so far, and takes the parts that can be printed. */
export function advanceAnswer(before: AnswerStream, formatter: Formatter, room: LiveRoom): Advance {
  const growth = before.source.length - before.formatted;
  const isDue = growth > 0 && (before.source.length < MAX_EAGER || growth > before.source.length / 8);
  if (!isDue) return {stream: before, blocks: [], part: [], continued: before.continued};
  const {stream, blocks} = takeBlocks(before, formatter);
  const {continued, source} = stream;
  const open = formatter.formatOpen(source);
  const {tokens} = open;
  let live: readonly Line[] = linesFrom(open.lines, stream.printed);
  if (layoutLines(live, room.columns).length > room.rows) live = linesFrom(open.findStable(), stream.printed);
  const taken = takeRows(live, room);
  const printed = movePlace(stream.printed, taken);
  const shown = {...stream, printed, live: taken.rest, formatted: source.length};
  if (taken.part.length === 0) return {stream: shown, blocks, part: [], continued};
  const short = source.length > MAX_SOURCE ? shorten(shown, tokens[0] as MarkedToken | undefined, formatter) : shown;
  return {stream: {...short, continued: true}, blocks, part: taken.part, continued};
}

/** Takes the blocks that no further text can change: those before the last one, considering only complete lines. */
function takeBlocks(before: AnswerStream, formatter: Formatter) {
  const whole = before.source.slice(0, before.source.lastIndexOf('\n') + 1);
  // Usually only the last line has grown.
  if (whole.length <= before.formatted) return {stream: before, blocks: []};
  const finished = finishedTokens(formatter.lex(whole));
  if (finished.length === 0) return {stream: before, blocks: []};
  const blocks: {lines: Line[]; continued: boolean}[] = [];
  let {printed, continued} = before;
  for (const token of finished) {
    if (token.type === 'space') continue;
    const lines = linesFrom(formatter.format([token]), printed);
    if (lines.length > 0) blocks.push({lines, continued});
    [printed, continued] = [START, false];
  }
  const taken = finished.reduce((sum, {raw}) => sum + raw.length, 0);
  const source = before.source.slice(taken).replace(/^(?:[ \t]*\n)+/, '');
  return {stream: {...before, source, printed, continued, live: [], formatted: 0}, blocks};
}

function finishedTokens(tokens: readonly Token[]): readonly Token[] {
  const index = tokens.findLastIndex((token) => token.type !== 'space');
  const last = tokens[index] as MarkedToken | undefined;
  if (!last) return tokens;
  return isFinished(last, index < tokens.length - 1) ? tokens : tokens.slice(0, index);
}

/** Tells whether no further text can belong to the block. @param isApart true when a blank line follows the block */
function isFinished(token: MarkedToken, isApart: boolean): boolean {
  switch (token.type) {
    case 'hr':
    case 'heading':
      return true;
    case 'list':
      return false;
    case 'code':
      return token.codeBlockStyle !== 'indented' && isClosedFence(token.raw);
    default:
      return isApart;
  }
}

function isClosedFence(raw: string): boolean {
  const marker = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  const lines = raw.trimEnd().split('\n');
  const last = lines.at(-1)!.trim();
  return marker !== undefined && lines.length > 1 && last.startsWith(marker) && last === last[0]!.repeat(last.length);
}

interface Taken {
  readonly part: Line[];
  readonly rest: readonly Line[];
  /** How much of the lines was taken: whole lines, and characters of the next one. */
  readonly lines: number;
  readonly offset: number;
}

/** Takes the first rows of the live lines when there are too many, as far as they are stable. */
function takeRows(live: readonly Line[], {columns, rows}: LiveRoom): Taken {
  const laid = live.map((line) => layoutLine(line, columns));
  let excess = laid.reduce((sum, {length}) => sum + length, 0) - rows;
  if (excess <= 0) return {part: [], rest: live, lines: 0, offset: 0};
  excess += Math.max(0, rows - Math.min(KEPT_ROWS, rows));
  const part: Line[] = [];
  for (const [index, line] of live.entries()) {
    const own = laid[index]!;
    if (own.length <= excess && line.stable === undefined) {
      part.push(line);
      excess -= own.length;
      continue;
    }
    // A line is cut inside only when it alone is too long.
    const limit = line.stable ?? Number.POSITIVE_INFINITY;
    const offset =
      line.table || part.length > 0
        ? 0
        : (own.slice(0, Math.min(excess, own.length - 1)).findLast(({next}) => next <= limit)?.next ?? 0);
    if (offset === 0) return {part, rest: live.slice(index), lines: index, offset: 0};
    part.push(withoutStable(cutLine(line, 0, offset)));
    return {part, rest: [cutLine(line, offset), ...live.slice(index + 1)], lines: index, offset};
  }
  return {part, rest: [], lines: live.length, offset: 0};
}

function withoutStable({stable: _, ...line}: Line): Line {
  return line;
}

function movePlace(place: LinePlace, {lines, offset}: Taken): LinePlace {
  if (lines === 0) return {line: place.line, offset: place.offset + offset};
  return {line: place.line + lines, offset};
}

/**
 * Replaces the printed part of code or a list by a stand-in, so that a long block is not parsed again and again. A
 * table and a paragraph are parsed fast enough.
 */
function shorten(stream: AnswerStream, token: MarkedToken | undefined, formatter: Formatter): AnswerStream {
  const short = token && shortenBlock(stream, token, formatter);
  return short ? {...stream, ...short, formatted: short.source.length} : stream;
}

type Shortened = Pick<AnswerStream, 'source' | 'printed'> | undefined;

function shortenBlock(stream: AnswerStream, token: MarkedToken, formatter: Formatter): Shortened {
  if (token.type === 'list') return shortenList(stream, token, formatter);
  const isFence = token.type === 'code' && token.codeBlockStyle !== 'indented';
  return isFence ? shortenFence(stream, token, formatter) : undefined;
}

/** Keeps the opening line, and the lines from a place on at which the colours do not depend on the lines before. */
function shortenFence({source, printed}: AnswerStream, token: Tokens.Code, {endsOutside}: Formatter): Shortened {
  const [open, ...lines] = source.split('\n');
  const language = /^\S*/.exec(token.lang ?? '')![0].toLowerCase();
  for (let count = printed.line; count > 0; count = Math.floor(count / 2)) {
    if (!endsOutside(lines.slice(0, count).join('\n'), language)) continue;
    return {
      source: [open, ...lines.slice(count)].join('\n'),
      printed: {line: printed.line - count, offset: printed.offset},
    };
  }
  return undefined;
}

/** Replaces the last printed item by `x` with the same number, so that the numbers continue. */
function shortenList({source, printed}: AnswerStream, list: Tokens.List, {format}: Formatter): Shortened {
  const countLines = (items: number) => format([{...list, items: list.items.slice(0, items)}]).length;
  let items = list.items.length - 1;
  while (items > 1 && countLines(items) > printed.line) items -= 1;
  if (items < 2) return undefined;
  const gone = list.items.slice(0, items);
  const raw = gone.map((item) => item.raw).join('');
  if (!source.startsWith(raw)) return undefined;
  const [, indent = '', bullet = '', delimiter = ''] = /^( *)(?:([-*+])|\d{1,9}([.)]))/.exec(gone[0]!.raw) ?? [];
  const mark = list.ordered ? `${Number(list.start) + items - 1}${delimiter}` : bullet;
  const blank = /\n[ \t]*\n\s*$/.test(raw) ? '\n' : '';
  return {
    source: `${indent}${mark} x\n${blank}${source.slice(raw.length)}`,
    printed: {line: printed.line - countLines(items) + 1, offset: printed.offset},
  };
}
