/**
 * Decodes a file's bytes to text and back. It keeps encoding, byte order mark and line ends, so that the bytes that an
 * edit does not touch stay the same.
 */
import type {FileHandle} from 'node:fs/promises';
import {StringDecoder} from 'node:string_decoder';
import {MiniCcError} from '../../core/util/errors.ts';

export type TextEncodingName = 'utf8' | 'utf16le' | 'utf16be' | 'latin1';

interface TextFile {
  /** Text without the byte order mark, with its own line ends. */
  readonly text: string;
  readonly encoding: TextEncodingName;
  /** Byte order mark; empty when there is none. */
  readonly mark: Buffer;
  /** A single byte at the end of UTF-16, which is no character. It is written back unchanged. */
  readonly rest: Buffer;
}

const BYTE_ORDER_MARKS: readonly {readonly encoding: TextEncodingName; readonly bytes: readonly number[]}[] = [
  {encoding: 'utf8', bytes: [0xef, 0xbb, 0xbf]},
  {encoding: 'utf16le', bytes: [0xff, 0xfe]},
  {encoding: 'utf16be', bytes: [0xfe, 0xff]},
];

/** Number of first bytes in which a NUL means that the file is not text. */
const PROBE_BYTES = 8192;

/** Returns the first bytes of a file. */
export async function readStart(handle: FileHandle, bytes = PROBE_BYTES): Promise<Buffer> {
  const {buffer, bytesRead} = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** True when the bytes are not text in one of the known encodings. The first 8 KB decide. */
export function isBinary(bytes: Buffer): boolean {
  if (findByteOrderMark(bytes)?.encoding.startsWith('utf16')) return false;
  return bytes.subarray(0, PROBE_BYTES).includes(0);
}

/** Decodes the bytes. A file that is not valid UTF-8 is read as Latin-1, which encodes to the same bytes again. */
export function decodeText(bytes: Buffer): TextFile {
  const known = findByteOrderMark(bytes);
  const mark = bytes.subarray(0, known?.bytes.length ?? 0);
  const body = bytes.subarray(mark.length);
  if (known !== undefined && known.encoding !== 'utf8') {
    const even = body.length - (body.length % 2);
    const text = decodeUtf16(body.subarray(0, even), known.encoding);
    return {text, encoding: known.encoding, mark, rest: body.subarray(even)};
  }
  const text = body.toString('utf8');
  const isUtf8 = !text.includes('\ufffd') || Buffer.from(text).equals(body);
  return isUtf8
    ? {text, encoding: 'utf8', mark, rest: Buffer.alloc(0)}
    : {text: body.toString('latin1'), encoding: 'latin1', mark, rest: Buffer.alloc(0)};
}

/** @throws MiniCcError `ENCODING` when the file's encoding lacks a character of the text */
export function encodeText({text, encoding, mark, rest}: TextFile): Buffer {
  return Buffer.concat([mark, encodeBody(text, encoding), rest]);
}

/**
 * Encodes a text that replaces a file, in the file's encoding, and with `\r\n` where most lines of the file have it and
 * the text has none.
 * @param old the file, or its beginning; undefined for a new one, and for one that is not text
 * @returns the bytes and their text; `kept` tells a person how the text was adapted to the file
 * @throws MiniCcError `ENCODING` when the file's encoding lacks a character of the text
 */
export function encodeAs(old: TextFile | undefined, text: string): {bytes: Buffer; text: string; kept: string[]} {
  if (old === undefined) return {bytes: Buffer.from(text), text, kept: []};
  const isCrlf = getLineEnd(old.text) === '\r\n' && !text.includes('\r\n') && text.includes('\n');
  const body = isCrlf ? text.replaceAll('\n', '\r\n') : text;
  const bare = old.mark.length > 0 ? body.replace(/^\ufeff/, '') : body;
  const kept = [...(isCrlf ? ['CRLF'] : []), ...getEncodingName(old)];
  return {bytes: encodeText({...old, text: bare, rest: Buffer.alloc(0)}), text: bare, kept};
}

function getEncodingName({encoding, mark}: TextFile): string[] {
  if (encoding === 'utf8') return mark.length > 0 ? ['the byte order mark'] : [];
  return [{utf16le: 'UTF-16', utf16be: 'UTF-16', latin1: 'Latin-1'}[encoding]];
}

/** Returns the line end of most lines; undefined when the text has one line. */
export function getLineEnd(text: string): '\n' | '\r\n' | undefined {
  let [crlf, lf] = [0, 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf += 1;
    else lf += 1;
  }
  if (crlf + lf === 0) return undefined;
  return crlf > lf ? '\r\n' : '\n';
}

export function detectEncoding(start: Buffer): TextEncodingName {
  const marked = findByteOrderMark(start)?.encoding;
  if (marked !== undefined) return marked;
  try {
    // Decode as a stream, because the last character may be cut.
    new TextDecoder('utf-8', {fatal: true}).decode(start, {stream: true});
    return 'utf8';
  } catch {
    return 'latin1';
  }
}

/** Decodes a large file in parts and without its byte order mark. Bytes that are not valid become U+FFFD. */
export async function* decodeChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let encoding: TextEncodingName | undefined;
  let decoder = new StringDecoder('utf8');
  let odd = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const isFirst = encoding === undefined;
    encoding ??= detectEncoding(chunk);
    if (isFirst) decoder = new StringDecoder(encoding === 'utf16be' ? 'utf16le' : encoding);
    let bytes = chunk;
    if (encoding === 'utf16be') {
      const joined = Buffer.concat([odd, chunk]);
      odd = joined.subarray(joined.length - (joined.length % 2));
      bytes = swapBytes(joined);
    }
    const text = decoder.write(bytes);
    yield isFirst ? text.replace(/^\ufeff/, '') : text;
  }
}

export function encodeBody(text: string, encoding: TextEncodingName): Buffer {
  switch (encoding) {
    case 'utf8':
      return Buffer.from(text, 'utf8');
    case 'utf16le':
      return Buffer.from(text, 'utf16le');
    case 'utf16be':
      return swapBytes(Buffer.from(text, 'utf16le'));
    case 'latin1': {
      const foreign = [...text].find((character) => (character.codePointAt(0) ?? 0) > 0xff);
      if (foreign === undefined) return Buffer.from(text, 'latin1');
      throw new MiniCcError('ENCODING', `The file is not UTF-8, so it was read as Latin-1, which has no "${foreign}".`);
    }
  }
}

/** @param bytes an even number of bytes */
export function decodeUtf16(bytes: Buffer, encoding: TextEncodingName): string {
  return (encoding === 'utf16be' ? swapBytes(bytes) : bytes).toString('utf16le');
}

function findByteOrderMark(bytes: Buffer): (typeof BYTE_ORDER_MARKS)[number] | undefined {
  return BYTE_ORDER_MARKS.find((mark) => mark.bytes.every((byte, index) => bytes[index] === byte));
}

/** Swaps the byte order of UTF-16. A single byte at the end is left out. */
function swapBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16();
}
