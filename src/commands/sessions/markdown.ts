/** A conversation to read: prompts, answers, and a line for each tool. */

import type {Message} from '../../core/contract/messages.ts';
import {type MessagePart, messagePartsOf} from '../../core/runs/announcement.ts';
import {textOf} from '../../core/util/messages.ts';

const RESULT_CHARS = 300;

export function conversationMarkdown(messages: readonly Message[]): string {
  return messages.flatMap(messageParts).join('\n\n');
}

function messageParts({role, content}: Message): string[] {
  const text = textOf(content);
  const parts = role === 'user' ? messagePartsOf(text).map(userPart) : [text];
  if (typeof content === 'string') return parts.filter((part) => part !== '');
  for (const block of content) {
    if (block.type === 'tool_use') parts.push(`- **${block.name}** \`${JSON.stringify(block.input)}\``);
    if (block.type === 'tool_result') parts.push(quoted(textOf(block.content ?? '')));
  }
  return parts.filter((part) => part !== '');
}

/** What the person typed is a heading; what a background run reported is a quotation. */
function userPart(part: MessagePart): string {
  if (part.kind === 'words') return part.text.replaceAll(/^/gm, '## ');
  return `[${part.agent}] ${part.text}`.replaceAll(/^/gm, '> ');
}

function quoted(text: string): string {
  const shown = text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS).toWellFormed()}…` : text;
  return shown.trim() === '' ? '' : shown.replaceAll(/^/gm, '  > ');
}
