/**
 * Decodes a file's bytes to text and back. Encoding, byte order mark and line ends are kept, so that the bytes that an
 * edit does not touch stay the same.
 */
import {MiniCcError} from '../../core/util/errors.ts';

export type TextEncodingName = 'utf8' | 'utf16le' | 'utf16be' | 'latin1';

export interface TextFile {
  /** Without the byte order mark; line ends as they are. */
  readonly text: string;
  readonly encoding: TextEncodingName;
  readonly hasByteOrderMark: boolean;
}

const BYTE_ORDER_MARKS: readonly {readonly encoding: TextEncodingName; readonly bytes: readonly number[]}[] = [
  {encoding: 'utf8', bytes: [0xef, 0xbb, 0xbf]},
  {encoding: 'utf16le', bytes: [0xff, 0xfe]},
  {encoding: 'utf16be', bytes: [0xfe, 0xff]},
];

/** A NUL among the first bytes means that the file is not text. */
const PROBE_BYTES = 8192;

/** True when the bytes are not text in one of the known encodings. The first 8 KB are enough to tell. */
export function isBinary(bytes: Buffer): boolean {
  if (findByteOrderMark(bytes)?.encoding.startsWith('utf16')) return false;
  return bytes.subarray(0, PROBE_BYTES).includes(0);
}

/** Bytes that are not valid UTF-8 are read as Latin-1, which encodes to the same bytes again. */
export function decodeText(bytes: Buffer): TextFile {
  const mark = findByteOrderMark(bytes);
  const body = bytes.subarray(mark?.bytes.length ?? 0);
  const hasByteOrderMark = mark !== undefined;
  switch (mark?.encoding) {
    case 'utf16le':
      return {text: body.toString('utf16le'), encoding: 'utf16le', hasByteOrderMark};
    case 'utf16be':
      return {text: swapBytes(body).toString('utf16le'), encoding: 'utf16be', hasByteOrderMark};
    default: {
      const text = body.toString('utf8');
      const isUtf8 = !text.includes('\ufffd') || Buffer.from(text).equals(body);
      return isUtf8
        ? {text, encoding: 'utf8', hasByteOrderMark}
        : {text: body.toString('latin1'), encoding: 'latin1', hasByteOrderMark};
    }
  }
}

/** @throws MiniCcError `ENCODING` when the file's encoding lacks a character of the text. */
export function encodeText({text, encoding, hasByteOrderMark}: TextFile): Buffer {
  const mark = Buffer.from(
    hasByteOrderMark ? (BYTE_ORDER_MARKS.find((known) => known.encoding === encoding)?.bytes ?? []) : [],
  );
  return Buffer.concat([mark, encodeBody(text, encoding)]);
}

function encodeBody(text: string, encoding: TextEncodingName): Buffer {
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

function findByteOrderMark(bytes: Buffer): (typeof BYTE_ORDER_MARKS)[number] | undefined {
  return BYTE_ORDER_MARKS.find((mark) => mark.bytes.every((byte, index) => bytes[index] === byte));
}

/** UTF-16 in the other byte order. A single byte at the end is dropped: it is not a character. */
function swapBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16();
}
