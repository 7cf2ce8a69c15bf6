/**
 * Reads and writes files of lines, mostly JSON. A line is appended whole or not at all. The first and last line, and the
 * last one that begins with some text, can be found without reading the rest.
 */
import {closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync} from 'node:fs';
import {tryOr} from '../core/util/errors.ts';
import {openPrivateFile} from '../core/util/files/private-file.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;
/** Bytes. No request to a server may be half as large, so a longer line is damage, which readers skip. */
const MAX_LINE = 64 * 1024 * 1024;

/**
 * Opens a file for `appendLine`. Only the user can read it. An empty file, which a crash or a full disk can leave, gets
 * `header()` as its first line. A last line that a crash cut off is ended, so that the next line does not continue it.
 * @returns the descriptor
 * @throws Error of the file system
 */
export function openForAppending(file: string, header: () => string): number {
  const fd = openPrivateFile(file, 'a+');
  try {
    const {size} = fstatSync(fd);
    if (size === 0) appendLine(fd, header());
    else if (readBytes(fd, size - 1, 1)[0] !== NEWLINE) writeSync(fd, '\n');
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Appends a line. The system may write a long line in several parts, and on a full disk only the first ones. These
 * parts are removed then, because the next line would continue them, and both lines would be lost.
 * @param fd opened for appending
 * @throws Error of the file system
 */
export function appendLine(fd: number, line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch (error) {
    if (written > 0) ftruncateSync(fd, fstatSync(fd).size - written);
    throw error;
  }
}

/** Returns the JSON value of a line; undefined for a blank line, and for one that a crash cut off. */
export function parseLine(line: string): unknown {
  return tryOr(() => JSON.parse(line) as unknown, undefined);
}

/** Reads only the ends of the file, since a session may have a thousand runs. The last line may be cut off. */
export function readFirstAndLastLine(file: string): {first: string; last: string} {
  return withOpenFile(file, (fd, size) => ({first: findFirstLine(fd, size), last: findLastLine(fd, size)}));
}

export function readFirstLine(file: string): string {
  return withOpenFile(file, findFirstLine);
}

/** Bytes of one read where a whole file is read. */
const BLOCK = 1024 * 1024;

/** Where a line is in its file, in bytes. */
export interface LinePlace {
  readonly at: number;
  readonly length: number;
}

/** A part of a file, in bytes. */
export interface Part {
  /** Where a line begins. */
  readonly from: number;
  /** Where a later line begins. Default: the end of the file. */
  readonly end?: number;
}

/** Number of first bytes of a line by which the caller decides whether to read it. */
const START_BYTES = 256;

/**
 * Yields all lines one by one, without their ends, because a file may be larger than memory. Text after the last end is
 * a line too. A line that is longer than `MAX_LINE` is empty.
 * @param leave gets the first bytes of a line, in Latin-1. What it returns is yielded in place of the line, which is
 * not read then
 * @param part default: the whole file
 */
export function* readLines<T = never>(
  file: string,
  leave?: (start: string, place: LinePlace) => T | undefined,
  {from, end: partEnd = Number.POSITIVE_INFINITY}: Part = {from: 0},
): Generator<string | T> {
  const fd = openRegularFile(file);
  try {
    const bytes = Buffer.allocUnsafe(BLOCK);
    const line = new PartialLine();
    for (let at = from; ; ) {
      const block = bytes.subarray(0, readSync(fd, bytes, 0, Math.min(BLOCK, partEnd - at), at));
      if (block.length === 0) break;
      let start = 0;
      for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
        const left =
          leave && line.isEmpty
            ? leave(block.toString('latin1', start, Math.min(end, start + START_BYTES)), {
                at: at + start,
                length: end - start,
              })
            : undefined;
        yield left ?? line.end(block.subarray(start, end));
        start = end + 1;
      }
      at += block.length;
      if (start < block.length) line.add(block.subarray(start));
    }
    yield line.end(Buffer.alloc(0));
  } finally {
    closeSync(fd);
  }
}

/** Collects a line that is longer than a block. */
class PartialLine {
  #parts: Buffer[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    // The bytes are copied, because the next block overwrites them.
    if (this.#length <= MAX_LINE) this.#parts.push(Buffer.from(part));
    else this.#parts = [];
  }

  end(last: Buffer): string {
    if (this.#length === 0) return last.toString('utf8');
    const text = this.#length > MAX_LINE ? '' : Buffer.concat([...this.#parts, last]).toString('utf8');
    this.#parts = [];
    this.#length = 0;
    return text;
  }
}

export function readLineAt(file: string, {at, length}: LinePlace): string {
  return withOpenFile(file, (fd) => readBytes(fd, at, length).toString('utf8'));
}

/** Returns the lines in the last `bytes` bytes of the file. The first one may be cut off. */
export function readLastLines(file: string, bytes: number): string[] {
  const text = withOpenFile(file, (fd, size) => readBytes(fd, Math.max(0, size - bytes), Math.min(size, bytes)));
  return text.toString('utf8').split('\n');
}

/**
 * Finds the last line, except the first one of the file, that begins with a text. It reads backwards from the end.
 * @param before where the search begins, in bytes. Default: the end of the file
 * @returns where the line begins, in bytes
 */
export function findLastLineWith(
  file: string,
  beginning: string,
  before = Number.POSITIVE_INFINITY,
): number | undefined {
  const wanted = Buffer.from(`\n${beginning}`);
  return withOpenFile(file, (fd, size) => {
    const bytes = Buffer.allocUnsafe(BLOCK + wanted.length);
    const last = Math.min(size, before);
    for (let end = last; end > 0; end -= BLOCK) {
      const start = Math.max(0, end - BLOCK);
      // The searched text may lie across two blocks.
      const length = Math.min(end + wanted.length - 1, last) - start;
      const found = bytes.subarray(0, readSync(fd, bytes, 0, length, start)).lastIndexOf(wanted);
      if (found >= 0) return start + found + 1;
    }
    return undefined;
  });
}

/** @throws Error also for a pipe or a device, since reading these may never end */
function openRegularFile(file: string): number {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw Object.assign(new Error(`${file} is not a regular file`), {code: 'EINVAL', syscall: 'read'});
}

function withOpenFile<T>(file: string, read: (fd: number, size: number) => T): T {
  const fd = openRegularFile(file);
  try {
    return read(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

function findFirstLine(fd: number, size: number): string {
  for (let length = CHUNK; ; length *= 4) {
    if (length > MAX_LINE) return '';
    const text = readBytes(fd, 0, Math.min(length, size));
    const end = text.indexOf(NEWLINE);
    if (end >= 0 || length >= size) return text.subarray(0, end < 0 ? undefined : end).toString('utf8');
  }
}

function findLastLine(fd: number, size: number): string {
  for (let length = CHUNK; ; length *= 4) {
    if (length > MAX_LINE) return '';
    const text = readBytes(fd, Math.max(0, size - length), Math.min(length, size));
    const end = text.at(-1) === NEWLINE ? text.length - 1 : text.length;
    const start = text.subarray(0, end).lastIndexOf(NEWLINE);
    if (start >= 0 || length >= size) return text.subarray(start + 1, end).toString('utf8');
  }
}

function readBytes(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, from));
}
