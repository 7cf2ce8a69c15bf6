/** Replaces strings in a text. Each must occur exactly once, unless `replace_all` is set. */
import {cutEnd} from '../../core/util/text.ts';
import {getLineEnd} from './text-file.ts';

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

type Edited =
  | {readonly text: string; readonly replacements: number}
  /** Says for the model why nothing was changed and what to do. */
  | {readonly problem: string};

/**
 * Applies the edits in order, each to the result of the previous one. When one fails, none is applied. `\n` in an edit
 * also matches `\r\n`. The inserted text gets the line ends of the replaced text, see `fitReplacement`.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): Edited {
  let current = text;
  let replacements = 0;
  for (const [index, edit] of edits.entries()) {
    const next = applyEdit(current, edit);
    if ('problem' in next) {
      const which = edits.length > 1 ? `edits[${index}]: ` : '';
      return {problem: `${which}${next.problem} Nothing was changed.`};
    }
    current = next.text;
    replacements += next.replacements;
  }
  return {text: current, replacements};
}

export const MAX_LINES_NAMED = 20;

function applyEdit(text: string, edit: TextEdit): Edited {
  const wanted = fold(edit.old_string);
  const plain = fold(text);
  const starts = wanted === '' ? [] : findMatches(wanted, plain);
  const problem = describeProblem(
    edit,
    starts.length,
    starts.slice(0, MAX_LINES_NAMED).map((start) => countLineEnds(plain, 0, start) + 1),
  );
  if (problem !== undefined) return {problem};
  if (starts.length === 0) return {problem: notFound(wanted, plain)};
  const toOffset = offsetsIn(text);
  const lineEnd = getLineEnd(text);
  const parts: string[] = [];
  let from = 0;
  for (const start of starts) {
    const first = toOffset(start);
    const end = toOffset(start + wanted.length);
    parts.push(text.slice(from, first), fitReplacement(text.slice(first, end), wanted, edit.new_string, lineEnd));
    from = end;
  }
  return {text: parts.join('') + text.slice(from), replacements: starts.length};
}

/** Says what is wrong with an edit that matches `count` times. @param lines numbers of the first lines with a match */
export function describeProblem(edit: TextEdit, count: number, lines: readonly number[]): string | undefined {
  const wanted = fold(edit.old_string);
  if (wanted === '') return 'old_string is empty: give the text to replace, or use write_file.';
  if (wanted === fold(edit.new_string)) return 'old_string and new_string are the same (line ends do not count).';
  if (count < 2 || edit.replace_all === true) return undefined;
  const where = `${lines.join(', ')}${count > lines.length ? ', …' : ''}`;
  return `old_string is there ${count} times (lines ${where}): add lines around it, or set replace_all.`;
}

/** Returns the offset of each match. Matches do not overlap. */
function findMatches(wanted: string, text: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) starts.push(at);
  return starts;
}

/** Counts the line ends from one offset to another. */
export function countLineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * Maps offsets in the text with `\n` for each `\r\n` to offsets in `text`. The offsets must be passed in ascending
 * order.
 */
export function offsetsIn(text: string): (folded: number) => number {
  let removed = 0;
  let next = text.indexOf('\r\n');
  return (folded) => {
    // Count a `\r` only when the offset is past it, so that an edit that ends at a line's end keeps the whole `\r\n`.
    while (next !== -1 && next - removed < folded) {
      removed += 1;
      next = text.indexOf('\r\n', next + 2);
    }
    return folded + removed;
  };
}

/** Replaces each `\r\n` by `\n`. */
export function fold(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/**
 * Returns the text that replaces a passage of a file. Both ends of the passage that the edit leaves the same keep their
 * bytes, and new lines get the line ends of the passage, or of the file.
 * @param wanted the passage with `\n` as line ends
 * @param lineEnd line end of most lines of the file
 */
export function fitReplacement(
  passage: string,
  wanted: string,
  inserted: string,
  lineEnd: '\n' | '\r\n' | undefined,
): string {
  const plain = fold(inserted);
  const {same, sameAtEnd} = countCommonEnds(wanted, plain);
  const toOffset = offsetsIn(passage);
  const start = passage.slice(0, toOffset(same));
  const end = passage.slice(toOffset(wanted.length - sameAtEnd));
  const middle = plain.slice(same, plain.length - sameAtEnd);
  const ends = getLineEnd(passage) ?? lineEnd ?? (inserted.includes('\r\n') ? '\r\n' : '\n');
  return start + (ends === '\n' ? middle : middle.replaceAll('\n', ends)) + end;
}

/** Counts the items at the start, and after them at the end, that both have in common. */
export function countCommonEnds(a: ArrayLike<string>, b: ArrayLike<string>) {
  const shorter = Math.min(a.length, b.length);
  let same = 0;
  while (same < shorter && a[same] === b[same]) same += 1;
  let sameAtEnd = 0;
  while (sameAtEnd < shorter - same && a[a.length - 1 - sameAtEnd] === b[b.length - 1 - sameAtEnd]) sameAtEnd += 1;
  return {same, sameAtEnd};
}

const MAX_SHOWN_CHARS = 1000;

/**
 * Describes for the model what the file has instead of the text to replace, so that its next try succeeds. Both texts
 * have `\n` as line ends.
 */
function notFound(wanted: string, text: string): string {
  if (text.trim() === '') return 'The file is empty: use write_file.';
  const wantedLines = trimBlankEnds(wanted.split('\n'));
  if (wantedLines.length > 0 && wantedLines.every((line) => /^\s*\d+\t/.test(line))) {
    return 'old_string was not found: leave out the line numbers and tabs that read_file puts before each line.';
  }
  const lines = text.split('\n');
  const near = sameButForSpace(wantedLines, lines);
  if (near !== undefined) {
    const there = lines.slice(near, near + wantedLines.length).join('\n');
    return `old_string was not found: only white space differs at line ${near + 1}, where the file has:\n${cutEnd(there, MAX_SHOWN_CHARS)}\n`;
  }
  return firstDifference(wantedLines, lines) ?? 'old_string was not found.';
}

/** Returns the index of the first line of a passage that differs from `wanted` only in white space. */
function sameButForSpace(wanted: readonly string[], lines: readonly string[]): number | undefined {
  const bare = (line: string): string => line.replace(/\s+/g, '');
  const bareWanted = wanted.map(bare);
  const first = bareWanted[0];
  if (bareWanted.every((line) => line === '')) return undefined;
  const bareLines = lines.map(bare);
  const isHere = (at: number): boolean => bareWanted.every((line, index) => bareLines[at + index] === line);
  const exact = bareLines.findIndex((line, at) => line === first && isHere(at));
  if (exact !== -1) return exact;
  // A single line may also be only a part of a line.
  const within = bareWanted.length === 1 ? bareLines.findIndex((line) => line.includes(first as string)) : -1;
  return within === -1 ? undefined : within;
}

/** Describes a passage of which only the first lines are in the file. */
function firstDifference(wanted: readonly string[], lines: readonly string[]): string | undefined {
  let best = {at: -1, same: 0};
  for (const at of lines.keys()) {
    let same = 0;
    while (same < wanted.length && lines[at + same]?.trim() === wanted[same]?.trim()) same += 1;
    if (same > best.same) best = {at, same};
  }
  if (best.same === 0 || wanted.slice(0, best.same).every((line) => line.trim() === '')) return undefined;
  const line = best.at + best.same;
  const there =
    line < lines.length ? `the file has:\n${cutEnd(lines[line] as string, MAX_SHOWN_CHARS)}` : 'the file ends';
  return (
    `old_string was not found: its first ${best.same} ${best.same === 1 ? 'line is' : 'lines are'} at line ` +
    `${best.at + 1}, but at line ${line + 1} ${there}\nwhere old_string has:\n${cutEnd(wanted[best.same] ?? '', MAX_SHOWN_CHARS)}\n`
  );
}

function trimBlankEnds(lines: readonly string[]): string[] {
  const isText = (line: string): boolean => line.trim() !== '';
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}
