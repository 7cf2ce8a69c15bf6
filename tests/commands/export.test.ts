/** What the runtime wrote into a conversation, as exports show it. */
import {expect, it} from 'vitest';
import {formatMessages} from '../../src/commands/export/exported-messages.ts';
import {formatMarkdown} from '../../src/commands/export/markdown.ts';
import {StreamedReply} from '../../src/storage/sessions/conversation.ts';

it('an export shows prompts as headings, and the note of a reply that was cut off as none', () => {
  const streamed = new StreamedReply();
  streamed.endBefore({type: 'partial', start: true, text: 'Half an ans', at: '2026-01-01T00:00:00Z'} as never);
  const messages = [{message: {role: 'user', content: 'go'}, prompt: true} as const, ...streamed.take()];
  const note = '[Cut off here: mini-cc ended before this reply did]';
  expect(formatMarkdown(messages)).toBe(`## go\n\nHalf an ans\n\n> ${note}`);
  expect(String(formatMessages(messages))).toContain(`<div class="note">${note}</div>`);
});
