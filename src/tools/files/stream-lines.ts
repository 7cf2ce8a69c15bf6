/** Lines of a file that is too large for memory, and may hold lines that are, too. */
import {createReadStream} from 'node:fs';
import {StringDecoder} from 'node:string_decoder';
import type {NumberedLines} from './numbered-lines.ts';

/** Kept of a line; more than is ever shown of one. */
const MAX_KEPT_CHARS = 4000;

/**
 * Adds the lines of a UTF-8 file until no more are wanted.
 * @returns true when the end of the file was reached.
 * @throws the file system's error, or the signal's reason when aborted.
 */
export async function addLinesOf(path: string, lines: NumberedLines, signal: AbortSignal): Promise<boolean> {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let length = 0;
  let isFirst = true;
  const take = (part: string): void => {
    length += part.length;
    if (line.length < MAX_KEPT_CHARS) line += part.slice(0, MAX_KEPT_CHARS - line.length);
  };
  const finish = (): void => {
    const isCrlf = length <= MAX_KEPT_CHARS && line.endsWith('\r');
    if (isCrlf) lines.add(line.slice(0, -1));
    else lines.add(line, length);
    line = '';
    length = 0;
  };
  for await (const chunk of createReadStream(path, {signal, highWaterMark: 256 * 1024})) {
    let text = decoder.write(chunk as Buffer);
    if (isFirst) text = text.replace(/^\ufeff/, '');
    isFirst = false;
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      take(text.slice(from, end));
      finish();
      from = end + 1;
      if (lines.isFull) return false;
    }
    take(text.slice(from));
  }
  if (length > 0) finish();
  return true;
}
