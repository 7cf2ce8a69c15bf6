/** What changed between two texts, as unified hunks (no file headers). */
import {structuredPatch} from 'diff';

const CONTEXT_LINES = 3;
/** Texts that have little in common take long to compare. */
const TIME_LIMIT_MS = 300;
/** More is no use to a person either. */
const MAX_CHARS = 100_000;

/** Empty when nothing changed; one line that says so when comparing would take too long. */
export function patchOf(before: string, after: string): string {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: TIME_LIMIT_MS,
  });
  if (patch === undefined) return '(the change is too large to be shown line by line)';
  const lines = patch.hunks.flatMap(({oldStart, oldLines, newStart, newLines, lines}) => [
    // A range without lines is named by the line before it.
    `@@ -${oldLines === 0 ? oldStart - 1 : oldStart},${oldLines} +${newLines === 0 ? newStart - 1 : newStart},${newLines} @@`,
    ...lines.map((line) => line.replace(/\r$/, '')),
  ]);
  return boundedPatch(lines.join('\n'), MAX_CHARS);
}

/** Whole lines of a patch up to `maxChars` characters, and how many more there are. */
export function boundedPatch(patch: string, maxChars: number): string {
  if (patch.length <= maxChars) return patch;
  const kept = patch.slice(0, Math.max(0, patch.lastIndexOf('\n', maxChars)));
  const more = patch.slice(kept.length).split('\n').length - 1;
  return `${kept}\n(${more} more lines of the diff)`;
}
