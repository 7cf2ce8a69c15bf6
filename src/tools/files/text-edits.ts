/** Replacing strings in a text: each must be there, and once, unless all are meant. */
import {notFound} from './edit-hints.ts';

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

export type Edited =
  | {readonly text: string; readonly replacements: number}
  /** Why nothing was changed, and what to do, for the model. */
  | {readonly problem: string};

/**
 * Applies the edits in order, each to the result of the one before; all or none.
 * `\n` in an edit also matches `\r\n`, and what is put in takes the line ends of the text.
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

const MAX_LINES_NAMED = 20;

function applyEdit(text: string, edit: TextEdit): Edited {
  const wanted = edit.old_string.replaceAll('\r\n', '\n');
  if (wanted === '') return {problem: 'old_string is empty: give the text to replace, or use write_file.'};
  if (wanted === edit.new_string.replaceAll('\r\n', '\n')) {
    return {problem: 'old_string and new_string are the same (line ends do not count).'};
  }
  const plain = text.replaceAll('\r\n', '\n');
  const starts = startsOf(wanted, plain);
  if (starts.length === 0) return {problem: notFound(wanted, plain)};
  if (starts.length > 1 && edit.replace_all !== true) {
    const lines = starts.slice(0, MAX_LINES_NAMED).map((start) => lineNumberAt(plain, start));
    const where = `${lines.join(', ')}${starts.length > MAX_LINES_NAMED ? ', …' : ''}`;
    return {
      problem: `old_string is there ${starts.length} times (lines ${where}): add lines around it, or set replace_all.`,
    };
  }
  const toOffset = offsetsIn(text);
  const replacement = withLineEndsOf(text, edit.new_string);
  const parts: string[] = [];
  let from = 0;
  for (const start of starts) {
    parts.push(text.slice(from, toOffset(start)), replacement);
    from = toOffset(start + wanted.length);
  }
  return {text: parts.join('') + text.slice(from), replacements: starts.length};
}

/** Of each match, none overlapping another. */
function startsOf(wanted: string, text: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) starts.push(at);
  return starts;
}

/** Counted from 1. */
function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Offsets in the text whose `\r\n` were folded to `\n` → offsets in `text`, for ascending arguments only. */
function offsetsIn(text: string): (folded: number) => number {
  let removed = 0;
  let next = text.indexOf('\r\n');
  return (folded) => {
    // A `\r` counts once the offset lies past it, so that an edit up to a line's end leaves the whole `\r\n` alone.
    while (next !== -1 && next - removed < folded) {
      removed += 1;
      next = text.indexOf('\r\n', next + 2);
    }
    return folded + removed;
  };
}

function withLineEndsOf(text: string, inserted: string): string {
  const crlf = text.split('\r\n').length - 1;
  const lf = text.split('\n').length - 1 - crlf;
  return crlf > lf ? inserted.replace(/\r?\n/g, '\r\n') : inserted;
}
