import type {NoticeLevel} from '../state/ui-state.ts';
import {type Span, StyledText, type TextStyle, Wrapped} from '../text/styled-text.tsx';

interface NoticeProps {
  readonly level: NoticeLevel;
  readonly text: string;
  readonly isDiff: boolean;
  readonly columns: number;
}

/** One message of mini-cc itself: a command's words, a warning, an error. */
export function Notice({level, text, isDiff, columns}: NoticeProps) {
  if (isDiff) return <DiffText text={text} columns={columns} />;
  if (level === 'error') return <Wrapped color="red" text={`error: ${text}`} columns={columns} />;
  if (level === 'warning') return <Wrapped color="yellow" text={text} columns={columns} />;
  return <Wrapped text={text} columns={columns} />;
}

/** Whole files one after another: names in bold, what lines they are by their signs. */
function DiffText({text, columns}: {readonly text: string; readonly columns: number}) {
  let isHunk = false;
  const spans: Span[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('@@')) isHunk = true;
    // A blank line stands between files; those of a hunk begin with a blank.
    if (line === '') isHunk = false;
    const style = isHunk ? hunkStyle(line) : headStyle(line);
    const last = spans.at(-1);
    // Neighbours in one style are one piece: there may be thousands of lines.
    if (last?.style === style) spans[spans.length - 1] = {text: `${last.text}\n${line}`, style};
    else spans.push({text: index === 0 ? line : `\n${line}`, style});
  }
  return <StyledText spans={spans} columns={columns} />;
}

const PLAIN: TextStyle = {};
const HEAD: TextStyle = {bold: true};
const ADDED: TextStyle = {color: 'green'};
const REMOVED: TextStyle = {color: 'red'};
const PLACE: TextStyle = {color: 'cyan'};
const CONTEXT: TextStyle = {dimColor: true};

function hunkStyle(line: string): TextStyle {
  if (line.startsWith('+')) return ADDED;
  if (line.startsWith('-')) return REMOVED;
  return line.startsWith('@@') ? PLACE : CONTEXT;
}

function headStyle(line: string): TextStyle {
  return /^(?:diff --git |--- |\+\+\+ )/.test(line) ? HEAD : PLAIN;
}
