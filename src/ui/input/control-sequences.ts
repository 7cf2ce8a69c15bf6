/**
 * Keys and replies of the terminal that come in pieces, over a slow line. A reply, perhaps to a question of the program before,
 * may come at any time: it must never count as typed.
 */

/** How the strings begin in which a terminal says something of itself, such as its colours: no one types so much of them. */
const STRING_HEAD = String.raw`(?:\]\d{1,4};|P[\d;]*[>=!$+][\d;]*[a-z|])`;
const STRING_TEXT = String.raw`[\x20-\x7e]{0,256}`;
/** Ink takes them for text. */
const STRING_REPLY = new RegExp(String.raw`\x1b${STRING_HEAD}${STRING_TEXT}(?:\x07|\x1b\\)`, 'g');
/** The beginning of a key or a reply, at the end of what was read. */
const OPEN = new RegExp(
  String.raw`\x1b(?:\[[0-?]*[ -/]*|O|\]\d{0,4}|P[\d;]*[>=!$+]?[\d;]*|${STRING_HEAD}${STRING_TEXT}\x1b?)?$`,
);
/** No one types what begins so. */
const UNMISTAKABLE = new RegExp(String.raw`^\x1b(?:\[(?:[?>=]|\d+[;:~])|${STRING_HEAD})`);
const WHOLE_START = new RegExp(
  String.raw`^\x1b(?:\[[?>=][\d;:]*\$?[cnuytRS]|\[[\d;:]+[~A-FHPQRSntu]|${STRING_HEAD}${STRING_TEXT}(?:\x07|\x1b\\))`,
);
/** So long after its beginning, what comes is not its rest. Milliseconds. */
const LATE_MS = 5_000;

/** The unfinished key or reply at the end of what was read; empty when there is none. */
export function findOpenSequence(text: string): string {
  return OPEN.exec(text)?.[0] ?? '';
}

/** Ink drops whole replies in the form of keys by itself. */
export function withoutReplies(text: string): string {
  return text.includes('\x1b') ? text.replace(STRING_REPLY, '') : text;
}

/** The beginning of a key or a reply whose rest did not come in time. It may come still. */
export class LateSequence {
  #begun = '';
  #at = 0;

  /** The rest did not come. @returns the key that it is all the same: Esc alone is one, half a key is none */
  readonly begin = (text: string): string => {
    this.#begun = text;
    this.#at = performance.now();
    return text === '\x1b' ? text : '';
  };

  /** @returns the chunk, with its beginning if it is the rest of what was begun */
  complete(chunk: string): string {
    const whole = this.#begun + chunk;
    const isLate = this.#begun !== '' && performance.now() - this.#at < LATE_MS;
    this.#begun = '';
    const isRest = isLate && UNMISTAKABLE.test(whole) && (WHOLE_START.test(whole) || findOpenSequence(whole) === whole);
    return isRest ? whole : chunk;
  }
}
