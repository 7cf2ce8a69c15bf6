/** Applies the edits of a rename to the lines of one file. */
import type {RenameEdit} from '../contract.ts';

/** @returns undefined when a place has another text, because the file changed since the plan was made */
export function applyEdits(
  lines: readonly string[],
  edits: readonly Omit<RenameEdit, 'path'>[],
): readonly string[] | undefined {
  const after = [...lines];
  // Edits are applied from the end, so that earlier places stay valid.
  for (const {line, column, oldText, newText} of edits.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    const old = after[line - 1] ?? '';
    if (!old.startsWith(oldText, column - 1)) return undefined;
    after[line - 1] = old.slice(0, column - 1) + newText + old.slice(column - 1 + oldText.length);
  }
  return after;
}
