/**
 * Recognises keys and replies of the terminal that arrive in pieces over a slow line. A reply, perhaps to a question of
 * an earlier program, may come at any time and must never count as typed text.
 */

/**
 * The start of the strings in which a terminal reports about itself, e.g. its colours. No person types so many of these
 * characters.
 */
const STRING_HEAD = String.raw`(?:\]\d{1,4};|P[\d;]*[>=!$+][\d;]*[a-z|])`;
const STRING_TEXT = String.raw`[\x20-\x7e]{0,256}`;
/** Matches whole replies that Ink would read as text. */
const STRING_REPLY = new RegExp(String.raw`\x1b${STRING_HEAD}${STRING_TEXT}(?:\x07|\x1b\\)`, 'g');
/** Matches the start of a key or a reply at the end of the text. */
const OPEN = new RegExp(
  String.raw`\x1b(?:\[[0-?]*[ -/]*|O|\]\d{0,4}|P[\d;]*[>=!$+]?[\d;]*|${STRING_HEAD}${STRING_TEXT}\x1b?)?$`,
);
/** Matches the start of sequences that no person types. */
const UNMISTAKABLE = new RegExp(String.raw`^\x1b(?:\[(?:[?>=]|\d+[;:~])|${STRING_HEAD})`);
const WHOLE_START = new RegExp(
  String.raw`^\x1b(?:\[[?>=][\d;:]*\$?[cnuytRS]|\[[\d;:]+[~A-FHPQRSntu]|${STRING_HEAD}${STRING_TEXT}(?:\x07|\x1b\\))`,
);
/** Milliseconds. After this time, a chunk does not complete an earlier sequence. */
const LATE_MS = 5_000;

/** Returns the unfinished key or reply at the end of the text; empty when there is none. */
export function findOpenSequence(text: string): string {
  return OPEN.exec(text)?.[0] ?? '';
}

/** Removes replies that are strings. Ink itself drops whole replies that have the form of keys. */
export function withoutReplies(text: string): string {
  return text.includes('\x1b') ? text.replace(STRING_REPLY, '') : text;
}

/** Remembers the start of a key or a reply whose rest did not come in time, because the rest may still come. */
export class LateSequence {
  #begun = '';
  #at = 0;

  /** Notes that the rest did not come. @returns the key to report: Esc alone is a key, half of another key is none */
  readonly begin = (text: string): string => {
    this.#begun = text;
    this.#at = performance.now();
    return text === '\x1b' ? text : '';
  };

  /** @returns the chunk, preceded by the earlier start when the chunk is its rest */
  complete(chunk: string): string {
    const whole = this.#begun + chunk;
    const isLate = this.#begun !== '' && performance.now() - this.#at < LATE_MS;
    this.#begun = '';
    const isRest = isLate && UNMISTAKABLE.test(whole) && (WHOLE_START.test(whole) || findOpenSequence(whole) === whole);
    return isRest ? whole : chunk;
  }
}
