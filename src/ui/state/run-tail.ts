/**
 * Collects the end of a subagent's texts and calls, for the person who opens its run. Its size is bounded, and the
 * run's transcript has everything. Lines are safe for the screen; the current message is made safe when it is read.
 */
import type {AgentEvent} from '../../core/contract/events.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {getText} from '../../core/util/messages.ts';
import {formatCall} from '../../core/util/tool-names.ts';
import {screenLine, screenText} from '../text/screen-text.ts';

export interface TailLine {
  readonly kind: 'text' | 'sent' | 'note' | 'tool';
  readonly text: string;
  readonly callId?: string;
  readonly result?: {readonly text: string; readonly isError: boolean};
}

export interface RunTail {
  readonly lines: readonly TailLine[];
  /** The message that the model is writing. It is not yet safe for the screen. */
  readonly open: string;
}

export const EMPTY_TAIL: RunTail = {lines: [], open: ''};

export const MAX_LINES = 60;
export const MAX_CHARS = 8192;
const MAX_RESULT = 200;

export function feedTail(tail: RunTail, event: AgentEvent, tools: readonly ToolFacts[]): RunTail {
  switch (event.type) {
    case 'text_delta': {
      const open = tail.open + event.text;
      // The text is cut only sometimes, because a cut at each delta would be slow.
      return {...tail, open: open.length > 2 * MAX_CHARS ? open.slice(-MAX_CHARS) : open};
    }
    case 'message': {
      if (event.role === 'user') return addLines(tail, sentLines(getText(event.content)));
      return addLines({...tail, open: ''}, textLines(tail.open || getText(event.content)));
    }
    case 'retry':
      // The model will write this message again.
      return {...tail, open: ''};
    case 'tool_start':
      return startTool(tail, event.callId, screenLine(formatCall(event.tool, event.title, tools)).slice(0, MAX_RESULT));
    case 'tool_end':
      return endTool(tail, event);
    case 'run_end':
      return addLines({...tail, open: ''}, textLines(tail.open));
    case 'notice':
      return addLines(tail, [{kind: 'note', text: screenLine(event.text).slice(0, MAX_RESULT)}]);
    default:
      return tail;
  }
}

/** Returns all lines, with the message that the model is writing. */
export function tailLines(tail: RunTail): readonly TailLine[] {
  return tail.open === '' ? tail.lines : [...tail.lines, ...textLines(tail.open.slice(-MAX_CHARS))].slice(-MAX_LINES);
}

function textLines(text: string): TailLine[] {
  const shown = screenText(text).trim();
  return shown === '' ? [] : shown.split('\n').map((line) => ({kind: 'text', text: line}));
}

function sentLines(text: string): TailLine[] {
  const line = screenLine(text.slice(0, MAX_CHARS));
  return line === '' ? [] : [{kind: 'sent', text: line.length > MAX_RESULT ? `${line.slice(0, MAX_RESULT)}…` : line}];
}

/** Adds the line of a call, or replaces its text when the call was changed. */
function startTool(tail: RunTail, callId: string, text: string): RunTail {
  const index = tail.lines.findLastIndex((line) => line.callId === callId);
  const line = {kind: 'tool', callId, text} as const;
  return index < 0 ? addLines(tail, [line]) : bounded({...tail, lines: tail.lines.with(index, line)});
}

function endTool(tail: RunTail, event: AgentEvent & {type: 'tool_end'}): RunTail {
  const index = tail.lines.findLastIndex(({callId}) => callId === event.callId);
  const line = tail.lines[index];
  if (!line) return tail;
  const first = event.preview.split('\n').find((row) => row.trim() !== '') ?? '';
  const text = screenLine(first).slice(0, MAX_RESULT);
  return bounded({...tail, lines: tail.lines.with(index, {...line, result: {text, isError: event.isError}})});
}

function addLines(tail: RunTail, lines: readonly TailLine[]): RunTail {
  return lines.length === 0 ? tail : bounded({...tail, lines: [...tail.lines, ...lines]});
}

/** Drops old lines that exceed the bounds. When the last line alone is too long, its end remains. */
function bounded(tail: RunTail): RunTail {
  let first = tail.lines.length;
  let left = MAX_CHARS;
  while (first > 0 && first > tail.lines.length - MAX_LINES) {
    const {text, result} = tail.lines[first - 1]!;
    left -= text.length + (result?.text.length ?? 0);
    if (left < 0) break;
    first -= 1;
  }
  if (first === 0) return tail;
  const last = tail.lines.at(-1)!;
  const lines = first === tail.lines.length ? [{...last, text: last.text.slice(-MAX_CHARS)}] : tail.lines.slice(first);
  return {...tail, lines};
}
