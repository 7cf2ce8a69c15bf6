/**
 * The headers of requests and responses, in place of the global `Headers`: the first use of that one loads all of undici,
 * which costs a start 45 ms and 16 MB. The bundle puts this class into the packages of model servers (scripts/bundle.mjs).
 */
type HeadersLike = Headers | HeaderList;

/** As much of `Headers` as the packages use. Names are kept in small letters, values of one name joined by `, `. */
export class HeaderList {
  readonly #values = new Map<string, string>();

  constructor(from: HeadersInit | HeaderList = {}) {
    const pairs = Symbol.iterator in from ? (from as Iterable<[string, string]>) : Object.entries(from);
    for (const [name, value] of pairs) this.append(name, value);
  }

  /** The packages ask so for headers of any kind. */
  static [Symbol.hasInstance](value: unknown): value is HeadersLike {
    const {get, append, entries} = (value ?? {}) as Partial<HeadersLike>;
    return [get, append, entries].every((method) => typeof method === 'function');
  }

  append(name: string, value: string): void {
    const known = this.get(name);
    this.set(name, known === null ? String(value) : `${known}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(use: (value: string, name: string) => void): void {
    for (const [name, value] of this) use(value, name);
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  values(): IterableIterator<string> {
    return this.#values.values();
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#values.entries();
  }
}
