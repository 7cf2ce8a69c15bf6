/** The files of the index as they are now: changed ones are read and parsed again, by time and size, then by content. */
import {createHash} from 'node:crypto';
import {closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync} from 'node:fs';
import path from 'node:path';
import type {Language, SkippedFile} from '../contract.ts';
import {getLanguage, getUnparsedExtension} from '../languages/index.ts';
import type {FileFacts} from '../syntax/file-facts.ts';

/** Larger files are skipped. Bytes. */
const MAX_BYTES = 1024 * 1024;
/** Further files are skipped. */
const MAX_FILES = 30_000;
/** So many bytes of files are parsed; what is larger in sum is skipped, so that memory stays bounded. */
const MAX_TOTAL_BYTES = 400 * 1024 * 1024;
/** A file that changed so shortly before it was read may change again without a new time. Milliseconds. */
const UNSURE_MS = 50;

export interface IndexedEntry {
  readonly path: string;
  readonly language: Language;
  /** Size, times and number of the file. Empty: look at the content in any case. */
  stamp: string;
  readonly hash: string;
  readonly bytes: number;
  /** Absent: the file is skipped, because of `why`. */
  readonly facts?: FileFacts;
  readonly why?: string;
}

/** Parses a text; undefined where it took too long. */
export type Parse = (text: string, language: Language, path: string) => Promise<FileFacts | undefined>;

export class ProjectFiles {
  readonly root: string;
  readonly entries = new Map<string, IndexedEntry>();
  /** By extension. */
  unparsed: Readonly<Record<string, number>> = {};
  /** All that were listed, also those of no language: manifests are found by it. */
  paths: ReadonlySet<string> = new Set();
  /** Grows with every change. */
  changes = 0;
  #tooMany: readonly string[] = [];
  readonly #parse: Parse;
  readonly #realFolders = new Map<string, boolean>();

  constructor(root: string, parse: Parse) {
    this.root = root;
    this.#parse = parse;
  }

  get skipped(): SkippedFile[] {
    const skipped = [...this.entries.values()].flatMap(({path, why}) => (why === undefined ? [] : [{path, why}]));
    const more = this.#tooMany.map((path) => ({path, why: `one of more than ${MAX_FILES} files`}));
    return [...skipped, ...more];
  }

  /** @param listed all files, relative to the root */
  async refresh(listed: readonly string[], isStopped: () => boolean): Promise<void> {
    this.#realFolders.clear();
    const unparsed = new Map<string, number>();
    const wanted: string[] = [];
    for (const file of listed) {
      const extension = getUnparsedExtension(file);
      if (extension) unparsed.set(extension, (unparsed.get(extension) ?? 0) + 1);
      else if (getLanguage(file)) wanted.push(file);
    }
    if (!isSameSet(this.paths, listed)) this.changes += 1;
    this.paths = new Set(listed);
    this.unparsed = Object.fromEntries([...unparsed].sort(([, a], [, b]) => b - a));
    wanted.sort();
    this.#tooMany = wanted.slice(MAX_FILES);
    const kept = new Set(wanted.slice(0, MAX_FILES));
    for (const file of this.entries.keys()) {
      if (kept.has(file)) continue;
      this.entries.delete(file);
      this.changes += 1;
    }
    let total = 0;
    for (const file of kept) {
      if (isStopped()) return;
      const entry = await this.#update(file, total);
      total += entry?.facts ? entry.bytes : 0;
    }
  }

  /** The entry of one file, also of one that is not listed. Undefined when it is gone or no file of a language. */
  async update(file: string): Promise<IndexedEntry | undefined> {
    return getLanguage(file) ? this.#update(file, 0) : undefined;
  }

  /** @throws the file system's error */
  readText(file: string): string {
    const fd = openSync(path.join(this.root, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  }

  async #update(file: string, total: number): Promise<IndexedEntry | undefined> {
    const before = this.entries.get(file);
    const stamp = this.#getStamp(file);
    if (stamp === undefined) {
      if (this.entries.delete(file)) this.changes += 1;
      return undefined;
    }
    if (before && before.stamp !== '' && before.stamp === stamp) return before;
    const now = await this.#read(file, getLanguage(file)!, before, total);
    if (now === undefined) this.entries.delete(file);
    else this.entries.set(file, now);
    if (now !== before) this.changes += 1;
    return now;
  }

  async #read(
    file: string,
    language: Language,
    before: IndexedEntry | undefined,
    total: number,
  ): Promise<IndexedEntry | undefined> {
    const skip = (why: string, stamp = '', hash = ''): IndexedEntry => ({
      path: file,
      language,
      stamp,
      hash,
      bytes: 0,
      why,
    });
    let fd: number | undefined;
    try {
      if (!this.#isReallyHere(file)) return undefined;
      fd = openSync(path.join(this.root, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const stat = fstatSync(fd, {bigint: true});
      if (!stat.isFile()) return undefined;
      const isUnsure = Date.now() - Number(stat.mtimeMs) < UNSURE_MS;
      const stamp = isUnsure ? '' : formatStamp(stat);
      if (stat.size > MAX_BYTES) return skip('larger than 1 MB', stamp);
      if (total + Number(stat.size) > MAX_TOTAL_BYTES) return skip('the files together are larger than 400 MB', stamp);
      const content = readFileSync(fd);
      const hash = createHash('sha1').update(content).digest('base64url');
      if (before?.hash === hash) {
        before.stamp = stamp;
        return before;
      }
      const why = findReasonToSkip(content);
      if (why !== undefined) return skip(why, stamp, hash);
      const text = content.toString('utf8');
      const facts = await this.#parse(text, getExactLanguage(file, language, text), file);
      if (facts === undefined) return skip('the parser takes too long on it', stamp, hash);
      return {path: file, language: facts.language, stamp, hash, bytes: content.length, facts};
    } catch (error) {
      const {code, message} = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
      if (code === 'EACCES' || code === 'EPERM') return skip('cannot be read: permission denied');
      return skip(`cannot be read: ${message}`);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  #getStamp(file: string): string | undefined {
    try {
      const stat = lstatSync(path.join(this.root, file), {bigint: true, throwIfNoEntry: false});
      return stat?.isFile() ? formatStamp(stat) : undefined;
    } catch {
      // Below something that is no folder any more, or may not be looked at: reading it says which.
      return '';
    }
  }

  /** A folder that was replaced by a link since the files were listed is not followed. */
  #isReallyHere(file: string): boolean {
    const folder = path.join(this.root, path.dirname(file));
    let known = this.#realFolders.get(folder);
    if (known === undefined) {
      known = realpathSync(folder) === folder;
      this.#realFolders.set(folder, known);
    }
    return known;
  }
}

function formatStamp({
  size,
  mtimeNs,
  ctimeNs,
  ino,
}: {
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
  ino: bigint;
}): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino}`;
}

function isSameSet(set: ReadonlySet<string>, list: readonly string[]): boolean {
  return set.size === list.length && list.every((each) => set.has(each));
}

/** Headers of C++ end in `.h`, too. */
function getExactLanguage(file: string, language: Language, text: string): Language {
  if (!file.endsWith('.h')) return language;
  return /^\s*(?:class|namespace|template\s*<|using)\b|\b(?:public|private|protected):/m.test(text) ? 'cpp' : 'c';
}

function findReasonToSkip(content: Buffer): string | undefined {
  if (content.includes(0)) return 'binary';
  const head = content.toString('latin1', 0, 1500);
  const isGenerated =
    /@generated\b|\bcode generated\b.*\bdo not edit\b|\b(?:auto-?generated|automatically generated)\b.*\b(?:do not|don't)\b/i;
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
