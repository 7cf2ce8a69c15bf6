/** Files of lines: a line is appended whole or not at all; the first and the last line are read without those between. */
import {closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync} from 'node:fs';

const CHUNK = 64 * 1024;

/** The last line may be a torn one. */
export function firstAndLastLine(file: string): {first: string; last: string} {
  return opened(file, (fd, size) => ({first: firstLine(fd, size), last: lastLine(fd, size)}));
}

export function firstLineOf(file: string): string {
  return opened(file, firstLine);
}

function opened<T>(file: string, read: (fd: number, size: number) => T): T {
  const fd = openSync(file, 'r');
  try {
    return read(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

function firstLine(fd: number, size: number): string {
  for (let length = CHUNK; ; length *= 4) {
    const text = bytesOf(fd, 0, Math.min(length, size));
    const end = text.indexOf(0x0a);
    if (end >= 0 || length >= size) return text.subarray(0, end < 0 ? undefined : end).toString('utf8');
  }
}

function lastLine(fd: number, size: number): string {
  for (let length = CHUNK; ; length *= 4) {
    const text = bytesOf(fd, Math.max(0, size - length), Math.min(length, size));
    const end = text.at(-1) === 0x0a ? text.length - 1 : text.length;
    const start = text.subarray(0, end).lastIndexOf(0x0a);
    if (start >= 0 || length >= size) return text.subarray(start + 1, end).toString('utf8');
  }
}

function bytesOf(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(fd, buffer, filled, length - filled, from + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/**
 * The system may take a long line in parts. On a full disk it takes a part and then no more: that part goes, or the
 * next line would grow onto it and both would be lost.
 * @param fd opened for appending. @throws the file system's error
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
