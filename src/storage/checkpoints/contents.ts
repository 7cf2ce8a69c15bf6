/** Stores contents of files: what tools wrote in a blob store, what commands wrote in snapshots. */
import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../../core/util/errors.ts';
import {writePrivate} from '../../core/util/files/whole-file.ts';
import {blobId} from '../trees/file-state.ts';

export interface ContentSource {
  /** Returns the contents by id, all in memory. Contents that are not stored are left out. */
  contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
}

/** Stores each content of a tool's write in a file that is named by the hash of the content. */
export class Contents implements ContentSource {
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
    const file = this.#getPath(id);
    if (existsSync(file)) return;
    await writePrivate(file, content, {durable: false});
  }

  async contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for (const id of ids) {
      const content = await readFile(this.#getPath(id)).catch(ignoreMissing);
      // Skip a damaged content.
      if (content && blobId(content) === id) found.set(id, content);
    }
    const rest = ids.filter((id) => !found.has(id));
    // Without git, the snapshots cannot be read.
    const trees = rest.length > 0 ? await this.openTrees().catch(() => undefined) : undefined;
    return trees ? new Map([...found, ...(await trees.contents(rest))]) : found;
  }

  #getPath(id: string): string {
    return path.join(this.folder, id.slice(0, 2), id.slice(2));
  }
}

/** Limit of items whose contents are in memory together. Most contents have at most 10 MB. */
const BATCH_ITEMS = 20;

interface Batch<T> {
  readonly items: readonly T[];
  /** Contents by id. An id whose content is not stored is missing. */
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
  for (let at = 0; at < items.length; at += BATCH_ITEMS) {
    const batch = items.slice(at, at + BATCH_ITEMS);
    yield {items: batch, contents: await source.contents([...new Set(batch.flatMap(getIds))])};
  }
}
