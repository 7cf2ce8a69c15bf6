/** Turns a changed text into an edit for a tool that matches plain strings, and replaces texts. */
import type {Edit} from '../../toolbox.ts';
import {escapeRegExp} from '../../words.ts';

/**
 * Creates the edit of all lines from the first that changed to the last, and widens it until its old text is unique.
 * Returns undefined when no line changed, or when the whole text is repeated.
 */
export function createEdit(before: readonly string[], after: readonly string[]): Edit | undefined {
  const start = before.findIndex((line, index) => line !== after[index]);
  let from = start < 0 ? before.length : start;
  const length = Math.min(before.length, after.length) - from;
  let tail = 0;
  while (tail < length && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const whole = `\n${before.join('\n')}\n`;
  let to = before.length - tail;
  const isUnique = () => to > from && whole.split(before.slice(from, to).join('\n')).length === 2;
  while (!isUnique()) {
    if (from === 0 && to === before.length) return undefined;
    from = Math.max(0, from - 1);
    to = Math.min(before.length, to + 1);
  }
  const grown = after.length - before.length;
  return {old_string: before.slice(from, to).join('\n'), new_string: after.slice(from, to + grown).join('\n')};
}

interface Replaced {
  readonly lines: readonly string[];
  readonly places: number;
}

/** Replaces the text everywhere. @param words replace only whole words: `foo` in `fooBar` stays */
export function replaceText(lines: readonly string[], from: string, to: string, words: boolean): Replaced {
  const plain = escapeRegExp(from);
  const form = new RegExp(words ? `(?<![\\p{L}\\p{N}_$])${plain}(?![\\p{L}\\p{N}_$])` : plain, 'gu');
  let places = 0;
  // A function is needed, because `$&` in a replacement string would be a pattern.
  const text = lines.join('\n').replace(form, () => {
    places++;
    return to;
  });
  return {lines: text.split('\n'), places};
}
