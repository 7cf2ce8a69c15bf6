/** Lays a message of the transcript out in rows, in full: with thinking, calls and their results. */
import type {ToolResultBlock} from '../../core/contract/model.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import {formatSubagentSummary} from '../../core/runs/delegation-log.ts';
import {formatEnding} from '../../core/runs/progress-line.ts';
import {getText} from '../../core/util/messages.ts';
import {dropOverwritten} from '../../core/util/text.ts';
import {formatCall} from '../../core/util/tool-names.ts';
import {describeInput} from '../../core/util/tool-output.ts';
import type {Formatter} from '../text/format.ts';
import {layoutLines} from '../text/lines.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {MUTED, PLAIN, type Row, type TextStyle, toRow, wrapSpans} from '../text/styled-text.tsx';

type Block = Exclude<RestoredMessage['message']['content'], string>[number];

const THOUGHT: TextStyle = {tone: 'muted', italic: true};

/** Characters. A longer text is not formatted. */
const MAX_FORMATTED = 50_000;

interface RowLayout {
  readonly columns: number;
  readonly formatter: Formatter;
  readonly tools: readonly ToolFacts[];
}

/** Returns the rows of a message. A blank row precedes each part that begins something new. */
export function messageRows(restored: RestoredMessage, layout: RowLayout): Row[] {
  const {subagents} = restored;
  const end = subagents ? [[], ...plain(formatSubagentSummary(subagents), layout.columns, MUTED)] : [];
  return [...rowsWithoutEnd(restored, layout), ...end];
}

function rowsWithoutEnd(restored: RestoredMessage, layout: RowLayout): Row[] {
  const {columns, formatter} = layout;
  const {message, prompt, announcement, companion, summary} = restored;
  if (announcement) {
    const {agent, description = '', outcome, reason, text} = announcement;
    const title = `[${agent}] ${description} - ${formatEnding(outcome, reason)}`;
    const head = [{text: screenLine(title), style: {bold: true}}];
    return [[], head, ...markdown(text, columns, formatter)];
  }
  if (summary) return [[], ...plain('The conversation was compacted here. The summary:', columns, MUTED), ...own()];
  if (companion !== undefined) return [[], ...plain(`> ${companion}`, columns, {bold: true}), ...own()];
  if (prompt) return [[], ...plain(getText(message.content), columns, {bold: true}, '> ')];
  return typeof message.content === 'string' ? own() : blocks(message.content);

  function own(): Row[] {
    const text = getText(message.content);
    if (message.role === 'assistant') return [[], ...markdown(text, columns, formatter)];
    return plain(companion?.startsWith('!') ? dropOverwritten(text) : text, columns, MUTED, '  ');
  }

  function blocks(content: readonly Block[]): Row[] {
    return content.flatMap((block) => blockRows(block, restored, layout));
  }
}

function blockRows(
  block: Block,
  {message, calls = {}}: RestoredMessage,
  {columns, formatter, tools}: RowLayout,
): Row[] {
  switch (block.type) {
    case 'thinking':
      return [[], ...plain(`Thinking: ${block.thinking.trim()}`, columns, THOUGHT)];
    case 'text':
      if (message.role === 'user') return plain(block.text, columns, MUTED, '  ');
      return [[], ...markdown(block.text, columns, formatter)];
    case 'tool_use':
      return [
        [],
        ...plain(`● ${screenLine(formatCall(block.name, describeInput(block.input), tools))}`, columns, {bold: true}),
      ];
    case 'tool_result':
      return resultRows(block, calls[block.tool_use_id]?.display, columns);
    case 'image':
      return plain('(an image)', columns, MUTED, '  ');
    default:
      return [];
  }
}

type Display = NonNullable<RestoredMessage['calls']>[string]['display'];

function resultRows({content = '', is_error: isError}: ToolResultBlock, display: Display, columns: number): Row[] {
  const images = typeof content === 'string' ? 0 : content.filter(({type}) => type === 'image').length;
  const style: TextStyle = isError ? {tone: 'error'} : MUTED;
  const text = [dropOverwritten(getText(content)), ...(images > 0 ? ['(an image)'] : [])].join('\n').trim();
  if (display?.type !== 'diff') return plain(text === '' ? '(no output)' : text, columns, style, '  ');
  // After its first line, the text for the model only repeats the change.
  return [...plain(text.split('\n')[0]!, columns, style, '  '), ...diffRows(display.patch, columns)];
}

function diffRows(patch: string, columns: number): Row[] {
  return screenText(patch)
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const tone = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'hunk';
      return plain(line, columns, {tone}, '  ');
    });
}

/** @param indent text before the first row; further rows are indented by blanks of the same width */
function plain(text: string, columns: number, style: TextStyle, indent = ''): Row[] {
  const rest = ' '.repeat(indent.length);
  return wrapSpans(toRow(screenText(text), style), Math.max(1, columns - indent.length)).map((row, index) => [
    ...(indent === '' ? [] : [{text: index === 0 ? indent : rest, style: PLAIN}]),
    ...row,
  ]);
}

function markdown(text: string, columns: number, {format, lex}: Formatter): readonly Row[] {
  if (text.length > MAX_FORMATTED) return plain(text, columns, PLAIN);
  return layoutLines(format(lex(screenText(text))), columns);
}

export function messageText({message: {content}}: RestoredMessage, tools: readonly ToolFacts[]): string {
  if (typeof content === 'string') return content;
  return content
    .map((block) => {
      if (block.type === 'thinking') return block.thinking;
      if (block.type === 'text') return block.text;
      if (block.type === 'tool_use') return formatCall(block.name, describeInput(block.input), tools);
      return block.type === 'tool_result' ? getText(block.content ?? '') : '';
    })
    .join('\n');
}
