/** A conversation as markdown, for people: also of those who print the file in a terminal. */
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import {getText} from '../../core/util/messages.ts';
import {showControls} from '../../core/util/text.ts';

const RESULT_CHARS = 300;

export function formatMarkdown(messages: readonly RestoredMessage[]): string {
  return showControls(messages.flatMap(formatMessage).join('\n\n'));
}

/** What a person typed is a heading; the report of a background run is a quotation. */
function formatMessage({message: {role, content}, announcement}: RestoredMessage): string[] {
  const text = getText(content);
  if (announcement) {
    const {agent, outcome, text: result} = announcement;
    return [`[${agent}] ${outcome}: ${result.trim() || '(not available)'}`.replaceAll(/^/gm, '> ')];
  }
  const parts = text === '' ? [] : [role === 'user' ? text.replaceAll(/^/gm, '## ') : text];
  if (typeof content === 'string') return parts;
  for (const block of content) {
    if (block.type === 'tool_use') parts.push(`- **${block.name}** ${formatCode(JSON.stringify(block.input))}`);
    if (block.type === 'tool_result') parts.push(quote(getText(block.content ?? '')));
  }
  return parts.filter((part) => part !== '');
}

/** More backquotes around the code than it has in a row. */
function formatCode(code: string): string {
  const longest = Math.max(0, ...(code.match(/`+/g) ?? []).map(({length}) => length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${code}${fence}` : `${fence} ${code} ${fence}`;
}

function quote(text: string): string {
  const shown = text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS).toWellFormed()}…` : text;
  return shown.trim() === '' ? '' : shown.replaceAll(/^/gm, '  > ');
}
