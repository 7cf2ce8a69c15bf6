/** The messages of a run as a person reads them. */

import type {Message} from '../core/contract/messages.ts';
import type {TranscriptEntry} from '../core/contract/transcript.ts';
import {textOf} from '../core/util/messages.ts';

export const DEFAULT_MESSAGES = 20;
export const MOST_MESSAGES = 200;
/** Of a tool's input and of its result, so many characters. */
const TOOL_CHARS = 200;

/** The last `limit` messages, oldest first. Messages that are nothing but tool calls count only when these are shown. */
export function subagentLog(entries: readonly TranscriptEntry[], limit: number, withTools: boolean): string {
  const shown = entries.flatMap((entry) => {
    if (entry.type !== 'message') return [];
    const text = messageText(entry.message, withTools);
    return text === '' ? [] : [`${entry.at.slice(11, 19)} ${text}`];
  });
  const hidden = shown.length - limit;
  const head = hidden > 0 ? [`… ${hidden} earlier ${hidden === 1 ? 'message' : 'messages'}`] : [];
  return shown.length === 0 ? 'It has said nothing yet.' : [...head, ...shown.slice(-limit)].join('\n\n');
}

function messageText({role, content}: Message, withTools: boolean): string {
  const said = textOf(content);
  const lines = said === '' ? [] : [`${role}: ${said}`];
  if (withTools && typeof content !== 'string') lines.push(...content.flatMap(toolLine));
  return lines.join('\n');
}

function toolLine(block: Exclude<Message['content'], string>[number]): string[] {
  if (block.type === 'tool_use') return [`* ${block.name} ${cut(JSON.stringify(block.input))}`];
  if (block.type !== 'tool_result') return [];
  const sign = block.is_error ? 'failed' : 'result';
  return [`  ${sign}: ${cut(textOf(block.content ?? ''))}`];
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= TOOL_CHARS ? line : `${line.slice(0, TOOL_CHARS - 1).toWellFormed()}…`;
}
