/** Paths of a workspace in messages and results, for another machine where it lies elsewhere. */

/** Stands for the workspace in what goes through the queue. */
const PLACE = '\u{F0000}workspace\u{F0000}';

/** The value with this folder's path replaced in all of its texts. @param root absolute */
export function toRelative<T>(value: T, root: string): T {
  return mapTexts(value, (text) => text.replaceAll(root, PLACE)) as T;
}

/** The value with the path of this workspace. */
export function fromRelative<T>(value: T, root: string): T {
  return mapTexts(value, (text) => text.replaceAll(PLACE, root)) as T;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}
