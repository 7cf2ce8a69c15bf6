import {expect, test} from 'vitest';
import type {RestoredMessage} from '../../../src/core/contract/transcript.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';
import {messageRows} from '../../../src/ui/transcript/message-rows.ts';

const rows = (restored: RestoredMessage) =>
  messageRows(restored, {columns: 60, formatter: createFormatter(), tools: []}).map(plainText);

test('the output of a command is as a terminal shows it, also of a command that the user typed', () => {
  const content = [{type: 'tool_result' as const, tool_use_id: 'a', content: '1 %\r2 %\nsaved'}];
  expect(rows({message: {role: 'user', content}})).toEqual(['  2 %', '  saved']);
  const typed = rows({message: {role: 'user', content: '$ get it\n\n1 %\r2 %'}, companion: '!get it'});
  expect(typed).toEqual(['', '> !get it', '  $ get it', '  ', '  2 %']);
});
