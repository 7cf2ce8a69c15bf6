/**
 * Stores the facts of parsed files on disk, in several parts. Each part is written to a draft and replaced by a rename,
 * so a process that is killed leaves either the old or the new part. Files of a damaged part are parsed again.
 */
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {FACTS_VERSION} from '../syntax/file-facts.ts';
import type {ProjectFiles} from './project-files.ts';
import type {IndexedEntry} from './read-entry.ts';

/** Number of parts that the entries are spread over. A change rewrites one of them. */
const PARTS = 64;
/** Drafts older than this are removed, because a process that was killed left them. Milliseconds. */
const OLD_MS = 60_000;

export class FactsCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  load(): IndexedEntry[] {
    const entries: IndexedEntry[] = [];
    for (let part = 0; part < PARTS; part += 1) {
      try {
        entries.push(...parsePart(readFileSync(this.#getFile(part), 'utf8')));
      } catch {
        // The part was never written, or it is damaged. Its files are parsed again.
      }
    }
    return entries;
  }

  /** Writes the parts that contain changed files. */
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

/** The first line holds the version and the number of entries; each further line is one entry. */
function formatPart(entries: readonly IndexedEntry[]): string {
  const lines = entries.map(({facts, ...entry}) =>
    JSON.stringify({
      ...entry,
      ...(facts && {facts: {...facts, uses: Buffer.from(facts.uses).toString('base64')}}),
    }),
  );
  return [JSON.stringify({version: FACTS_VERSION, count: lines.length}), ...lines].join('\n');
}

/** @throws SyntaxError when a line is damaged */
function parsePart(text: string): IndexedEntry[] {
  const [head = '', ...lines] = text.split('\n');
  const {version, count} = JSON.parse(head) as {version?: unknown; count?: unknown};
  if (version !== FACTS_VERSION || count !== lines.length) return [];
  return lines.map((line) => {
    const {facts, ...entry} = JSON.parse(line);
    return facts ? {...entry, facts: {...facts, uses: new Uint8Array(Buffer.from(facts.uses, 'base64'))}} : entry;
  });
}
