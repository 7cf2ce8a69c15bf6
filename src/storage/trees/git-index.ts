/**
 * Git's index file, read and written without git: which content each file has, and what the file looked like (size, times,
 * inode) when git last compared them. See Documentation/gitformat-index of git.
 */
import {createHash} from 'node:crypto';

export interface IndexEntry {
  /** As git writes it: from the top of the work tree. */
  readonly name: Buffer;
  /** Times, device, inode, mode, owner and size: 40 bytes as in the file. */
  readonly stat: Buffer;
  /** The id of the content in hexadecimal digits. */
  readonly id: string;
  readonly stage: number;
  /** Git is told not to look at the file, or the file is to be added later. */
  readonly isFlagged: boolean;
}

const HEADER = 12;
const STAT = 40;
const ID = 20;
const [EXTENDED, ASSUME_VALID] = [0x4000, 0x8000];
/** Where a stat has its numbers, each of 32 bits. */
const [MTIME_AT, MODE_AT, SIZE_AT] = [8, 24, 36];

/** @returns undefined for a format that is not known here: SHA-256, a split or a sparse index, a damaged file */
export function parseIndex(bytes: Buffer): IndexEntry[] | undefined {
  if (bytes.length < HEADER + ID || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const entries: IndexEntry[] = [];
  let at = HEADER;
  let before: Buffer = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    if (at + STAT + ID + 2 > bytes.length - ID) return undefined;
    const flags = bytes.readUInt16BE(at + STAT + ID);
    const isExtended = (flags & EXTENDED) !== 0;
    const nameAt = at + STAT + ID + (isExtended ? 4 : 2);
    const {name, end} = readName(bytes, nameAt, version, before, at);
    if (end > bytes.length - ID) return undefined;
    entries.push({
      name,
      stat: bytes.subarray(at, at + STAT),
      id: bytes.toString('hex', at + STAT, at + STAT + ID),
      stage: (flags >> 12) & 3,
      isFlagged: isExtended || (flags & ASSUME_VALID) !== 0,
    });
    before = name;
    at = end;
  }
  return hasOnlyHints(bytes, at) ? entries : undefined;
}

function readName(bytes: Buffer, at: number, version: number, before: Buffer, start: number) {
  let [from, kept] = [at, Buffer.alloc(0)];
  if (version === 4) {
    // How many bytes of the name before are dropped: seven bits a byte, each further byte counts from one.
    let dropped = 0;
    for (let more = true; more; from += 1) {
      const byte = bytes[from] ?? 0;
      dropped = (from === at ? 0 : (dropped + 1) << 7) + (byte & 0x7f);
      more = (byte & 0x80) !== 0;
    }
    kept = Buffer.from(before.subarray(0, Math.max(0, before.length - dropped)));
  }
  const nul = bytes.indexOf(0, from);
  const stop = nul < 0 ? bytes.length : nul;
  const name = version === 4 ? Buffer.concat([kept, bytes.subarray(from, stop)]) : bytes.subarray(from, stop);
  // Up to version 3, one to eight bytes of zero fill the entry up.
  return {name, end: version === 4 ? stop + 1 : start + ((stop - start + 8) & ~7)};
}

/** Extensions whose names begin with a capital letter may be left out. */
function hasOnlyHints(bytes: Buffer, start: number): boolean {
  for (let at = start; at + 8 <= bytes.length - ID; at += 8 + bytes.readUInt32BE(at + 4)) {
    const [first = 0] = bytes.subarray(at, at + 1);
    if (first < 0x41 || first > 0x5a) return false;
  }
  return true;
}

/** An index of version 2 with these entries, which are sorted as git sorts them, all of stage 0 and without flags. */
export function formatIndex(entries: readonly Pick<IndexEntry, 'name' | 'stat' | 'id'>[]): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write('DIRC', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(entries.length, 8);
  const parts = entries.map(({name, stat, id}) => {
    const length = STAT + ID + 2 + name.length;
    const entry = Buffer.alloc((length + 8) & ~7);
    stat.copy(entry);
    entry.write(id, STAT, 'hex');
    entry.writeUInt16BE(Math.min(name.length, 0xfff), STAT + ID);
    name.copy(entry, STAT + ID + 2);
    return entry;
  });
  const body = Buffer.concat([header, ...parts]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** As git writes it, e.g. `100644`. */
export function getMode({stat}: Pick<IndexEntry, 'stat'>): string {
  return stat.readUInt32BE(MODE_AT).toString(8);
}

/** Bytes of the file when git compared it last. */
export function getSize({stat}: Pick<IndexEntry, 'stat'>): number {
  return stat.readUInt32BE(SIZE_AT);
}

/** Whole seconds since the epoch. */
export function getModifiedAt({stat}: Pick<IndexEntry, 'stat'>): number {
  return stat.readUInt32BE(MTIME_AT);
}

/** The same without what the file looked like: git then compares its content. */
export function forgetStat(entry: IndexEntry): IndexEntry {
  const stat = Buffer.alloc(STAT);
  entry.stat.copy(stat, MODE_AT, MODE_AT, MODE_AT + 4);
  return {...entry, stat};
}
