/** Contents of files, wherever they are kept: those of tools in files of their own, those of commands in snapshots. */
import {randomUUID} from 'node:crypto';
import {mkdir, readdir, readFile, rename, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {blobId} from './file-state.ts';
import type {ShadowGit} from './shadow-git.ts';

export class Contents implements ContentSource {
  constructor(
    private readonly blobs: Blobs,
    /** Undefined when there never was a snapshot. */
    private readonly openShadow: () => Promise<ShadowGit | undefined>,
  ) {}

  /** How many bytes each of these contents has; those that are not kept any more are left out. */
  async sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const id of ids) {
      const size = await this.blobs.size(id);
      if (size !== undefined) found.set(id, size);
    }
    return this.#withShadow(ids, found, (shadow, rest) => shadow.sizes(rest));
  }

  /** Contents by their ids, whole; those that are not kept any more are left out. All are held in memory. */
  async contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for (const id of ids) {
      const content = await this.blobs.get(id);
      if (content) found.set(id, content);
    }
    return this.#withShadow(ids, found, (shadow, rest) => shadow.contents(rest));
  }

  /** Adds what the snapshots have. Without git, what only its repository holds is as good as gone. */
  async #withShadow<T>(
    ids: readonly string[],
    found: ReadonlyMap<string, T>,
    look: (shadow: ShadowGit, rest: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, T>> {
    const rest = ids.filter((id) => !found.has(id));
    const shadow = rest.length > 0 ? await this.openShadow().catch(() => undefined) : undefined;
    return shadow ? new Map([...found, ...(await look(shadow, rest))]) : found;
  }
}

export class Blobs {
  /** Names of those that are here: looked up once, since thousands may be asked for. */
  #ids: Promise<Set<string>> | undefined;

  constructor(private readonly folder: string) {}

  /** It is there whole when this has resolved, also after a `kill -9`: a torn one never has the name. */
  async put(id: string, content: Buffer): Promise<void> {
    const ids = await this.#known();
    if (ids.has(id)) return;
    const place = this.#placeOf(id);
    await mkdir(path.dirname(place), {recursive: true, mode: 0o700});
    const draft = `${place}.${randomUUID()}`;
    await writeFile(draft, content, {mode: 0o600, flag: 'wx'});
    await rename(draft, place);
    ids.add(id);
  }

  /** Undefined when it is not here, or is not what its name says any more. */
  async get(id: string): Promise<Buffer | undefined> {
    if (!(await this.#known()).has(id)) return undefined;
    const content = await readFile(this.#placeOf(id));
    return blobId(content) === id ? content : undefined;
  }

  /** In bytes. Undefined when it is not here. */
  async size(id: string): Promise<number | undefined> {
    return (await this.#known()).has(id) ? (await stat(this.#placeOf(id))).size : undefined;
  }

  #known(): Promise<Set<string>> {
    this.#ids ??= namesIn(this.folder);
    return this.#ids;
  }

  #placeOf(id: string): string {
    return path.join(this.folder, id.slice(0, 2), id.slice(2));
  }
}

async function namesIn(folder: string): Promise<Set<string>> {
  const names = await readdir(folder, {recursive: true}).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return new Set(names.map((name) => name.replace(path.sep, '')));
}

/** Of all contents of a batch together. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_ITEMS = 1000;

export interface ContentSource {
  sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
}

export interface Batch<T> {
  readonly items: readonly T[];
  /** By their ids; those that are not kept any more are missing. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

/** @param idsOf the contents that an item needs. */
export async function* batchesOf<T>(
  items: readonly T[],
  idsOf: (item: T) => readonly string[],
  source: ContentSource,
): AsyncGenerator<Batch<T>> {
  const sizes = await source.sizes([...new Set(items.flatMap(idsOf))]);
  let batch: T[] = [];
  let bytes = 0;
  const taken = async (): Promise<Batch<T>> => {
    const items = batch;
    batch = [];
    bytes = 0;
    return {items, contents: await source.contents([...new Set(items.flatMap(idsOf))])};
  };
  for (const item of items) {
    const size = idsOf(item).reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    if (batch.length > 0 && (bytes + size > MOST_BYTES || batch.length === MOST_ITEMS)) yield await taken();
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield await taken();
}
