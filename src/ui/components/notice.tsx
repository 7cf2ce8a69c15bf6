import type {NoticeLevel} from '../ui-state.ts';
import {type Span, StyledText, Wrapped} from './styled-text.tsx';

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
  const spans = text.split('\n').map((line, index): Span => {
    if (line.startsWith('@@')) isHunk = true;
    // A blank line stands between files; those of a hunk begin with a blank.
    if (line === '') isHunk = false;
    return {text: index === 0 ? line : `\n${line}`, style: isHunk ? hunkStyle(line) : headStyle(line)};
  });
  return <StyledText spans={spans} columns={columns} />;
}

function hunkStyle(line: string): Span['style'] {
  if (line.startsWith('+')) return {color: 'green'};
  if (line.startsWith('-')) return {color: 'red'};
  return line.startsWith('@@') ? {color: 'cyan'} : {dimColor: true};
}

function headStyle(line: string): Span['style'] {
  return /^(?:diff --git |--- |\+\+\+ )/.test(line) ? {bold: true} : {};
}
