/** Formats the difference of two texts as unified hunks, without file headers. */
import {structuredPatch} from 'diff';
import {countCommonEnds} from './text-edits.ts';

const CONTEXT_LINES = 3;
/** Limits the time for two texts that have little in common. */
const TIME_LIMIT_MS = 200;
const MAX_CHARS = 100_000;

/**
 * Returns the patch, with at most 100,000 characters. It is empty when nothing changed.
 * @param firstLine number of the first line when the texts are parts of a file
 */
export function formatPatch(before: string, after: string, firstLine = 1): string {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: TIME_LIMIT_MS,
  });
  const hunks = patch?.hunks ?? [oneHunk(before.split('\n'), after.split('\n'))];
  const lines = hunks.flatMap(({oldStart, oldLines, newStart, newLines, lines}) => [
    `@@ -${formatRange(oldStart + firstLine - 1, oldLines)} +${formatRange(newStart + firstLine - 1, newLines)} @@`,
    ...lines.map((line) => line.replace(/\r$/, '')),
  ]);
  return cutPatch(lines.join('\n'), MAX_CHARS);
}

/** Returns the first lines of a patch, up to `maxChars` characters, and one line with the number of the others. */
export function cutPatch(patch: string, maxChars: number): string {
  if (patch.length <= maxChars) return patch;
  const kept = patch.slice(0, Math.max(0, patch.lastIndexOf('\n', maxChars)));
  const more = patch.slice(kept.length).split('\n').length - 1;
  return `${kept}\n(${more} more lines of the diff)`;
}

/** In the unified format an empty range has the number of the line before it. */
function formatRange(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/**
 * Makes one hunk of texts that take too long to compare: all lines between the common start and the common end count as
 * changed.
 */
function oneHunk(before: readonly string[], after: readonly string[]): Hunk {
  const {same, sameAtEnd} = countCommonEnds(before, after);
  const from = Math.max(0, same - CONTEXT_LINES);
  const context = Math.min(sameAtEnd, CONTEXT_LINES);
  const removed = before.slice(same, before.length - sameAtEnd);
  const added = after.slice(same, after.length - sameAtEnd);
  const kept = (lines: readonly string[]): string[] => lines.map((line) => ` ${line}`);
  return {
    oldStart: from + 1,
    newStart: from + 1,
    oldLines: same - from + removed.length + context,
    newLines: same - from + added.length + context,
    lines: [
      ...kept(before.slice(from, same)),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...kept(before.slice(before.length - sameAtEnd, before.length - sameAtEnd + context)),
    ],
  };
}
