/** Turns a changed text into edits for a tool that matches plain strings, and replaces texts and names. */
import {getLanguage} from '../../../core/util/file-kinds.ts';
import type {Edit} from '../../toolbox.ts';
import {escapeRegExp} from '../../words.ts';

/**
 * Creates one edit for each run of changed lines, with enough lines around it to be unique. The edits are checked by
 * applying them.
 * @returns undefined when no such edits give exactly the new text
 */
export function createEdits(before: readonly string[], after: readonly string[]): readonly Edit[] | undefined {
  const regions = before.length === after.length ? findChangedLines(before, after) : [findChangedPart(before, after)];
  const tries = [regions, [findChangedPart(before, after)]];
  for (const some of tries) {
    const edits = some.map((region) => createEdit(before, after, region));
    if (applyEdits(before.join('\n'), edits) === after.join('\n')) return edits;
  }
  return undefined;
}

/** Lines from `start` up to and without `end`. In the new text the region ends `grown` lines later. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly grown: number;
}

function findChangedLines(before: readonly string[], after: readonly string[]): readonly Region[] {
  const regions: Region[] = [];
  for (const [index, line] of before.entries()) {
    if (line === after[index]) continue;
    const last = regions.at(-1);
    if (last?.end === index) regions[regions.length - 1] = {...last, end: index + 1};
    else regions.push({start: index, end: index + 1, grown: 0});
  }
  return regions;
}

function findChangedPart(before: readonly string[], after: readonly string[]): Region {
  const start = before.findIndex((line, index) => line !== after[index]);
  const from = start < 0 ? before.length : start;
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - from &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  return {start: from, end: before.length - tail, grown: after.length - before.length};
}

/** Creates an edit, and widens it until its old text is unique. The lines around it are the same in both texts. */
function createEdit(before: readonly string[], after: readonly string[], {start, end, grown}: Region): Edit {
  const whole = `\n${before.join('\n')}\n`;
  let [from, to] = [start, end];
  const isUnique = () => to > from && whole.split(before.slice(from, to).join('\n')).length === 2;
  while (!isUnique() && (from > 0 || to < before.length)) {
    from = Math.max(0, from - 1);
    to = Math.min(before.length, to + 1);
  }
  // The wider part may contain other changed lines, which are changed in the new text, too.
  return {old_string: before.slice(from, to).join('\n'), new_string: after.slice(from, to + grown).join('\n')};
}

/** Applies the edits. Returns undefined when the edit tool would refuse one. */
function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  let now = text;
  for (const {old_string, new_string} of edits) {
    const parts = now.split(old_string);
    if (parts.length !== 2 || old_string === new_string) return undefined;
    now = parts.join(new_string);
  }
  return now;
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

/** Replaces a name in code. Comments and strings stay, as far as a scanner recognizes them. */
export function replaceName(path: string, lines: readonly string[], from: string, to: string): Replaced {
  const form = new RegExp(`(?<![\\p{L}\\p{N}_$])${escapeRegExp(from)}(?![\\p{L}\\p{N}_$])`, 'gu');
  const text = lines.join('\n');
  const code = blankText(text, getLanguage(path));
  let places = 0;
  const changed = text.replace(form, (name, offset: number) => {
    if (code.slice(offset, offset + name.length) !== name) return name;
    places++;
    return to;
  });
  return {lines: changed.split('\n'), places};
}

const HASH_COMMENTS = new Set(['Python', 'Ruby', 'Shell', 'Perl', 'R', 'Julia', 'Elixir', 'YAML', 'TOML', 'PHP']);

/** Replaces comments and strings by spaces. Code inside strings (`${…}`, `#{…}`) stays. */
function blankText(text: string, language: string | undefined): string {
  const forms = [
    ...(HASH_COMMENTS.has(language ?? '') ? ['#(?![{[]).*'] : []),
    ...(language === 'Python' ? ['"""[\\s\\S]*?"""', "'''[\\s\\S]*?'''"] : ['/\\*[\\s\\S]*?\\*/', '//.*']),
    '"(?:\\\\.|[^"\\\\\\n])*"',
    // An apostrophe before a letter may be a lifetime of Rust.
    language === 'Rust' ? "'(?:\\\\.|[^'\\\\])'" : "'(?:\\\\.|[^'\\\\\\n])*'",
    '`(?:\\\\[\\s\\S]|[^`\\\\])*`',
  ];
  return text.replace(new RegExp(forms.join('|'), 'g'), (whole) =>
    whole.replace(/[$#]\{[^{}]*\}|[^\n]/g, (part) =>
      part.length > 1 && /^["`]/.test(whole) ? part : part.replace(/./g, ' '),
    ),
  );
}
