/** Decides which of the files with matches are binary. These are named, and their lines are not shown. */
import {closeSync, constants, openSync, readSync} from 'node:fs';
import {setImmediate} from 'node:timers/promises';
import {findByteOrderMark} from '../files/text-file.ts';

const PROBE_BYTES = 16 * 1024;
/** Highest share of control characters in a text. A log may have a few NUL bytes. */
const MAX_CONTROL_SHARE = 0.01;
/** Limit of examined files. Further ones count as text. */
const MAX_FILES = 5000;
const MAX_NAMED = 5;

/** @param toAbsolute resolves the paths as they are in the result */
export async function findBinaryFiles(
  files: readonly string[],
  toAbsolute: (file: string) => string,
): Promise<ReadonlySet<string>> {
  const binary = new Set<string>();
  const buffer = Buffer.alloc(PROBE_BYTES);
  for (const [index, file] of files.slice(0, MAX_FILES).entries()) {
    // Read synchronously, which is much faster for many small reads, and pause regularly for other work.
    if (index % 100 === 99) await setImmediate();
    if (hasManyControls(readStart(toAbsolute(file), buffer))) binary.add(file);
  }
  return binary;
}

function readStart(file: string, buffer: Buffer): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0));
  } catch {
    // The file was removed or is not readable.
    return buffer.subarray(0, 0);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function hasManyControls(bytes: Buffer): boolean {
  if (!bytes.includes(0) || findByteOrderMark(bytes)?.encoding.startsWith('utf16')) return false;
  let controls = 0;
  for (const byte of bytes) if (byte < 0x20 && !'\t\n\r\f\b\x1b'.includes(String.fromCharCode(byte))) controls += 1;
  return controls > Math.max(1, bytes.length * MAX_CONTROL_SHARE);
}

/** Returns one line that names the binary files that match, or none. */
export function formatBinaryFiles(binary: ReadonlySet<string>): string[] {
  if (binary.size === 0) return [];
  const names = [...binary].sort();
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
  const what = names.length === 1 ? 'a binary file matches' : `${names.length} binary files match`;
  return [`(${what}, not shown: ${names.slice(0, MAX_NAMED).join(', ')}${more})`];
}
