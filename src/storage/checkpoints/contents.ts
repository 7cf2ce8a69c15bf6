/** The stored contents of files: from tool writes in a blob store, from commands in snapshots. */
import {mkdir, readdir, readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';
import {blobId} from '../trees/file-state.ts';
import type {Trees} from '../trees/trees.ts';

export class Contents implements ContentSource {
  constructor(
    private readonly blobs: BlobStore,
    /** Returns undefined when no snapshot was ever taken. */
    private readonly openTrees: () => Promise<Trees | undefined>,
  ) {}

  /** The size of each content in bytes, by id. Contents that are not stored any more are left out. */
  async sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const id of ids) {
      const size = await this.blobs.size(id);
      if (size !== undefined) found.set(id, size);
    }
    return this.#addFromTrees(ids, found, (trees, rest) => trees.sizes(rest));
  }

  /** The contents by id, all in memory. Contents that are not stored any more are left out. */
  async contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for (const id of ids) {
      const content = await this.blobs.get(id);
      if (content) found.set(id, content);
    }
    return this.#addFromTrees(ids, found, (trees, rest) => trees.contents(rest));
  }

  /** Adds what the snapshots have. Without git, the contents that only snapshots have cannot be read. */
  async #addFromTrees<T>(
    ids: readonly string[],
    found: ReadonlyMap<string, T>,
    look: (trees: Trees, rest: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, T>> {
    const rest = ids.filter((id) => !found.has(id));
    const trees = rest.length > 0 ? await this.openTrees().catch(() => undefined) : undefined;
    return trees ? new Map([...found, ...(await look(trees, rest))]) : found;
  }
}

/** Stores each content once, in a file that is named by the hash of the content. */
export class BlobStore {
  /** The ids of all stored contents: read once, since callers may ask for thousands. */
  #ids: Promise<Set<string>> | undefined;

  constructor(private readonly folder: string) {}

  /** Once this has resolved, the content is stored whole, also after a `kill -9`: it gets its name last. */
  async put(id: string, content: Buffer): Promise<void> {
    const ids = await this.#listIds();
    if (ids.has(id)) return;
    const file = this.#getPath(id);
    await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
    await writeWhole(file, content, {mode: 0o600, durable: false});
    ids.add(id);
  }

  /** Undefined when it is not stored, or is damaged. */
  async get(id: string): Promise<Buffer | undefined> {
    if (!(await this.#listIds()).has(id)) return undefined;
    const content = await readFile(this.#getPath(id));
    return blobId(content) === id ? content : undefined;
  }

  /** In bytes. Undefined when it is not stored. */
  async size(id: string): Promise<number | undefined> {
    return (await this.#listIds()).has(id) ? (await stat(this.#getPath(id))).size : undefined;
  }

  #listIds(): Promise<Set<string>> {
    this.#ids ??= listNames(this.folder);
    return this.#ids;
  }

  #getPath(id: string): string {
    return path.join(this.folder, id.slice(0, 2), id.slice(2));
  }
}

/** `ab/cdef…` → `abcdef…` */
async function listNames(folder: string): Promise<Set<string>> {
  const names = (await readdir(folder, {recursive: true}).catch(ignoreMissing)) ?? [];
  return new Set(names.map((name) => name.replace(path.sep, '')));
}

/** Bytes of all contents of one batch, which are in memory together. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;
const MAX_BATCH_ITEMS = 1000;

export interface ContentSource {
  sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
}

interface Batch<T> {
  readonly items: readonly T[];
  /** By id. Contents that are not stored any more are missing. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

/**
 * Reads the contents that items need, in batches that fit into memory.
 * @param getIds the contents that an item needs
 */
export async function* readInBatches<T>(
  items: readonly T[],
  getIds: (item: T) => readonly string[],
  source: ContentSource,
): AsyncGenerator<Batch<T>> {
  const sizes = await source.sizes([...new Set(items.flatMap(getIds))]);
  let batch: T[] = [];
  let bytes = 0;
  const finishBatch = async (): Promise<Batch<T>> => {
    const items = batch;
    batch = [];
    bytes = 0;
    return {items, contents: await source.contents([...new Set(items.flatMap(getIds))])};
  };
  for (const item of items) {
    const size = getIds(item).reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    if (batch.length > 0 && (bytes + size > MAX_BATCH_BYTES || batch.length === MAX_BATCH_ITEMS))
      yield await finishBatch();
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield await finishBatch();
}
