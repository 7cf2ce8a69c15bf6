/**
 * Replaces the values of known keys in what is stored and shown by a mark that names their variable. What the model reads
 * in this process, and what tools write to files, is never changed.
 */
import {type KnownSecret, MIN_SECRET_CHARS} from './known-secrets.ts';

/** A part of a text that is a key, or several keys that overlap. `end` is exclusive. */
interface SecretSpan {
  start: number;
  end: number;
  readonly name: string;
}

/** Shorter pieces of an encoded value may occur by chance. */
const MIN_ENCODED_CHARS = 12;
/** Where a text was cut inside a key, this share of the key's length is enough to be replaced. */
const MIN_PART_SHARE = 1 / 3;
/** The marks of a cut: at the end of a text, and around what was left out. */
const CUT = /…|\n\n\[\.\.\. | \.\.\.\]\n\n/g;

export class Redactor {
  readonly #secrets: readonly KnownSecret[];
  /** By each text that is looked for, a value or one of its usual encodings: the variable that it comes from. */
  readonly #names = new Map<string, string>();
  readonly #byFirst = new Map<string, readonly string[]>();
  readonly #pattern: RegExp | undefined;
  /** The shortest starts and ends of values that count as cut keys: a quick check whether there is one. */
  readonly #heads: RegExp | undefined;
  readonly #tails: RegExp | undefined;
  readonly #longest: number;

  constructor(secrets: readonly KnownSecret[]) {
    this.#secrets = secrets;
    for (const {name, value} of secrets) {
      for (const form of getForms(value)) if (!this.#names.has(form)) this.#names.set(form, name);
    }
    // The longest first: a key that begins with another key is replaced as a whole.
    const forms = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#longest = forms[0]?.length ?? 0;
    if (forms.length > 0) {
      this.#pattern = new RegExp(toPattern(forms), 'g');
      this.#heads = new RegExp(toPattern(secrets.map(({value}) => value.slice(0, getMinPart(value)))));
      this.#tails = new RegExp(toPattern(secrets.map(({value}) => value.slice(-getMinPart(value)))));
    }
    for (const form of forms) this.#byFirst.set(form[0]!, [...(this.#byFirst.get(form[0]!) ?? []), form]);
  }

  /** There are no keys to replace. */
  get isEmpty(): boolean {
    return this.#pattern === undefined;
  }

  /** A whole text: also replaces keys whose start or end was cut off. */
  text(text: string): string {
    if (!this.#pattern) return text;
    return replaceSpans(text, mergeSpans([...this.#findWhole(text), ...this.#findParts(text)]));
  }

  /** A piece of a text that goes on, without the end that `findOpenEnd` finds. */
  piece(text: string): string {
    return this.#pattern ? replaceSpans(text, mergeSpans(this.#findWhole(text))) : text;
  }

  /** Where the end of the text begins that may become a key with what follows; the text's length when none may. */
  findOpenEnd(text: string): number {
    if (!this.#pattern) return text.length;
    let open = text.length;
    for (let at = Math.max(0, text.length - this.#longest + 1); at < open; at += 1) {
      const rest = text.length - at;
      const forms = this.#byFirst.get(text[at]!);
      if (forms?.some((form) => form.length > rest && text.endsWith(form.slice(0, rest)))) open = at;
    }
    // Not inside a key that is already complete.
    return mergeSpans(this.#findWhole(text)).find(({start, end}) => start < open && open < end)?.start ?? open;
  }

  /** All texts in plain data, also the names of fields. Data without keys is returned as the same object. */
  values<T>(value: T): T {
    return this.#pattern ? (this.#redactValue(value) as T) : value;
  }

  #redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) {
      const walked = value.map((each) => this.#redactValue(each));
      return walked.some((each, index) => each !== value[index]) ? walked : value;
    }
    if (!isPlain(value)) return value;
    const entries = Object.entries(value);
    const walked = entries.map(([key, each]) => [this.text(key), this.#redactValue(each)] as const);
    const isSame = walked.every(([key, each], index) => key === entries[index]![0] && each === entries[index]![1]);
    return isSame ? value : Object.fromEntries(walked);
  }

  #findWhole(text: string): SecretSpan[] {
    const pattern = this.#pattern!;
    const found: SecretSpan[] = [];
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      found.push({start: match.index, end: match.index + match[0].length, name: this.#names.get(match[0])!});
      // The next key may begin inside this one.
      pattern.lastIndex = match.index + 1;
    }
    return found;
  }

  /** Keys that were cut: at both ends of the text, and around marks of a cut. */
  #findParts(text: string): SecretSpan[] {
    const found = [...this.#findStart(text, text.length), ...this.#findEnd(text, 0)];
    if (!text.includes('…') && !text.includes('...')) return found;
    for (const {0: cut, index} of text.matchAll(CUT)) {
      found.push(...this.#findStart(text, index), ...this.#findEnd(text, index + cut.length));
    }
    return found;
  }

  /** The start of a key directly before `end`. */
  #findStart(text: string, end: number): SecretSpan[] {
    const before = text.slice(Math.max(0, end - this.#longest), end);
    if (!this.#heads!.test(before)) return [];
    return this.#secrets.flatMap(({name, value}) => {
      const length = findLongest(before.length, getMinPart(value), (count) => value.startsWith(before.slice(-count)));
      return length === 0 ? [] : [{start: end - length, end, name}];
    });
  }

  /** The end of a key directly behind `start`. */
  #findEnd(text: string, start: number): SecretSpan[] {
    const after = text.slice(start, start + this.#longest);
    if (!this.#tails!.test(after)) return [];
    return this.#secrets.flatMap(({name, value}) => {
      const length = findLongest(after.length, getMinPart(value), (count) => value.endsWith(after.slice(0, count)));
      return length === 0 ? [] : [{start, end: start + length, name}];
    });
  }
}

/** The greatest count from `max` down to `min` that fits; 0 when none does. */
function findLongest(max: number, min: number, fits: (count: number) => boolean): number {
  for (let count = max; count >= min; count -= 1) if (fits(count)) return count;
  return 0;
}

function replaceSpans(text: string, found: readonly SecretSpan[]): string {
  if (found.length === 0) return text;
  let out = '';
  let at = 0;
  for (const {start, end, name} of found) {
    out += `${text.slice(at, start)}${formatMark(name)}`;
    at = end;
  }
  return out + text.slice(at);
}

/** In order; spans that overlap become one. */
function mergeSpans(found: readonly SecretSpan[]): readonly SecretSpan[] {
  const joined: SecretSpan[] = [];
  for (const each of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last && each.start < last.end) last.end = Math.max(last.end, each.end);
    else joined.push({...each});
  }
  return joined;
}

/** The value as it is, in JSON, in addresses, and in base64 at each of its three possible offsets. */
function getForms(value: string): readonly string[] {
  const inAddress = encodeURIComponent(value.toWellFormed());
  const encoded = [0, 1, 2].flatMap((before) => {
    const core = toBase64Core(value, before);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    inAddress,
    inAddress.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
    ...encoded.filter((core) => core.length >= MIN_ENCODED_CHARS),
  ];
}

/** The base64 characters that depend on the value alone. @param before how many bytes precede it, modulo 3 */
function toBase64Core(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const first = Math.ceil((before * 8) / 6);
  return whole.slice(first, bytes.length % 3 === 0 ? whole.length : -1);
}

/** The source of a RegExp that matches any of these words. */
function toPattern(words: readonly string[]): string {
  return words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
}

/** How many characters of a cut value are enough to be replaced. */
function getMinPart(value: string): number {
  return Math.max(MIN_SECRET_CHARS, Math.ceil(value.length * MIN_PART_SHARE));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function formatMark(name: string): string {
  return `[redacted: ${name}]`;
}

const MARK = /\[redacted: [^\]\s]+\]/g;

/**
 * A mark in a new text that the old text did not contain. A model that read a stored conversation or output saw marks
 * instead of values, and may write such a mark over the value in a file.
 */
export function findNewMark(before: string, after: string): string | undefined {
  return after.match(MARK)?.find((mark) => !before.includes(mark));
}

/** Redacts a text that comes in pieces, whose borders may lie inside a key. */
export class RedactingStream {
  #pending = '';

  constructor(private readonly redactor: Redactor) {}

  /** @returns what can be published: an end that may become a key waits for the next piece */
  push(piece: string): string {
    const text = this.#pending + piece;
    const open = this.redactor.findOpenEnd(text);
    this.#pending = text.slice(open);
    return this.redactor.piece(text.slice(0, open));
  }

  /** Call when nothing follows. @returns what waited */
  end(): string {
    const rest = this.redactor.text(this.#pending);
    this.#pending = '';
    return rest;
  }
}
