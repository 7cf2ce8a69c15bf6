/** Reads values of JSON that may be of any type. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, otherwise an empty object. */
export function toFields(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
