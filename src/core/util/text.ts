/** Makes text from models, tools and files safe to print, and puts text into one line. */
import type {Retry} from '../contract/model.ts';

/** Matches texts without any character that must be replaced. Most texts match. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/**
 * Control characters except newlines and tabs, characters that change the direction of writing, line separators, lone
 * surrogates, and invisible characters, which could hide words from the reader.
 */
const UNSAFE =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/**
 * Matches invisible characters that belong to the visible character before them and therefore stay. The expression is
 * created at first use: parsing it takes 1.5 ms, and most starts need none.
 */
const createAllowedInvisible = () =>
  new RegExp(
    [
      // Emoji: variants, and several emoji joined into one.
      '(?<=[\\p{Emoji}--[0-9#*]])[\\ufe0e\\ufe0f]',
      '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
      '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})',
      // The flags of England, Scotland and Wales. Other tag characters spell invisible words.
      '(?<=\\u{1f3f4})\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}',
      // Letters of scripts that are written with joiners, and variants of Chinese and Mongolian characters.
      '(?<=[[\\p{L}\\p{M}]--\\p{ASCII}--[\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}\\p{sc=Han}\\p{sc=Hangul}]])[\\u200c\\u200d]',
      '(?<=\\p{sc=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
      '(?<=\\p{sc=Mongolian})[\\u180b-\\u180d\\u180f]',
    ].join('|'),
    'gv',
  );

/**
 * Replaces characters that a terminal would obey or hide by visible ones: ESC by `␛`, a bidi override by `\u202E`, a
 * tag by `\u{E0041}`. Newlines and tabs stay.
 */
export function showControls(text: string): string {
  if (PLAIN.test(text)) return text;
  const kept = new Set<number>();
  if (/\p{Default_Ignorable_Code_Point}/u.test(text)) {
    for (const {0: part, index} of text.matchAll(createAllowedInvisible())) {
      for (let at = index; at < index + part.length; at += 1) kept.add(at);
    }
  }
  return text.replace(UNSAFE, (character, at: number) => (kept.has(at) ? character : toVisible(character)));
}

/**
 * Formats indented JSON that is safe to print. Characters that `showControls` would replace become escapes of JSON, so
 * that nothing is lost.
 */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNSAFE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function toVisible(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  const hex = code.toString(16).toUpperCase();
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/**
 * Returns the output of a command as a terminal shows it in the end: of each line, the text after the last carriage
 * return. Progress bars redraw their line in this way.
 */
export function dropOverwritten(output: string): string {
  return output.includes('\r') ? output.split('\n').map(lastOfLine).join('\n') : output;
}

function lastOfLine(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

/** Returns at most `most` characters of the text. A longer one ends with `…`. */
export function cutEnd(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Returns the text in one line of at most `most` characters. A longer one ends with `…`. */
export function toShortLine(text: string, most: number): string {
  return cutEnd(toOneLine(text), most);
}

/** Characters of the JSON of a block that a model reads in its place. */
const MAX_BLOCK_CHARS = 1_000;

/** Tells a model in words about a block of content that cannot be used as it is. */
export function describeUnknownBlock(block: unknown): string {
  return `(a block of an unknown kind: ${toShortLine(JSON.stringify(block) ?? 'nothing', MAX_BLOCK_CHARS)})`;
}

/** Splits a text at white space. */
export function listWords(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}

/** Returns the text as one word of a shell, in quotes where it needs them. */
export function quoteForShell(text: string): string {
  return /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the text in one line: each run of white space becomes one space, and the ends are trimmed. */
export function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/**
 * Formats a retry such as `retrying in 4s (429), attempt 2`, or names the model that is asked instead.
 * @param startsOver whether a part of the answer was shown, so that the answer starts again
 */
export function formatRetry({waitMs, reason, attempt, fallback, pause}: Retry, startsOver = false): string {
  if (pause) return reason;
  if (fallback) {
    const text = `${fallback.from} cannot answer (${reason}): ${fallback.to} answers instead`;
    return startsOver ? `${text}. The answer starts over.` : text;
  }
  const retry = `retrying in ${Math.max(1, Math.ceil(waitMs / 1000))}s (${reason}), attempt ${attempt}`;
  return startsOver ? `Connection lost; ${retry}. The answer starts over.` : retry;
}

/** @param until milliseconds since the epoch */
export function formatPause(provider: string, until: number): string {
  const end = new Date(until);
  const time = end.toTimeString().slice(0, 5);
  const isToday = end.toDateString() === new Date().toDateString();
  const day = isToday ? '' : `${end.toLocaleDateString('en-GB', {day: 'numeric', month: 'short'})}, `;
  return `waiting for the limit of ${provider} until ${day}${time}`;
}

/** Replaces the name, password and query of an address by `…`, because they may be unknown keys. */
export function removeLogins(text: string): string {
  return text
    .replace(/\b([a-z][a-z\d+.-]*:\/\/)[^\s/@]*@/gi, '$1…@')
    .replace(/\b(https?:\/\/[^\s?#]*)\?[^\s#]*/gi, '$1?…');
}

/** Formats a number with its noun: `1 file`, `3 files`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Lists the first names, at most `most`, and counts the others: `a, b and 3 more`. */
export function formatNames(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the first texts that have at most `maxChars` characters together, with `between` characters after each. */
export function takeFitting(texts: readonly string[], maxChars: number, between = 1): readonly string[] {
  let left = maxChars;
  const end = texts.findIndex(({length}) => {
    left -= length + between;
    return left < 0;
  });
  return end < 0 ? texts : texts.slice(0, end);
}

/** Formats a number of tokens as `950`, `1.2k`, `12.3k` or `1.2M`. */
export function formatTokens(n: number): string {
  if (n < 1000) return String(n);
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** Formats an age in one unit, such as `5 min`, `3 h` or `4 days`. @param ms milliseconds */
export function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

/** Formats the limit that ended a run: `limit reached: 50 turns`. A run without progress says so in its own words. */
export function formatLimit(reason: string): string {
  return reason.startsWith('no progress: ') ? reason : `limit reached${reason && `: ${reason}`}`;
}

/**
 * Formats rows as lines with columns of equal width.
 * @param isRight whether a column is aligned to the right
 * @param max greatest width of a column; longer cells stand out
 */
export function formatColumns(
  rows: readonly (readonly string[])[],
  {
    isRight = () => false,
    gap = '  ',
    max = Number.POSITIVE_INFINITY,
  }: {
    readonly isRight?: (column: number) => boolean;
    readonly gap?: string;
    readonly max?: number;
  } = {},
): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.min(max, Math.max(...rows.map((row) => row[column]!.length))));
  const pad = (cell: string, column: number) =>
    isRight(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => row.map(pad).join(gap).trimEnd());
}
