/**
 * Replaces strings in a file that is too large for memory. It reads the file in parts, and describes the new content as
 * pieces of the old file with new bytes between them.
 */
import type {FileHandle} from 'node:fs/promises';
import {readAll} from '../../core/util/files/whole-file.ts';
import {formatPatch} from './patch.ts';
import {
  countLineEnds,
  describeProblem,
  fitReplacement,
  fold,
  MAX_LINES_NAMED,
  offsetsIn,
  type TextEdit,
} from './text-edits.ts';
import {decodeUtf16, detectEncoding, encodeBody, getLineEnd, readStart, type TextEncodingName} from './text-file.ts';

/** A range of bytes of the old file, or new bytes. */
type Piece = {readonly from: number; readonly to: number} | Buffer;

type LargeEdited =
  | {
      readonly content: (old: FileHandle) => AsyncGenerator<Uint8Array>;
      readonly replacements: number;
      /** Diff of the first places. */
      readonly patch: string;
    }
  /** Says for the model why nothing was changed and what to do. */
  | {readonly problem: string};

const MAX_REPLACEMENTS = 100_000;
/** Bytes at the start from which the encoding is detected, as in `read_file`. */
const PROBE_BYTES = 4 * 1024 * 1024;
/** Number of places of an edit that are in the diff. `CONTEXT_UNITS` units around each are shown. */
const MAX_HUNKS = 10;
const CONTEXT_UNITS = 400;

/** @param size size of the file in bytes @throws the signal's reason when aborted; Error of the file system */
export async function editLarge(
  handle: FileHandle,
  size: number,
  edits: readonly TextEdit[],
  signal: AbortSignal,
): Promise<LargeEdited> {
  const units = createUnits(detectEncoding(await readStart(handle, PROBE_BYTES)));
  let pieces: Piece[] = [{from: 0, to: size}];
  let replacements = 0;
  const patches: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const wanted = units.fromText(fold(edit.old_string));
    const inserted = units.fromText(edit.new_string);
    const found = await findAll(pieces, handle, units, wanted, signal);
    const problem = describeProblem(edit, found.count, found.lines) ?? describeExcess(found);
    if (problem !== undefined) {
      return {problem: `${edits.length > 1 ? `edits[${index}]: ` : ''}${problem} Nothing was changed.`};
    }
    const changes = found.matches.map((match) => ({
      ...match,
      inserted: fitReplacement(match.passage, wanted, inserted, found.lineEnd),
    }));
    for (const change of changes.slice(0, MAX_HUNKS)) patches.push(await formatChange(change, pieces, handle, units));
    if (changes.length > MAX_HUNKS) patches.push(`(${changes.length - MAX_HUNKS} more places)`);
    pieces = splice(pieces, changes, units);
    replacements += changes.length;
  }
  const content = (old: FileHandle) => readPieces(pieces, old, signal);
  return {content, replacements, patch: patches.join('\n')};
}

function describeExcess({count, matches}: Found): string | undefined {
  if (count === 0) return 'old_string was not found: copy it as read_file shows it, without the line numbers.';
  return count > matches.length
    ? `old_string is there ${count} times: at most ${MAX_REPLACEMENTS} are replaced.`
    : undefined;
}

/**
 * Converts between text and units, which all have one size in the file, so that offsets in units give offsets in the
 * file.
 */
interface Units {
  readonly bytes: 1 | 2;
  read(bytes: Buffer): string;
  write(units: string): Buffer;
  fromText(text: string): string;
  toText(units: string): string;
}

/** UTF-16 text is its own units. In every other encoding each byte is a unit, as one character. */
function createUnits(encoding: TextEncodingName): Units {
  if (encoding === 'utf16le' || encoding === 'utf16be') {
    const same = (text: string) => text;
    const read = (bytes: Buffer) => decodeUtf16(bytes, encoding);
    return {bytes: 2, read, write: (units) => encodeBody(units, encoding), fromText: same, toText: same};
  }
  return {
    bytes: 1,
    read: (bytes) => bytes.toString('latin1'),
    write: (units) => Buffer.from(units, 'latin1'),
    fromText: (text) => encodeBody(text, encoding).toString('latin1'),
    toText: (units) => Buffer.from(units, 'latin1').toString(encoding),
  };
}

interface Match {
  /** Offset in units from the start of the content. `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly passage: string;
  /** Line number, from 1. */
  readonly line: number;
}

interface Found {
  readonly count: number;
  /** At most `MAX_REPLACEMENTS` matches. */
  readonly matches: readonly Match[];
  readonly lines: readonly number[];
  readonly lineEnd: '\n' | '\r\n' | undefined;
}

/** Finds all matches, which do not overlap. @param wanted has `\n` as line ends, and `\n` also matches `\r\n` */
async function findAll(
  pieces: readonly Piece[],
  handle: FileHandle,
  units: Units,
  wanted: string,
  signal: AbortSignal,
): Promise<Found> {
  const matches: Match[] = [];
  let lineEnd: Found['lineEnd'];
  let [count, base, line, carry] = [0, 0, 1, ''];
  for await (const {text, isLast} of readWindows(pieces, handle, units)) {
    signal.throwIfAborted();
    lineEnd ??= getLineEnd(text);
    const window = carry + text;
    // The `\n` after a `\r` at the end may come with the next part.
    const whole = !isLast && window.endsWith('\r') ? window.slice(0, -1) : window;
    const plain = fold(whole);
    const toOffset = offsetsIn(whole);
    let [keep, counted] = [0, 0];
    for (let at = plain.indexOf(wanted); at !== -1 && wanted !== ''; at = plain.indexOf(wanted, at + wanted.length)) {
      const start = toOffset(at);
      const end = toOffset(at + wanted.length);
      line += countLineEnds(whole, counted, start);
      counted = start;
      count += 1;
      if (matches.length < MAX_REPLACEMENTS)
        matches.push({start: base + start, end: base + end, passage: whole.slice(start, end), line});
      keep = end;
    }
    // Search the end again with the next part, because a match may begin there. It is too short for a whole match.
    keep = Math.max(keep, toOffset(Math.max(0, plain.length - Math.max(0, wanted.length - 1))));
    line += countLineEnds(whole, counted, keep);
    carry = window.slice(keep);
    base += keep;
  }
  return {count, matches, lines: matches.slice(0, MAX_LINES_NAMED).map((match) => match.line), lineEnd};
}

async function* readWindows(
  pieces: readonly Piece[],
  handle: FileHandle,
  units: Units,
): AsyncGenerator<{text: string; isLast: boolean}> {
  let odd = Buffer.alloc(0);
  for await (const chunk of readPieces(pieces, handle)) {
    const bytes =
      odd.length > 0 ? Buffer.concat([odd, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const even = bytes.length - (bytes.length % units.bytes);
    odd = Buffer.from(bytes.subarray(even));
    yield {text: units.read(bytes.subarray(0, even)), isLast: false};
  }
  yield {text: '', isLast: true};
}

async function* readPieces(pieces: readonly Piece[], old: FileHandle, signal?: AbortSignal): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece;
    else yield* readAll(old, {...piece, signal});
  }
}

type Change = Match & {readonly inserted: string};

function splice(pieces: readonly Piece[], changes: readonly Change[], units: Units): Piece[] {
  const next: Piece[] = [];
  let at = 0;
  for (const {start, end, inserted} of changes) {
    next.push(...cut(pieces, at, start * units.bytes), units.write(inserted));
    at = end * units.bytes;
  }
  next.push(...cut(pieces, at, Number.POSITIVE_INFINITY));
  return next;
}

/** Returns the part of the content from one offset to another, in bytes. */
function cut(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const parts: Piece[] = [];
  let at = 0;
  for (const piece of pieces) {
    const length = Buffer.isBuffer(piece) ? piece.length : piece.to - piece.from;
    const [first, last] = [Math.max(0, from - at), Math.min(length, to - at)];
    if (first < last) {
      parts.push(
        Buffer.isBuffer(piece) ? piece.subarray(first, last) : {from: piece.from + first, to: piece.from + last},
      );
    }
    at += length;
    if (at >= to) break;
  }
  return parts;
}

async function readBytes(pieces: readonly Piece[], handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readPieces(cut(pieces, from, to), handle)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function formatChange(
  change: Change,
  pieces: readonly Piece[],
  handle: FileHandle,
  units: Units,
): Promise<string> {
  const {start, end, passage, inserted, line} = change;
  const read = async (from: number, to: number) =>
    units.read(await readBytes(pieces, handle, Math.max(0, from) * units.bytes, to * units.bytes));
  const ahead = await read(start - CONTEXT_UNITS, start);
  const behind = await read(end, end + CONTEXT_UNITS);
  // Show whole lines where they are not too long.
  const before = start > CONTEXT_UNITS ? ahead.slice(ahead.indexOf('\n') + 1) : ahead;
  const lastEnd = behind.lastIndexOf('\n');
  const after = lastEnd === -1 ? behind : behind.slice(0, lastEnd + 1);
  const show = (middle: string) => units.toText(before + middle + after);
  return formatPatch(show(passage), show(inserted), line - countLineEnds(before, 0, before.length));
}
