/** Reads objects whose fields may have any type, or no value. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields that have a value. */
export function withoutUndefined<T extends object>(fields: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as {[K in keyof T]?: Exclude<T[K], undefined>};
}

/**
 * Returns a JSON value with another text in place of each text. A part in which nothing changes is the same object as
 * before.
 * @param mapKey changes the names of fields. Default: they stay
 */
export function mapTexts<T>(value: T, map: (text: string) => string, mapKey?: (key: string) => string): T;
export function mapTexts(value: unknown, map: (text: string) => string, mapKey = (key: string) => key): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, map, mapKey));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isPlain(value)) return value;
  const before = Object.entries(value);
  const after = before.map(([key, item]) => [mapKey(key), mapTexts(item, map, mapKey)] as const);
  const isSame = after.every(([key, item], index) => key === before[index]![0] && item === before[index]![1]);
  return isSame ? value : Object.fromEntries(after);
}

/** Whether the value is an object of JSON, and none of a class. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns the value if it is an object, otherwise an empty object. */
export function toFields(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
