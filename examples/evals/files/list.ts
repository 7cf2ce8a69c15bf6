export interface Item {
  readonly price: number;
  readonly count: number;
}

/** Returns the page of items; pages begin at 1. */
export function getPage(items: readonly Item[], page: number, size: number): readonly Item[] {
  const from = page * size;
  return items.slice(from, from + size);
}
