/** Turns "replace A with B in this text" into edits for a tool that matches plain strings. */
import {escapeRegExp} from '../../definitions.ts';
import type {Edit} from '../../toolbox.ts';

export interface Change {
  readonly edits: readonly Edit[];
  readonly places: number;
}

const MAX_EDITS = 60;

export function countMatches(lines: readonly string[], from: string, words: boolean): number {
  return from === '' ? 0 : [...lines.join('\n').matchAll(createMatcher(from, words))].length;
}

/**
 * Creates the edits, and applies them here first to check them.
 * @param words replace whole words only: `foo` in `fooBar` is not changed.
 * @returns undefined when no edits give exactly the wanted text.
 */
export function createEdits(lines: readonly string[], from: string, to: string, words: boolean): Change | undefined {
  const places = countMatches(lines, from, words);
  if (places === 0) return {edits: [], places};
  const text = lines.join('\n');
  const wanted = replaceIn(text, from, to, words);
  const single: Edit =
    text.split(from).length === 2
      ? {old_string: from, new_string: to}
      : {old_string: from, new_string: to, replace_all: true};
  const tries = [[single], createLineEdits(lines, from, to, words), createRegionEdit(lines, from, to, words)];
  const edits = tries.find((one) => one.length > 0 && one.length <= MAX_EDITS && applyEdits(text, one) === wanted);
  return edits && {edits, places};
}

function createMatcher(from: string, words: boolean): RegExp {
  const plain = escapeRegExp(from);
  return new RegExp(words ? `(?<![\\p{L}\\p{N}_$])${plain}(?![\\p{L}\\p{N}_$])` : plain, 'gu');
}

function replaceIn(text: string, from: string, to: string, words: boolean): string {
  // A function, because `$&` in a replacement string would be a pattern.
  return text.replace(createMatcher(from, words), () => to);
}

/** One edit for each distinct line. */
function createLineEdits(lines: readonly string[], from: string, to: string, words: boolean): readonly Edit[] {
  const touched = lines.filter((line) => replaceIn(line, from, to, words) !== line);
  const whole = lines.join('\n');
  return [...new Set(touched)].map((line) => {
    const edit = {old_string: line, new_string: replaceIn(line, from, to, words)};
    return whole.split(line).length > 2 ? {...edit, replace_all: true} : edit;
  });
}

/** One edit from the first to the last line that changes, with more lines around it until it is unique. */
function createRegionEdit(lines: readonly string[], from: string, to: string, words: boolean): readonly Edit[] {
  const isTouched = (line: string) => replaceIn(line, from, to, words) !== line;
  let start = lines.findIndex(isTouched);
  let end = lines.findLastIndex(isTouched);
  const whole = lines.join('\n');
  const region = () => lines.slice(start, end + 1).join('\n');
  while (whole.split(region()).length > 2 && (start > 0 || end < lines.length - 1)) {
    start = Math.max(0, start - 1);
    end = Math.min(lines.length - 1, end + 1);
  }
  return [{old_string: region(), new_string: replaceIn(region(), from, to, words)}];
}

/** The text after the edits. Undefined when the edit tool would refuse one. */
function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  let now = text;
  for (const {old_string, new_string, replace_all} of edits) {
    const parts = now.split(old_string);
    if (parts.length < 2 || (parts.length > 2 && !replace_all) || old_string === new_string) return undefined;
    now = parts.join(new_string);
  }
  return now;
}
