/** Stores contents of files. Those from tool writes are in a blob store, those from commands in snapshots. */
import {mkdir, readdir, readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';
import {blobId} from '../trees/file-state.ts';

export interface ContentSource {
  /** Returns the size of each content in bytes, by id. Contents that are not stored are left out. */
  sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns the contents by id, all in memory. Contents that are not stored are left out. */
  contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
}

/** Stores each content of a tool's write in a file that is named by the hash of the content. */
export class Contents implements ContentSource {
  /** Ids of all stored contents. They are read once, since callers may ask for thousands. */
  #ids: Promise<Set<string>> | undefined;

  constructor(
    private readonly folder: string,
    /** Returns undefined when no snapshot was ever taken. */
    private readonly openTrees: () => Promise<ContentSource | undefined>,
  ) {}

  /**
   * Stores a content. Once this has resolved, the content survives even a `kill -9`, because the file gets its name
   * last.
   */
  async put(id: string, content: Buffer): Promise<void> {
    const ids = await this.#listIds();
    if (ids.has(id)) return;
    const file = this.#getPath(id);
    await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
    await writeWhole(file, content, {mode: 0o600, durable: false});
    ids.add(id);
  }

  sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const readSize = async (id: string) => (await stat(this.#getPath(id))).size;
    return this.#find(ids, readSize, (trees, rest) => trees.sizes(rest));
  }

  contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const readContent = async (id: string) => {
      const content = await readFile(this.#getPath(id));
      // Skip a damaged content.
      return blobId(content) === id ? content : undefined;
    };
    return this.#find(ids, readContent, (trees, rest) => trees.contents(rest));
  }

  /** Looks in the snapshots for contents that are not stored here. Without git the snapshots cannot be read. */
  async #find<T>(
    ids: readonly string[],
    readFact: (id: string) => Promise<T | undefined>,
    look: (trees: ContentSource, rest: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, T>> {
    const stored = await this.#listIds();
    const found = new Map<string, T>();
    for (const id of ids) {
      const fact = stored.has(id) ? await readFact(id) : undefined;
      if (fact !== undefined) found.set(id, fact);
    }
    const rest = ids.filter((id) => !found.has(id));
    const trees = rest.length > 0 ? await this.openTrees().catch(() => undefined) : undefined;
    return trees ? new Map([...found, ...(await look(trees, rest))]) : found;
  }

  #listIds(): Promise<Set<string>> {
    this.#ids ??= listNames(this.folder);
    return this.#ids;
  }

  #getPath(id: string): string {
    return path.join(this.folder, id.slice(0, 2), id.slice(2));
  }
}

/** Lists the ids: `ab/cdef…` → `abcdef…` */
async function listNames(folder: string): Promise<Set<string>> {
  const names = (await readdir(folder, {recursive: true}).catch(ignoreMissing)) ?? [];
  return new Set(names.map((name) => name.replace(path.sep, '')));
}

/** Limit in bytes for the contents of one batch, which are in memory together. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;
const MAX_BATCH_ITEMS = 1000;

interface Batch<T> {
  readonly items: readonly T[];
  /** Contents by id. Those that are not stored are missing. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

/**
 * Reads the contents that items need, in batches that fit into memory.
 * @param getIds returns the ids of the contents that an item needs
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
