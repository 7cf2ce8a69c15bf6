/** What a terminal says about itself when it is asked: its background decides the colours, and no reply is typed text. */
import {expect, test} from 'vitest';
import {takeReplies} from '../../src/ui/first-paint/terminal-replies.ts';
import {parseBackground} from '../../src/ui/theme.ts';
import {open} from './app-fixture.ts';

test.each([
  ['\x1b]11;rgb:0000/0000/0000\x1b\\', 'dark'],
  ['\x1b]11;rgb:1e1e/1e1e/1e1e\x07', 'dark'],
  ['\x1b]11;rgb:ffff/ffff/ffff\x1b\\', 'light'],
  ['\x1b]11;rgb:fd/f6/e3\x1b\\', 'light'],
  ['\x1b]11;rgba:0000/2b2b/3636/ffff\x07', 'dark'],
  ['\x1b[>84;0;0c', undefined],
])('%j is %s', (reply, background) => {
  expect(parseBackground(reply)).toBe(background);
  const replies: string[] = [];
  expect(takeReplies(`a${reply}b`, (text) => replies.push(text))).toBe('ab');
  expect(replies).toEqual([reply]);
});

test('the background is asked once; a late answer changes the colours, and nothing of it is typed', async () => {
  const {screen, session} = await open({columns: 80, rows: 24});
  expect(screen.written().match(/\x1b\]11;\?/g)).toHaveLength(1);
  screen.type('ab\x1b]11;rgb:ffff/ff');
  screen.type('ff/ffff\x1b\\c');
  await screen.shows('> abc');
  screen.type('\r');
  await screen.shows('▌ abc');
  session.endTurn();
});

test('the title of the terminal says state and task, and the one from before comes back', async () => {
  const {screen, session, leave} = await open({columns: 80, rows: 24});
  screen.type('fix it\r');
  await screen.until(() => screen.written().includes('\x1b]2;● fix it - mini-cc\x1b\\'), 'no title');
  session.endTurn();
  await screen.until(() => screen.written().includes('\x1b]2;fix it - mini-cc\x1b\\'), 'no title at rest');
  await leave();
  expect(screen.written()).toMatch(/\x1b\[22;2t[\s\S]*\x1b\[23;2t/);
});
