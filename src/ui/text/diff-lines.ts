/**
 * Formats unified diffs as lines of styled text, with line numbers, signs, syntax colours and marks on changed words.
 */
import {diffWordsWithSpace} from 'diff';
import {getCodeStyle} from './code-style.ts';
import type {Highlight} from './highlight.ts';
import {createLine, type Line, splitLines} from './lines.ts';
import {cutSpans, linkAddresses, MUTED, PLAIN, plainText, type Span, type TextStyle} from './styled-text.tsx';

const FILE: TextStyle = {bold: true};
/** Characters. Comparing longer lines word by word takes too long. */
const MAX_WORDS = 2000;
/**
 * Share of the text that two lines must have in common. Otherwise they are different lines, and nothing in them is
 * marked.
 */
const MIN_SHARED = 0.3;

type Sign = '+' | '-' | ' ';

interface DiffLine {
  readonly sign: Sign;
  /** Line number in the new file; for a removed line, in the old file. */
  readonly number: number;
  readonly text: string;
}

/** Number of a row that is not a line of a file. */
const NO_LINE = 0;

/**
 * Formats the diff of one file without the file names at its head.
 * @param path path of the file, which gives the language
 */
export function formatDiff(patch: string, path: string, highlight: Highlight): Line[] {
  const {before, hunks} = parsePatch(patch.replace(/\n$/, '').split('\n'));
  const language = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const width = Math.max(2, ...hunks.flat().map(({number}) => String(number).length));
  const shown = hunks.map((hunk) => formatHunk(hunk, width, language, highlight));
  const gap = createLine([{text: `${' '.repeat(width)} ⋮`, style: MUTED}]);
  return [
    ...before.map((text) => createLine([{text, style: MUTED}])),
    ...shown.flatMap((lines, index) => (index === 0 ? lines : [gap, ...lines])),
  ];
}

/** Formats the diffs of several files, and the other lines around them. */
export function formatDiffText(text: string, highlight: Highlight): Line[] {
  const shown: Line[] = [];
  let hunk: string[] = [];
  let path = '';
  const endHunk = () => {
    shown.push(...formatDiff(hunk.join('\n'), path, highlight));
    hunk = [];
  };
  for (const line of text.split('\n')) {
    const isIn = hunk.length > 0;
    if (line.startsWith('@@') || (isIn && /^[-+ \\]/.test(line) && !/^--- |^\+\+\+ /.test(line))) {
      hunk.push(line);
      continue;
    }
    if (isIn) endHunk();
    path = /^\+\+\+ (?:b\/)?(.*)$/.exec(line)?.[1] ?? path;
    shown.push(createLine([{text: line, style: /^(?:diff --git |--- |\+\+\+ )/.test(line) ? FILE : PLAIN}]));
  }
  if (hunk.length > 0) endHunk();
  return shown;
}

export function countChanges(patch: string): {readonly added: number; readonly removed: number} {
  const lines = parsePatch(patch.split('\n')).hunks.flat();
  const count = (sign: Sign) => lines.filter((line) => line.sign === sign).length;
  return {added: count('+'), removed: count('-')};
}

function parsePatch(lines: readonly string[]): {before: string[]; hunks: DiffLine[][]} {
  const before: string[] = [];
  const hunks: DiffLine[][] = [];
  let [oldLine, newLine] = [1, 1];
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head) {
      // An empty range has the number of the line before it.
      oldLine = Number(head[1]) + (head[2] === '0' ? 1 : 0);
      newLine = Number(head[3]) + (head[4] === '0' ? 1 : 0);
      hunks.push([]);
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk) {
      if (!/^(?:Index: |=+$|--- |\+\+\+ |diff |index )/.test(line)) before.push(line);
      continue;
    }
    if (line.startsWith('-')) hunk.push({sign: '-', number: oldLine++, text: line.slice(1)});
    else if (line.startsWith('+')) hunk.push({sign: '+', number: newLine++, text: line.slice(1)});
    else if (line.startsWith(' ') || line === '') {
      hunk.push({sign: ' ', number: newLine++, text: line.slice(1)});
      oldLine += 1;
      // "\ No newline at end of file" is not a line of the file.
    } else if (line.startsWith('\\ ')) hunk.push({sign: ' ', number: NO_LINE, text: line.slice(2)});
    // This line says how much was cut.
    else hunks.push([{sign: ' ', number: newLine, text: line}]);
  }
  // A diff without hunks is a text, so all of it is shown.
  return hunks.length === 0 ? {before: [...lines], hunks} : {before, hunks};
}

function formatHunk(hunk: readonly DiffLine[], width: number, language: string, highlight: Highlight): Line[] {
  const side = (without: Sign) => {
    const lines = hunk.filter(({sign}) => sign !== without);
    const spans = highlight(lines.map(({text}) => text).join('\n'), language);
    const split = splitLines(spans.map(({text, scope}) => ({text, style: getCodeStyle(scope)})));
    return new Map(lines.map((line, index) => [line, split[index]?.spans ?? []]));
  };
  const before = side('+');
  const after = side('-');
  const marks = findChangedWords(hunk);
  return hunk.map((line) => {
    const {sign, number} = line;
    const style = SIGN_STYLES[sign];
    const gutter: Span[] = [
      {text: `${(number === NO_LINE ? '' : String(number)).padStart(width)} `, style: MUTED},
      {text: `${sign} `, style},
    ];
    const code = (sign === '-' ? before : after).get(line)!;
    const changed = marks.get(line) ?? [];
    return {
      spans: linkAddresses(colorCode(code, sign, changed)),
      first: gutter,
      rest: [{text: ' '.repeat(width + 3), style: PLAIN}],
    };
  });
}

const SIGN_STYLES: Readonly<Record<Sign, TextStyle>> = {
  '+': {tone: 'added'},
  '-': {tone: 'removed'},
  ' ': PLAIN,
};
const WORD_STYLES: Readonly<Record<Sign, TextStyle>> = {
  '+': {tone: 'addedWord'},
  '-': {tone: 'removedWord'},
  ' ': PLAIN,
};

/** A part of a line, by offsets of characters. */
type Range = readonly [start: number, end: number];

/** Puts syntax colours on the ground of the line. Changed words have another ground. */
function colorCode(code: readonly Span[], sign: Sign, changed: readonly Range[]): Span[] {
  if (sign === ' ') return code.map(({text, style}) => ({text, style: style.tone ? style : MUTED}));
  const ground = sign === '+' ? 'added' : 'removed';
  const spans: Span[] = [];
  let at = 0;
  const add = (end: number) => {
    for (const {text, style} of cutSpans(code, at, end)) spans.push({text, style: {...style, ground}});
  };
  for (const [start, end] of changed) {
    add(start);
    spans.push({text: plainText(cutSpans(code, start, end)), style: WORD_STYLES[sign]});
    at = end;
  }
  add(plainText(code).length);
  return spans;
}

/** Pairs the removed lines of each change with the added ones, and compares each pair. */
function findChangedWords(hunk: readonly DiffLine[]): Map<DiffLine, readonly Range[]> {
  const marks = new Map<DiffLine, readonly Range[]>();
  for (let at = 0; at < hunk.length; ) {
    const removed = takeWhile(hunk, at, '-');
    const added = takeWhile(hunk, at + removed.length, '+');
    for (const [index, line] of removed.entries()) {
      const other = added[index];
      // Lines are paired only when their number stays the same.
      if (other && removed.length === added.length) markPair(line, other, marks);
    }
    at += Math.max(1, removed.length + added.length);
  }
  return marks;
}

function takeWhile(hunk: readonly DiffLine[], from: number, sign: Sign): DiffLine[] {
  const end = hunk.findIndex((line, index) => index >= from && line.sign !== sign);
  return hunk.slice(from, end < 0 ? undefined : end);
}

function markPair(before: DiffLine, after: DiffLine, marks: Map<DiffLine, readonly Range[]>): void {
  if (before.text.length + after.text.length > MAX_WORDS) return;
  const changes = diffWordsWithSpace(before.text, after.text);
  const shared = changes.filter(({added, removed}) => !added && !removed);
  const length = shared.reduce((sum, {value}) => sum + value.trim().length, 0);
  if (length < MIN_SHARED * Math.max(before.text.trim().length, after.text.trim().length)) return;
  const ranges = {'-': [] as Range[], '+': [] as Range[]};
  let [oldAt, newAt] = [0, 0];
  for (const {value, added, removed} of changes) {
    if (removed) ranges['-'].push([oldAt, oldAt + value.length]);
    if (added) ranges['+'].push([newAt, newAt + value.length]);
    if (!added) oldAt += value.length;
    if (!removed) newAt += value.length;
  }
  marks.set(before, ranges['-']);
  marks.set(after, ranges['+']);
}
