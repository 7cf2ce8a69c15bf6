/** Turns "A becomes B in this text" into edits that a tool with plain string matching carries out exactly. */
import {escapeRegExp} from '../../definitions.ts';
import type {Edit} from '../../toolbox.ts';

export interface Change {
  readonly edits: readonly Edit[];
  readonly places: number;
}

const MAX_EDITS = 60;

export function countMatches(lines: readonly string[], from: string, words: boolean): number {
  return from === '' ? 0 : [...lines.join('\n').matchAll(matcher(from, words))].length;
}

/**
 * With `words`, `foo` in `fooBar` stays. The edits are tried out here first.
 * @returns undefined when no edits would give exactly the wanted text.
 */
export function editsFor(lines: readonly string[], from: string, to: string, words: boolean): Change | undefined {
  const places = countMatches(lines, from, words);
  if (places === 0) return {edits: [], places};
  const text = lines.join('\n');
  const wanted = changed(text, from, to, words);
  const blunt: Edit =
    text.split(from).length === 2
      ? {old_string: from, new_string: to}
      : {old_string: from, new_string: to, replace_all: true};
  const tries = [[blunt], lineEdits(lines, from, to, words), regionEdit(lines, from, to, words)];
  const edits = tries.find((one) => one.length > 0 && one.length <= MAX_EDITS && applied(text, one) === wanted);
  return edits && {edits, places};
}

function matcher(from: string, words: boolean): RegExp {
  const plain = escapeRegExp(from);
  return new RegExp(words ? `(?<![\\p{L}\\p{N}_$])${plain}(?![\\p{L}\\p{N}_$])` : plain, 'gu');
}

function changed(text: string, from: string, to: string, words: boolean): string {
  // A function, since `$&` in the new name is no pattern.
  return text.replace(matcher(from, words), () => to);
}

/** One edit for each different line, with its whole text as context. */
function lineEdits(lines: readonly string[], from: string, to: string, words: boolean): readonly Edit[] {
  const touched = lines.filter((line) => changed(line, from, to, words) !== line);
  const whole = lines.join('\n');
  return [...new Set(touched)].map((line) => {
    const edit = {old_string: line, new_string: changed(line, from, to, words)};
    return whole.split(line).length > 2 ? {...edit, replace_all: true} : edit;
  });
}

/** One edit from the first to the last line that changes, widened until it is unique. */
function regionEdit(lines: readonly string[], from: string, to: string, words: boolean): readonly Edit[] {
  const isTouched = (line: string) => changed(line, from, to, words) !== line;
  let start = lines.findIndex(isTouched);
  let end = lines.findLastIndex(isTouched);
  const whole = lines.join('\n');
  const region = () => lines.slice(start, end + 1).join('\n');
  while (whole.split(region()).length > 2 && (start > 0 || end < lines.length - 1)) {
    start = Math.max(0, start - 1);
    end = Math.min(lines.length - 1, end + 1);
  }
  return [{old_string: region(), new_string: changed(region(), from, to, words)}];
}

/** What the edit tool would make of it; undefined where it would refuse. */
function applied(text: string, edits: readonly Edit[]): string | undefined {
  let now = text;
  for (const {old_string, new_string, replace_all} of edits) {
    const parts = now.split(old_string);
    if (parts.length < 2 || (parts.length > 2 && !replace_all) || old_string === new_string) return undefined;
    now = parts.join(new_string);
  }
  return now;
}
