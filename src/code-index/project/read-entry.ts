/** Reads and parses one file, or finds the reason to skip it. */
import {createHash} from 'node:crypto';
import {type BigIntStats, closeSync, fstatSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {openPlaceSync} from '../../core/util/files/open-place.ts';
import type {Language} from '../contract.ts';
import {getLanguage} from '../languages/index.ts';
import type {FileFacts} from '../syntax/file-facts.ts';

/** Larger files are skipped. Bytes. */
const MAX_BYTES = 1024 * 1024;
/** A file that changed less than this before it was read may change again with the same time. Milliseconds. */
const UNSURE_MS = 50;

export interface IndexedEntry {
  readonly path: string;
  readonly language: Language;
  /** Size, times and inode of the file. When empty, the content is read again in any case. */
  stamp: string;
  readonly hash: string;
  readonly bytes: number;
  /** Absent when the file is skipped; `why` is the reason. */
  readonly facts?: FileFacts;
  readonly why?: string;
}

/** Parses a text. Returns undefined when parsing took too long. */
export type Parse = (text: string, language: Language) => Promise<FileFacts | undefined>;

/**
 * Result of reading a file. `same`: the content has the known hash and only the stamp may differ. `gone`: no such file.
 */
export type ReadEntry = IndexedEntry | {readonly same: true; readonly stamp: string} | 'gone';

/** @param hash hash of the content that is already parsed */
export async function readEntry(
  root: string,
  file: string,
  hash: string | undefined,
  parse: Parse,
): Promise<ReadEntry> {
  const language = getLanguage(file)!;
  const skip = (why: string, stamp = '', own = ''): IndexedEntry => ({
    path: file,
    language,
    stamp,
    hash: own,
    bytes: 0,
    why,
  });
  let fd: number | undefined;
  try {
    fd = openPlaceSync(path.join(root, file));
    const stat = fstatSync(fd, {bigint: true});
    if (!stat.isFile()) return 'gone';
    const stamp = Date.now() - Number(stat.mtimeMs) < UNSURE_MS ? '' : formatStamp(stat);
    if (stat.size > MAX_BYTES) return skip('larger than 1 MB', stamp);
    const content = readFileSync(fd);
    const own = createHash('sha1').update(content).digest('base64url');
    if (own === hash) return {same: true, stamp};
    const why = findReasonToSkip(content);
    if (why !== undefined) return skip(why, stamp, own);
    const text = content.toString('utf8');
    const facts = await parse(text, getExactLanguage(file, language, text));
    if (facts === undefined) return skip('the parser takes too long on it', stamp, own);
    return {path: file, language: facts.language, stamp, hash: own, bytes: content.length, facts};
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return 'gone';
    if (code === 'EACCES' || code === 'EPERM') return skip('cannot be read: permission denied');
    return skip(`cannot be read: ${message}`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function formatStamp({size, mtimeNs, ctimeNs, ino}: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino}`;
}

/** Headers of C++ may end in `.h`, too. Their content decides between C and C++. */
function getExactLanguage(file: string, language: Language, text: string): Language {
  if (!file.endsWith('.h')) return language;
  return /^\s*(?:class|namespace|template\s*<|using)\b|\b(?:public|private|protected):/m.test(text) ? 'cpp' : 'c';
}

function findReasonToSkip(content: Buffer): string | undefined {
  if (content.includes(0)) return 'binary';
  const head = content.toString('latin1', 0, 1500);
  const isGenerated =
    /(?:^|[\s*/#])@generated\b|\bcode generated\b.*\bdo not edit\b|\b(?:auto-?generated|automatically generated)\b.*\b(?:do not|don't)\b/i;
  if (isGenerated.test(head)) return 'generated';
  let lines = 1;
  let longest = 0;
  for (let at = 0; at < content.length; ) {
    const next = content.indexOf(10, at);
    const end = next < 0 ? content.length : next;
    longest = Math.max(longest, end - at);
    lines += 1;
    at = end + 1;
  }
  const isMinified = longest > 20_000 || (content.length > 5_000 && longest > 1_000 && content.length / lines > 250);
  return isMinified ? 'minified' : undefined;
}
