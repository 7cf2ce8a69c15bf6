/** Carries out the edits of a rename in the lines of one file. */
import type {RenameEdit} from '../contract.ts';

/** @returns undefined where another text stands at one of the places: the file changed since the plan was made */
export function applyEdits(
  lines: readonly string[],
  edits: readonly Omit<RenameEdit, 'path'>[],
): readonly string[] | undefined {
  const after = [...lines];
  // From the end, so that places before an edit stay where they are.
  for (const {line, column, oldText, newText} of edits.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    const old = after[line - 1] ?? '';
    if (!old.startsWith(oldText, column - 1)) return undefined;
    after[line - 1] = old.slice(0, column - 1) + newText + old.slice(column - 1 + oldText.length);
  }
  return after;
}
