/** Formats a conversation as markdown for people. It is also safe to print in a terminal. */
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import {formatEnding} from '../../core/runs/progress-line.ts';
import {getText} from '../../core/util/messages.ts';
import {showControls} from '../../core/util/text.ts';

const RESULT_CHARS = 300;

export function formatMarkdown(messages: readonly RestoredMessage[]): string {
  return showControls(messages.flatMap(formatMessage).join('\n\n'));
}

/**
 * Formats a message: the text of a person is a heading, and what the runtime wrote is a quotation, such as the report of
 * a background run.
 */
function formatMessage({message: {role, content}, announcement, note}: RestoredMessage): string[] {
  const text = getText(content);
  if (announcement) {
    const {agent, outcome, reason, text: result} = announcement;
    return [
      `[${agent}] ${formatEnding(outcome, reason)}: ${result.trim() || '(not available)'}`.replaceAll(/^/gm, '> '),
    ];
  }
  const mark = role !== 'user' ? '' : note ? '> ' : '## ';
  const parts = text === '' ? [] : [text.replaceAll(/^/gm, mark)];
  if (typeof content === 'string') return parts;
  for (const block of content) {
    if (block.type === 'tool_use') parts.push(`- **${block.name}** ${formatCode(JSON.stringify(block.input))}`);
    if (block.type === 'tool_result') parts.push(quote(getText(block.content ?? '')));
  }
  return parts.filter((part) => part !== '');
}

/** Formats code. The fence has more backquotes than any run of them in the code. */
function formatCode(code: string): string {
  const longest = Math.max(0, ...(code.match(/`+/g) ?? []).map(({length}) => length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${code}${fence}` : `${fence} ${code} ${fence}`;
}

function quote(text: string): string {
  const shown = text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS).toWellFormed()}…` : text;
  return shown.trim() === '' ? '' : shown.replaceAll(/^/gm, '  > ');
}
