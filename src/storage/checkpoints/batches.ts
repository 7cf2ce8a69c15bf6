/** Contents of many files, so many at a time as memory may hold. */

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
