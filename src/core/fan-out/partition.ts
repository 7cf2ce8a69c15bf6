/** Splits a list into parts of similar size: each item is in exactly one part, in its order, and no part is empty. */

export const SPLITS = ['ceil', 'balanced'] as const;
/** `ceil`: all parts but the last have the same size. `balanced`: sizes differ by at most one. */
export type Split = (typeof SPLITS)[number];

/** @param parts maximum number of parts */
export function partition<T>(items: readonly T[], parts: number, split: Split = 'ceil'): T[][] {
  const count = Math.min(parts, items.length);
  const result: T[][] = [];
  for (let start = 0; start < items.length; ) {
    const left = split === 'ceil' ? items.length : items.length - start;
    const size = Math.ceil(left / (split === 'ceil' ? count : count - result.length));
    result.push(items.slice(start, start + size));
    start += size;
  }
  return result;
}
