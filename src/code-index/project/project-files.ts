/**
 * Keeps the entries of the index up to date. A file is read again when its stamp (size, times, inode) changed, and
 * parsed again when its content changed too.
 */
import {closeSync, lstatSync, readFileSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {openPlaceSync} from '../../core/util/files/open-place.ts';
import type {SkippedFile} from '../contract.ts';
import {getLanguage, getUnparsedExtension} from '../languages/index.ts';
import {formatStamp, type IndexedEntry, type ReadEntry} from './read-entry.ts';

/** Files beyond this number are skipped. */
const MAX_FILES = 30_000;
/** Maximum bytes of source that are parsed, to limit memory. */
const MAX_TOTAL_BYTES = 400 * 1024 * 1024;

export interface FileToRead {
  readonly path: string;
  /** Hash of the content that is already parsed. */
  readonly hash: string | undefined;
}

/** Reads and parses files, possibly several at once. Calls `onRead` once for each file, in any order. */
export type ReadFiles = (
  files: readonly FileToRead[],
  onRead: (file: FileToRead, entry: ReadEntry) => void,
) => Promise<void>;

export class ProjectFiles {
  readonly root: string;
  readonly entries = new Map<string, IndexedEntry>();
  /** Number of files without a grammar, by extension. */
  unparsed: Readonly<Record<string, number>> = {};
  /** All listed files, including those without a known language. Manifests are found among them. */
  paths: ReadonlySet<string> = new Set();
  /** Counter that grows with every change. */
  changes = 0;
  readonly unsaved = new Set<string>();
  #sorted: readonly IndexedEntry[] = [];
  #sortedFor = -1;
  #tooMany: readonly string[] = [];
  readonly #readFiles: ReadFiles;

  constructor(root: string, readFiles: ReadFiles) {
    this.root = root;
    this.#readFiles = readFiles;
  }

  /** The entries sorted by path, so that answers do not depend on the order in which files were parsed. */
  get sorted(): readonly IndexedEntry[] {
    if (this.#sortedFor !== this.changes) {
      this.#sorted = [...this.entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
      this.#sortedFor = this.changes;
    }
    return this.#sorted;
  }

  get skipped(): SkippedFile[] {
    const skipped = this.sorted.flatMap(({path, why}) => (why === undefined ? [] : [{path, why}]));
    const more = this.#tooMany.map((path) => ({path, why: `one of more than ${MAX_FILES} files`}));
    return [...skipped, ...more];
  }

  /**
   * Reads the files that changed and drops those that are no longer listed.
   * @param listed all files, relative to the root
   */
  async refresh(listed: readonly string[]): Promise<void> {
    const wanted = this.#sortOut(listed);
    this.#tooMany = wanted.slice(MAX_FILES);
    const kept = wanted.slice(0, MAX_FILES);
    const now = new Set(kept);
    for (const file of this.entries.keys()) if (!now.has(file)) this.#remove(file);
    const folders = new Map<string, boolean>();
    const changed = kept.filter((file) => this.#isChanged(file, folders));
    await this.#read(changed);
    this.#limitSize();
  }

  /**
   * Returns the entry of one file, even when it is not listed. Undefined when the file does not exist or has no known
   * language.
   */
  async update(file: string): Promise<IndexedEntry | undefined> {
    if (!getLanguage(file)) return undefined;
    if (this.#isChanged(file, new Map())) await this.#read([file]);
    return this.entries.get(file);
  }

  /** Returns an empty text for a file that cannot be read. */
  readText(file: string): string {
    let fd: number | undefined;
    try {
      fd = openPlaceSync(path.join(this.root, file));
      return readFileSync(fd, 'utf8');
    } catch {
      return '';
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** @returns the files whose language is parsed, sorted */
  #sortOut(listed: readonly string[]): string[] {
    const unparsed = new Map<string, number>();
    const wanted: string[] = [];
    for (const file of listed) {
      const extension = getUnparsedExtension(file);
      if (extension) unparsed.set(extension, (unparsed.get(extension) ?? 0) + 1);
      else if (getLanguage(file)) wanted.push(file);
    }
    const isSame = this.paths.size === listed.length && listed.every((file) => this.paths.has(file));
    if (!isSame) this.changes += 1;
    this.paths = new Set(listed);
    this.unparsed = Object.fromEntries([...unparsed].sort(([, a], [, b]) => b - a));
    return wanted.sort();
  }

  #isChanged(file: string, folders: Map<string, boolean>): boolean {
    if (!this.#isReallyHere(file, folders)) {
      this.#remove(file);
      return false;
    }
    const entry = this.entries.get(file);
    try {
      const stat = lstatSync(path.join(this.root, file), {bigint: true, throwIfNoEntry: false});
      if (!stat?.isFile()) {
        this.#remove(file);
        return false;
      }
      return !entry || entry.stamp === '' || entry.stamp !== formatStamp(stat);
    } catch {
      // The file may not be examined. Reading it reports the reason.
      return true;
    }
  }

  async #read(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    const toRead = files.map((file) => ({path: file, hash: this.entries.get(file)?.hash}));
    await this.#readFiles(toRead, ({path: file}, read) => {
      const before = this.entries.get(file);
      if (read === 'gone') this.#remove(file);
      else if (!('same' in read)) {
        this.entries.set(file, read);
        this.changes += 1;
        this.unsaved.add(file);
      } else if (before) {
        before.stamp = read.stamp;
        this.unsaved.add(file);
      }
    });
  }

  #remove(file: string): void {
    if (!this.entries.delete(file)) return;
    this.changes += 1;
    this.unsaved.add(file);
  }

  #limitSize(): void {
    let total = 0;
    for (const [file, entry] of this.entries) {
      total += entry.bytes;
      if (total <= MAX_TOTAL_BYTES || !entry.facts) continue;
      const {facts: _, ...rest} = entry;
      this.entries.set(file, {...rest, stamp: '', hash: '', why: 'the files together are larger than 400 MB'});
      this.changes += 1;
    }
  }

  /** Returns false when a link has replaced a folder since the files were listed. Such a link is not followed. */
  #isReallyHere(file: string, folders: Map<string, boolean>): boolean {
    const folder = path.dirname(path.join(this.root, file));
    let known = folders.get(folder);
    if (known === undefined) {
      try {
        known = realpathSync(folder) === folder;
      } catch {
        // The folder does not exist.
        known = false;
      }
      folders.set(folder, known);
    }
    return known;
  }
}
