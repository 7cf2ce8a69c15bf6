/** Reads objects whose fields may have any type, or no value. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields that have a value. */
export function withoutUndefined<T extends object>(fields: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as {[K in keyof T]?: Exclude<T[K], undefined>};
}

/** Returns a JSON value with another text in place of each text. Keys stay. */
export function mapTexts<T>(value: T, map: (text: string) => string): T;
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}

/** Returns the value if it is an object, otherwise an empty object. */
export function toFields(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
