/** Replaces paths of a workspace in messages and results, because on another machine the workspace has another path. */

/** Placeholder for the path of the workspace in messages of the queue. */
const PLACE = '\u{F0000}workspace\u{F0000}';

/** Replaces this folder's path in all texts of the value. @param root absolute path */
export function toRelative<T>(value: T, root: string): T {
  return mapTexts(value, (text) => text.replaceAll(root, PLACE)) as T;
}

/** Inserts the path of this workspace into all texts of the value. */
export function fromRelative<T>(value: T, root: string): T {
  return mapTexts(value, (text) => text.replaceAll(PLACE, root)) as T;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}
