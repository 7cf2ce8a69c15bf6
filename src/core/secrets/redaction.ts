/**
 * Replaces the values of known keys in stored and shown texts by a mark that names their variable. What the model reads
 * in this process, and what tools write to files, is never changed.
 */
import {mapTexts} from '../util/objects.ts';
import {getForms, listDecoded, listViews, type TextView} from './encodings.ts';
import {type KnownSecret, MIN_SECRET_CHARS} from './known-secrets.ts';

/** A part of a text that is a key, or several keys that overlap. `end` is exclusive. */
interface SecretSpan {
  start: number;
  end: number;
  readonly name: string;
}

/** If a text was cut inside a key, this share of the key's length is enough for a replacement. */
const MIN_PART_SHARE = 1 / 3;
/** One character may take this number of characters: `&amp;#x0073;` is one, and may have line breaks around it. */
const MAX_ESCAPE_CHARS = 16;
/** Marks of a cut: at the end of a text, and around a part that was left out. */
const CUT = /…|\n\n\[\.\.\. | \.\.\.\]\n\n/g;

export class Redactor {
  /** Names of variables by each text to search for, which is a value or one of its encodings. */
  readonly #names = new Map<string, string>();
  #byFirst: ReadonlyMap<string, readonly string[]> = new Map();
  #forms: readonly string[] = [];
  #finder = new FormFinder([]);
  /**
   * Match the shortest starts and ends of forms that count as cut keys. They are a quick check whether there is one.
   */
  #heads: RegExp | undefined;
  #tails: RegExp | undefined;
  #longest = 0;

  constructor(secrets: readonly KnownSecret[]) {
    this.add(secrets);
  }

  /** Redacts these keys too, from now on. */
  add(secrets: readonly KnownSecret[]): void {
    const before = this.#names.size;
    for (const {name, value} of secrets.filter((each) => each.value.length >= MIN_SECRET_CHARS)) {
      for (const form of getForms(value)) if (!this.#names.has(form)) this.#names.set(form, name);
    }
    if (this.#names.size === before) return;
    // The longest comes first, so that a key that begins with another key is replaced as a whole.
    this.#forms = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#longest = this.#forms[0]?.length ?? 0;
    this.#finder = new FormFinder(this.#forms);
    this.#heads = new RegExp(toPattern(this.#forms.map((form) => form.slice(0, getMinPart(form)))));
    this.#tails = new RegExp(toPattern(this.#forms.map((form) => form.slice(-getMinPart(form)))));
    this.#byFirst = Map.groupBy(this.#forms, (form) => form[0]!);
  }

  /** Whether there are no keys to replace. */
  get isEmpty(): boolean {
    return this.#forms.length === 0;
  }

  /** Redacts a whole text, including keys whose start or end was cut off. */
  text(text: string): string {
    if (this.isEmpty) return text;
    const views = listViews(text, false);
    // `views[1]` is the text without its line breaks.
    const nested = this.#findNested(text.includes('\n') ? views[1]! : views[0]!);
    return replaceSpans(text, mergeSpans([...this.#findInViews(views), ...nested, ...this.#findParts(text)]));
  }

  /** Redacts a piece of a text that continues. The piece must not have the end that `findOpenEnd` finds. */
  piece(text: string): string {
    return this.isEmpty ? text : replaceSpans(text, mergeSpans(this.#findWhole(text)));
  }

  /**
   * Returns the position of the end that may become a key with the text that follows; the text's length if there is
   * none.
   */
  findOpenEnd(text: string): number {
    if (this.isEmpty) return text.length;
    let open = text.length;
    for (const view of listViews(text, true)) {
      const at = this.#findOpenEndOf(view.text);
      open = Math.min(open, (at === view.text.length ? view.heldFrom : undefined) ?? view.toStart(at));
    }
    // Escapes and line breaks between the characters make a key longer, but not without limit.
    open = Math.max(open, text.length - MAX_ESCAPE_CHARS * this.#longest);
    // The position must not be inside a key that is already complete.
    return mergeSpans(this.#findWhole(text)).find(({start, end}) => start < open && open < end)?.start ?? open;
  }

  #findOpenEndOf(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at += 1) {
      const rest = text.length - at;
      const forms = this.#byFirst.get(text[at]!);
      if (forms?.some((form) => form.length > rest && form.startsWith(text.slice(at)))) return at;
    }
    return text.length;
  }

  /** Redacts all texts in plain data, including names of fields. Data without keys is returned as the same object. */
  values<T>(value: T): T {
    const redact = (text: string) => this.text(text);
    return this.isEmpty ? value : mapTexts(value, redact, redact);
  }

  /** Finds complete keys in the text, even with escapes and line breaks in them. */
  #findWhole(text: string): SecretSpan[] {
    return this.#findInViews(listViews(text, false));
  }

  #findInViews(views: readonly TextView[]): SecretSpan[] {
    return views.flatMap((view) =>
      this.#finder.find(view.text).map(({form, at}) => ({
        start: view.toStart(at),
        end: view.toEnd(at + form.length),
        name: this.#names.get(form)!,
      })),
    );
  }

  /** Finds keys in lines of base64 that were encoded again. The whole run of characters is replaced. */
  #findNested(view: TextView): SecretSpan[] {
    const found: SecretSpan[] = [];
    for (const {text: decoded, start, end} of listDecoded(view)) {
      const [first] = listViews(decoded, false).flatMap((view) => this.#finder.find(view.text));
      if (first) found.push({start, end, name: this.#names.get(first.form)!});
    }
    return found;
  }

  /** Finds keys that were cut, at both ends of the text and around marks of a cut. */
  #findParts(text: string): SecretSpan[] {
    const found = [...this.#findStart(text, text.length), ...this.#findEnd(text, 0)];
    if (!text.includes('…') && !text.includes('...')) return found;
    for (const {0: cut, index} of text.matchAll(CUT)) {
      found.push(...this.#findStart(text, index), ...this.#findEnd(text, index + cut.length));
    }
    return found;
  }

  /** Finds the start of a key directly before `end`. */
  #findStart(text: string, end: number): SecretSpan[] {
    const before = text.slice(Math.max(0, end - this.#longest), end);
    if (!this.#heads!.test(before)) return [];
    const found = this.#findEnds(before, (form, count) => form.startsWith(before.slice(-count)));
    return found.map(({length, name}) => ({start: end - length, end, name}));
  }

  /** Finds the end of a key directly after `start`. */
  #findEnd(text: string, start: number): SecretSpan[] {
    const after = text.slice(start, start + this.#longest);
    if (!this.#tails!.test(after)) return [];
    const found = this.#findEnds(after, (form, count) => form.endsWith(after.slice(0, count)));
    return found.map(({length, name}) => ({start, end: start + length, name}));
  }

  /** Finds the longest part of each key that stands at an end of the text, by `fits`. */
  #findEnds(text: string, fits: (form: string, count: number) => boolean) {
    return this.#forms.flatMap((form) => {
      const max = Math.min(text.length, form.length);
      const length = findLongest(max, getMinPart(form), (count) => fits(form, count));
      return length === 0 ? [] : [{length, name: this.#names.get(form)!}];
    });
  }
}

/** Returns the greatest count from `max` down to `min` that fits, or 0 when none does. */
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

/** Sorts the spans, and joins those that overlap. */
function mergeSpans(found: readonly SecretSpan[]): readonly SecretSpan[] {
  const joined: SecretSpan[] = [];
  for (const each of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last && each.start < last.end) last.end = Math.max(last.end, each.end);
    else joined.push({...each});
  }
  return joined;
}

/** Finds many texts at once: a hash of each eight characters says whether one of them may begin there. */
class FormFinder {
  readonly #byHash = new Map<number, string[]>();
  /** Has 1 at the upper 16 bits of each hash, as a quick check. */
  readonly #isUsed = new Uint8Array(1 << 16);

  constructor(forms: readonly string[]) {
    for (const form of forms) {
      let hash = 0;
      for (let at = 0; at < MIN_SECRET_CHARS; at += 1) hash = (Math.imul(hash, BASE) + form.charCodeAt(at)) | 0;
      this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), form]);
      this.#isUsed[hash >>> 16] = 1;
    }
  }

  find(text: string): {form: string; at: number}[] {
    const found: {form: string; at: number}[] = [];
    let hash = 0;
    for (let end = 0; end < text.length; end += 1) {
      const at = end - MIN_SECRET_CHARS + 1;
      const left = at > 0 ? Math.imul(text.charCodeAt(at - 1), OLDEST) : 0;
      hash = (Math.imul(hash, BASE) + text.charCodeAt(end) - left) | 0;
      if (at < 0 || this.#isUsed[hash >>> 16] === 0) continue;
      for (const form of this.#byHash.get(hash) ?? []) if (text.startsWith(form, at)) found.push({form, at});
    }
    return found;
  }
}

const BASE = 0x01000193;
/** BASE to the power of the number of characters, modulo 2^32. */
const OLDEST = Array.from({length: MIN_SECRET_CHARS}).reduce<number>((product) => Math.imul(product, BASE), 1);

/** Returns the source of a RegExp that matches any of these words. */
function toPattern(words: readonly string[]): string {
  return words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
}

/** Returns the number of characters of a cut value that are enough for a replacement. */
function getMinPart(value: string): number {
  return Math.max(MIN_SECRET_CHARS, Math.ceil(value.length * MIN_PART_SHARE));
}

function formatMark(name: string): string {
  return `[redacted: ${name}]`;
}

const MARK = /\[redacted: [^\]\s]+\]/g;

/**
 * Returns a mark in the new text that the old text did not contain. A model that read a stored conversation or output
 * saw marks instead of values, and may write such a mark over the value in a file.
 */
export function findNewMark(before: string, after: string): string | undefined {
  return after.match(MARK)?.find((mark) => !before.includes(mark));
}

/** Redacts a text that comes in pieces, whose borders may lie inside a key. */
export class RedactingStream {
  #pending = '';

  constructor(private readonly redactor: Redactor) {}

  /** @returns the text that can be published. An end that may become a key waits for the next piece */
  push(piece: string): string {
    const text = this.#pending + piece;
    const open = this.redactor.findOpenEnd(text);
    this.#pending = text.slice(open);
    return this.redactor.piece(text.slice(0, open));
  }

  /** Ends the stream. @returns the text that waited */
  end(): string {
    const rest = this.redactor.text(this.#pending);
    this.#pending = '';
    return rest;
  }
}
