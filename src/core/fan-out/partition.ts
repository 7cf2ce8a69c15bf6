/** Splits a list into parts that differ little in size: each item in exactly one part, in its order, no part empty. */

export const SPLITS = ['ceil', 'balanced'] as const;
/** `ceil`: all parts but the last have the same size. `balanced`: sizes differ by at most one. */
export type Split = (typeof SPLITS)[number];

/** @param parts how many parts there are at most */
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
