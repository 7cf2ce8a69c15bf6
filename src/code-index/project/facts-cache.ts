/**
 * Parsed files on the disk, beside the project's data. Each part is written beside the old one and takes its place by a
 * rename, so that a process that is killed leaves the old or the new one. What cannot be read is parsed again.
 */
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {FACTS_VERSION} from '../syntax/file-facts.ts';
import type {ProjectFiles} from './project-files.ts';
import type {IndexedEntry} from './read-entry.ts';

/** Entries lie in so many files: a change writes one of them. */
const PARTS = 64;
/** Drafts that are older were left by a process that was killed. Milliseconds. */
const OLD_MS = 60_000;

export class FactsCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The files as they were left. None where nothing is kept, or it cannot be read. */
  load(): IndexedEntry[] {
    const entries: IndexedEntry[] = [];
    for (let part = 0; part < PARTS; part += 1) {
      try {
        entries.push(...parsePart(readFileSync(this.#getFile(part), 'utf8')));
      } catch {
        // It was never written, or is damaged: its files are parsed again.
      }
    }
    return entries;
  }

  /** Writes the parts of the files that changed. */
  save(files: ProjectFiles): void {
    if (files.unsaved.size === 0) return;
    const parts = new Set([...files.unsaved].map(getPart));
    files.unsaved.clear();
    const byPart = new Map<number, IndexedEntry[]>([...parts].map((part) => [part, []]));
    for (const entry of files.entries.values()) byPart.get(getPart(entry.path))?.push(entry);
    mkdirSync(this.#folder, {recursive: true, mode: 0o700});
    this.#removeDrafts();
    for (const [part, entries] of byPart) {
      const file = this.#getFile(part);
      const draft = `${file}.${process.pid}.draft`;
      writeFileSync(draft, formatPart(entries), {mode: 0o600});
      renameSync(draft, file);
    }
  }

  #getFile(part: number): string {
    return path.join(this.#folder, `${part}.jsonl`);
  }

  #removeDrafts(): void {
    for (const name of readdirSync(this.#folder)) {
      if (!name.endsWith('.draft')) continue;
      const file = path.join(this.#folder, name);
      const age = Date.now() - (statSync(file, {throwIfNoEntry: false})?.mtimeMs ?? Date.now());
      if (age > OLD_MS) rmSync(file, {force: true});
    }
  }
}

function getPart(file: string): number {
  let sum = 0;
  for (let at = 0; at < file.length; at += 1) sum = (sum * 31 + file.charCodeAt(at)) >>> 0;
  return sum % PARTS;
}

/** One line with the version and how many follow, then a line for each file. */
function formatPart(entries: readonly IndexedEntry[]): string {
  const lines = entries.map(({facts, ...entry}) =>
    JSON.stringify({
      ...entry,
      ...(facts && {facts: {...facts, uses: Buffer.from(facts.uses).toString('base64')}}),
    }),
  );
  return [JSON.stringify({version: FACTS_VERSION, count: lines.length}), ...lines].join('\n');
}

/** @throws SyntaxError where a line is damaged */
function parsePart(text: string): IndexedEntry[] {
  const [head = '', ...lines] = text.split('\n');
  const {version, count} = JSON.parse(head) as {version?: unknown; count?: unknown};
  if (version !== FACTS_VERSION || count !== lines.length) return [];
  return lines.map((line) => {
    const {facts, ...entry} = JSON.parse(line);
    return facts ? {...entry, facts: {...facts, uses: new Uint8Array(Buffer.from(facts.uses, 'base64'))}} : entry;
  });
}
