/** Draws one finished item once, into the terminal's scrollback. */
import {Box, useIsScreenReaderEnabled} from 'ink';
import type {ReactNode} from 'react';
import type {AnnouncementItem, FinishedItem, NoticeLevel} from '../state/ui-state.ts';
import {figureRows} from '../text/figures.ts';
import type {Formatter} from '../text/format.ts';
import {indentLines, type LinePlace, layoutLines, linesFrom, START, splitLines} from '../text/lines.ts';
import {Rows, type Span, type TextStyle, Wrapped} from '../text/styled-text.tsx';
import {finishedThought} from '../text/thinking.ts';
import {QuestionDetail} from './question.tsx';
import {endedRows, FinishedSubagents} from './subagent-lines.tsx';
import {DiffText, MoreLines, ToolLine} from './tool-line.tsx';

interface FinishedProps {
  readonly item: FinishedItem;
  readonly columns: number;
  /** Undefined until the formatter is loaded. Items with markdown are printed after that. */
  readonly formatter: Formatter | undefined;
}

export function FinishedItemView({item, columns, formatter}: FinishedProps) {
  if (item.kind === 'printed') return null;
  // Streamed lines are drawn without a box, because Ink's layout then has one node instead of two.
  if (item.kind === 'lines') return <Rows rows={layoutLines(item.lines, columns)} gap={item.gap} />;
  return (
    <Box width={columns} marginTop={item.gap ? 1 : 0} flexDirection="column">
      <Body item={item} columns={columns} formatter={formatter} />
    </Box>
  );
}

function Body({item, columns, formatter}: FinishedProps): ReactNode {
  switch (item.kind) {
    case 'prompt':
      return <SentPrompt text={item.text} columns={columns} />;
    case 'markdown':
      return <Markdown text={item.text} from={item.from} isCut={item.isCut} columns={columns} formatter={formatter} />;
    case 'thinking':
      return <Rows rows={[finishedThought(item.text, columns)]} />;
    case 'tool':
      return <ToolLine tool={item.tool} columns={columns} formatter={formatter} />;
    case 'subagents':
      return <FinishedSubagents runs={item.runs} columns={columns} />;
    case 'announcement':
      return <AnnouncementView announcement={item.announcement} columns={columns} formatter={formatter} />;
    case 'notice':
      if (item.look === 'diff') return <DiffText text={item.text} columns={columns} formatter={formatter} />;
      if (item.look === 'figures') return <Rows rows={figureRows(item.text, columns)} />;
      return <Notice level={item.level} text={item.text} columns={columns} />;
    case 'detail':
      return <QuestionDetail question={item.question} columns={columns} formatter={formatter} />;
    case 'remark':
      return <Wrapped tone="muted" text={item.text} columns={columns} />;
    case 'lines':
    case 'printed':
      return null;
  }
}

interface MarkdownProps extends Omit<FinishedProps, 'item'> {
  readonly text: string;
  /** Place where this part begins; everything before it is printed already. */
  readonly from?: LinePlace;
  /** True when the end of the text is missing. */
  readonly isCut?: boolean | undefined;
}

function Markdown({text, from = START, isCut = false, columns, formatter}: MarkdownProps) {
  if (!formatter) return null;
  const lines = isCut ? formatter.formatCut(text) : formatter.format(formatter.lex(text));
  return <Rows rows={layoutLines(linesFrom(lines, from), columns)} />;
}

const PROMPT: TextStyle = {bold: true};
const BAR: readonly Span[] = [{text: '▌ ', style: {tone: 'accent'}}];

/** Shows the person's prompt beside a bar, so that it is easy to find when scrolling. */
function SentPrompt({text, columns}: {readonly text: string; readonly columns: number}) {
  const isStatic = useIsScreenReaderEnabled();
  const lines = splitLines([{text: isStatic ? `You: ${text}` : text, style: PROMPT}]);
  return <Rows rows={layoutLines(isStatic ? lines : indentLines(lines, BAR, BAR), columns)} />;
}

interface AnnouncementProps extends Omit<FinishedProps, 'item'> {
  readonly announcement: AnnouncementItem;
}

const INDENT = 2;

/** Shows how a background run ended and what it found. */
export function AnnouncementView({announcement, columns, formatter}: AnnouncementProps) {
  const {runId, header, text, more, isEnd} = announcement;
  const width = columns - INDENT;
  const rest = (
    <MoreLines count={more} kind={isEnd ? 'earlier' : 'more'} where={`: /subagents log ${runId}`} columns={width} />
  );
  return (
    <Box flexDirection="column">
      <Rows rows={endedRows(header, announcement, columns)} />
      <Box paddingLeft={INDENT} flexDirection="column">
        {isEnd && rest}
        <Markdown text={text} columns={width} formatter={formatter} />
        {!isEnd && rest}
      </Box>
    </Box>
  );
}

interface NoticeProps {
  readonly level: NoticeLevel;
  readonly text: string;
  readonly columns: number;
}

/** Shows one message of mini-cc itself: the output of a command, a warning or an error. */
function Notice({level, text, columns}: NoticeProps) {
  if (level === 'error') return <Wrapped tone="error" text={`error: ${text}`} columns={columns} />;
  if (level === 'warning') return <Wrapped tone="warning" text={text} columns={columns} />;
  return <Wrapped text={text} columns={columns} />;
}
