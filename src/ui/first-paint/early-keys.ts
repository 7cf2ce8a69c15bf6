/**
 * Collects keys that are typed before the screen is loaded. Plain letters go into the prompt at once. From the first
 * other key on, all keys wait for the screen, which knows their meaning.
 */

export interface EarlyKeys {
  /** The text in the prompt. */
  readonly typed: string;
  readonly waiting: string;
}

export const NO_KEYS: EarlyKeys = {typed: '', waiting: ''};

const BACKSPACE = '\x7f';
const CTRL_C = '\x03';
const CTRL_D = '\x04';
/** Matches letters that every terminal shows in one column. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]$/;

/** @param columns columns of the prompt's row; letters that do not fit wait */
export function takeKeys(keys: EarlyKeys, chunk: string, columns: number): EarlyKeys {
  let {typed, waiting} = keys;
  for (const key of chunk) {
    if (waiting !== '') waiting += key;
    // A question mark in an empty prompt asks for the list of keys.
    else if (PLAIN.test(key) && typed.length < columns && !(key === '?' && typed === '')) typed += key;
    else if (key === BACKSPACE) typed = typed.slice(0, -1);
    else if (key === CTRL_C && typed !== '') typed = '';
    else waiting += key;
  }
  return {typed, waiting};
}

/** Tells whether the keys mean to leave. The screen leaves with the same keys. */
export function isLeaving({typed, waiting}: EarlyKeys): boolean {
  return typed === '' && (waiting === CTRL_D || waiting === CTRL_C + CTRL_C || waiting === CTRL_C + CTRL_D);
}
