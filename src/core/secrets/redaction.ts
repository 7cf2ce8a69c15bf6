/**
 * Takes the values of known keys out of what is stored and shown; a mark that names the variable stands instead. What
 * the model reads in this process and what tools write to files is never changed.
 */
import {type KnownSecret, MIN_SECRET_CHARS} from './known-secrets.ts';

/** A stretch of a text that is a key, or several that overlap. */
interface Found {
  start: number;
  end: number;
  readonly name: string;
}

/** Shorter pieces of an encoded value may be chance. */
const MIN_ENCODED_CHARS = 12;
/** Where a text was cut within a key, so much of the key is enough to be taken out: a part of its length. */
const MIN_PART = 1 / 3;
/** What stands where something was cut off, as it ends a text and as it begins one. */
const CUT = /…|\n\n\[\.\.\. | \.\.\.\]\n\n/g;

export class Redactor {
  readonly #secrets: readonly KnownSecret[];
  /** All that is looked for, the secrets' usual encodings too, with the variable that each comes from. */
  readonly #names = new Map<string, string>();
  readonly #byFirst = new Map<string, readonly string[]>();
  readonly #pattern: RegExp | undefined;
  /** Enough of the beginning and of the end of a secret, to see quickly that there is none. */
  readonly #heads: RegExp | undefined;
  readonly #tails: RegExp | undefined;
  readonly #longest: number;

  constructor(secrets: readonly KnownSecret[]) {
    this.#secrets = secrets;
    for (const {name, value} of secrets) {
      for (const form of getForms(value)) if (!this.#names.has(form)) this.#names.set(form, name);
    }
    // The longest first: of a key that begins with another one the whole is taken.
    const forms = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#longest = forms[0]?.length ?? 0;
    if (forms.length > 0) {
      this.#pattern = new RegExp(anyOf(forms), 'g');
      this.#heads = new RegExp(anyOf(secrets.map(({value}) => value.slice(0, getMinPart(value)))));
      this.#tails = new RegExp(anyOf(secrets.map(({value}) => value.slice(-getMinPart(value)))));
    }
    for (const form of forms) this.#byFirst.set(form[0]!, [...(this.#byFirst.get(form[0]!) ?? []), form]);
  }

  /** Nothing is known that would have to be taken out. */
  get isEmpty(): boolean {
    return this.#pattern === undefined;
  }

  /** A text that is all there is: also a key of which its beginning or end was cut off. */
  text(text: string): string {
    if (!this.#pattern) return text;
    return replaced(text, merged([...this.#whole(text), ...this.#parts(text)]));
  }

  /** A piece of a text that goes on, with no key begun at its end: see `openFrom`. */
  piece(text: string): string {
    return this.#pattern ? replaced(text, merged(this.#whole(text))) : text;
  }

  /** Where the end of the text begins that could become a key with what follows; its length when none could. */
  openFrom(text: string): number {
    if (!this.#pattern) return text.length;
    let open = text.length;
    for (let at = Math.max(0, text.length - this.#longest + 1); at < open; at += 1) {
      const rest = text.length - at;
      const forms = this.#byFirst.get(text[at]!);
      if (forms?.some((form) => form.length > rest && text.endsWith(form.slice(0, rest)))) open = at;
    }
    // Never within a key that is there already.
    return merged(this.#whole(text)).find(({start, end}) => start < open && open < end)?.start ?? open;
  }

  /** The same in all texts of plain data, names of fields too. What holds none is given back as it is. */
  values<T>(value: T): T {
    return this.#pattern ? (this.#walk(value) as T) : value;
  }

  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) {
      const walked = value.map((each) => this.#walk(each));
      return walked.some((each, index) => each !== value[index]) ? walked : value;
    }
    if (!isPlain(value)) return value;
    const entries = Object.entries(value);
    const walked = entries.map(([key, each]) => [this.text(key), this.#walk(each)] as const);
    const isSame = walked.every(([key, each], index) => key === entries[index]![0] && each === entries[index]![1]);
    return isSame ? value : Object.fromEntries(walked);
  }

  #whole(text: string): Found[] {
    const pattern = this.#pattern!;
    const found: Found[] = [];
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      found.push({start: match.index, end: match.index + match[0].length, name: this.#names.get(match[0])!});
      // The next one may begin within this one.
      pattern.lastIndex = match.index + 1;
    }
    return found;
  }

  /** Keys that were cut, at the ends of the text and where something was left out of it. */
  #parts(text: string): Found[] {
    const found = [...this.#beginningAt(text, text.length), ...this.#endingAt(text, 0)];
    if (!text.includes('…') && !text.includes('...')) return found;
    for (const {0: cut, index} of text.matchAll(CUT)) {
      found.push(...this.#beginningAt(text, index), ...this.#endingAt(text, index + cut.length));
    }
    return found;
  }

  /** The beginning of a key that stands before `end`. */
  #beginningAt(text: string, end: number): Found[] {
    const before = text.slice(Math.max(0, end - this.#longest), end);
    if (!this.#heads!.test(before)) return [];
    return this.#secrets.flatMap(({name, value}) => {
      const length = longest(before.length, getMinPart(value), (count) => value.startsWith(before.slice(-count)));
      return length === 0 ? [] : [{start: end - length, end, name}];
    });
  }

  /** The end of a key that stands from `start` on. */
  #endingAt(text: string, start: number): Found[] {
    const after = text.slice(start, start + this.#longest);
    if (!this.#tails!.test(after)) return [];
    return this.#secrets.flatMap(({name, value}) => {
      const length = longest(after.length, getMinPart(value), (count) => value.endsWith(after.slice(0, count)));
      return length === 0 ? [] : [{start, end: start + length, name}];
    });
  }
}

/** The greatest count from `most` down to `least` that fits; 0 when none does. */
function longest(most: number, least: number, fits: (count: number) => boolean): number {
  for (let count = most; count >= least; count -= 1) if (fits(count)) return count;
  return 0;
}

function replaced(text: string, found: readonly Found[]): string {
  if (found.length === 0) return text;
  let out = '';
  let at = 0;
  for (const {start, end, name} of found) {
    out += `${text.slice(at, start)}${formatMark(name)}`;
    at = end;
  }
  return out + text.slice(at);
}

/** In order, and those that overlap as one. */
function merged(found: readonly Found[]): readonly Found[] {
  const joined: Found[] = [];
  for (const each of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last && each.start < last.end) last.end = Math.max(last.end, each.end);
    else joined.push({...each});
  }
  return joined;
}

/** The value as it stands in JSON, in addresses, and in base64 at each of the three places that it may have there. */
function getForms(value: string): readonly string[] {
  const inAddress = encodeURIComponent(value.toWellFormed());
  const encoded = [0, 1, 2].flatMap((before) => {
    const core = base64Core(value, before);
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

/** The characters that depend on nothing but the value, when so many bytes (modulo 3) stand before it. */
function base64Core(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const first = Math.ceil((before * 8) / 6);
  return whole.slice(first, bytes.length % 3 === 0 ? whole.length : -1);
}

/** A pattern for these words as they are. */
function anyOf(words: readonly string[]): string {
  return words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
}

/** So many characters of it are taken for the secret. */
function getMinPart(value: string): number {
  return Math.max(MIN_SECRET_CHARS, Math.ceil(value.length * MIN_PART));
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
 * A mark that a new text brings in. Whoever reads a stored conversation or output sees marks for values, and would
 * write them over the values.
 */
export function findNewMark(before: string, after: string): string | undefined {
  return after.match(MARK)?.find((mark) => !before.includes(mark));
}

export class RedactingStream {
  #held = '';

  constructor(private readonly redactor: Redactor) {}

  /** @returns what can be shown; the end that could become a key waits for the next piece. */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = this.redactor.openFrom(text);
    this.#held = text.slice(open);
    return this.redactor.piece(text.slice(0, open));
  }

  /** Nothing follows. @returns what was held. */
  end(): string {
    const rest = this.redactor.text(this.#held);
    this.#held = '';
    return rest;
  }
}
