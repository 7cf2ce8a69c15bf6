/** Appends to files of lines: a line is there whole or not at all. */
import {fstatSync, ftruncateSync, writeSync} from 'node:fs';

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
