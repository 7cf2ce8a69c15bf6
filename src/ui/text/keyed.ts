/** For React: the place of a part that never moves is its key. */
export function keyed<T>(values: readonly T[]): {readonly key: string; readonly value: T}[] {
  return values.map((value, index) => ({key: String(index), value}));
}
