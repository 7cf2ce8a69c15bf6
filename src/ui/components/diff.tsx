/** Unified diffs in colours; without colours, the signs at the beginning of the lines say the same. */
import {Box} from 'ink';
import {keyed, type Span, Styled, StyledText, type TextStyle} from '../text/styled-text.tsx';
import {wrapText} from '../text/wrap.ts';

const MAX_DIFF_LINES = 60;

const PLAIN: TextStyle = {};
const FILE: TextStyle = {bold: true};
const ADDED: TextStyle = {tone: 'success'};
const REMOVED: TextStyle = {tone: 'error'};
const HUNK: TextStyle = {tone: 'accent'};
const CONTEXT: TextStyle = {tone: 'muted'};

function lineStyle(line: string): TextStyle {
  if (line.startsWith('+')) return ADDED;
  if (line.startsWith('-')) return REMOVED;
  return line.startsWith('@@') ? HUNK : CONTEXT;
}

/** The diff of one file, below a line that names the file: the names in the diff itself are left out. */
export function Patch({patch}: {readonly patch: string}) {
  const lines = withoutFileNames(patch.replace(/\n$/, '').split('\n'));
  const shown = lines.slice(0, MAX_DIFF_LINES);
  return (
    <Box flexDirection="column">
      {keyed(shown).map(({key, value}) => (
        <PatchLine key={key} line={value} />
      ))}
      <MoreLines count={lines.length - shown.length} />
    </Box>
  );
}

/** Says how many lines are not shown. @param where how to see them */
export function MoreLines({count, where = ''}: {readonly count: number; readonly where?: string}) {
  return count > 0 ? <Styled tone="muted">{`… ${count} more ${count === 1 ? 'line' : 'lines'}${where}`}</Styled> : null;
}

/** Only lines before the first hunk are left out: further down, `--- x` may be a removed line. */
function withoutFileNames(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.startsWith('@@'));
  const isHead = lines.slice(0, first).every((line) => /^(?:Index: |=+$|--- |\+\+\+ |diff |index )/.test(line));
  return first > 0 && isHead ? lines.slice(first) : lines;
}

/** One line of a diff, or one row of a wrapped line. @param sign the beginning of the whole line, which gives the colour */
export function PatchLine({line, sign = line}: {readonly line: string; readonly sign?: string}) {
  return <Styled {...lineStyle(sign)}>{line === '' ? ' ' : line}</Styled>;
}

/** A diff whose long lines are wrapped. */
export function WrappedDiff({diff, columns}: {readonly diff: string; readonly columns: number}) {
  const rows = diff
    .split('\n')
    .flatMap((line) => wrapText(line, columns).map((text) => ({text, sign: line.slice(0, 2)})));
  return (
    <Box flexDirection="column">
      {keyed(rows).map(({key, value: {text, sign}}) => (
        <PatchLine key={key} line={text} sign={sign} />
      ))}
    </Box>
  );
}

/** The diffs of several files one after another, with other lines around them. */
export function DiffText({text, columns}: {readonly text: string; readonly columns: number}) {
  let isHunk = false;
  const spans: Span[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('@@')) isHunk = true;
    // An empty line separates files; within a hunk, empty lines of the file begin with a space.
    if (line === '') isHunk = false;
    const style = isHunk ? lineStyle(line) : /^(?:diff --git |--- |\+\+\+ )/.test(line) ? FILE : PLAIN;
    const last = spans.at(-1);
    // Neighbours in one style are one span: there may be thousands of lines.
    if (last?.style === style) spans[spans.length - 1] = {text: `${last.text}\n${line}`, style};
    else spans.push({text: index === 0 ? line : `\n${line}`, style});
  }
  return <StyledText spans={spans} columns={columns} />;
}
