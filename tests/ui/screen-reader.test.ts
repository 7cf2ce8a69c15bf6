/** For a screen reader each new thing is a line of words, written once: no glyph and no colour alone says a state. */
import {afterAll, beforeAll, expect, test, vi} from 'vitest';
import {QUIET_MS} from '../../src/ui/input/question-keys.ts';
import {open} from './app-fixture.ts';
import {question} from './fake-session.ts';

// Ink reads it where an instance begins.
beforeAll(() => void vi.stubEnv('INK_SCREEN_READER', 'true'));
afterAll(() => void vi.unstubAllEnvs());

test('says in words who wrote, what runs, how it ended, what is marked, and how far the todos are', async () => {
  const {screen, session} = await open();
  screen.type('go\r');
  await screen.shows('You: go');
  session.emit({type: 'tool_start', callId: 'c1', tool: 'bash', title: 'npm test'});
  await screen.shows('Call: Bash(npm test)');
  const end = {type: 'tool_end', tool: 'bash', preview: '', durationMs: 1} as const;
  session.emit({...end, callId: 'c1', isError: false});
  await screen.shows('Done: Bash(npm test)');
  session.emit({type: 'tool_start', callId: 'c2', tool: 'bash', title: 'npm run x'});
  session.emit({...end, callId: 'c2', isError: true, summary: 'exit code 1'});
  await screen.shows('Failed: Bash(npm run x)');
  const todos = [
    {content: 'read', status: 'completed'},
    {content: 'write', status: 'in_progress'},
    {content: 'test', status: 'pending'},
  ] as const;
  session.emit({type: 'tool_start', callId: 'c3', tool: 'todo_write', title: ''});
  session.emit({...end, callId: 'c3', tool: 'todo_write', isError: false, display: {type: 'todos', todos: [...todos]}});
  await screen.shows(/Done: read\nIn progress: write\nTo do: test/);
  session.emit({type: 'ask', question: question()});
  await screen.shows('Run this command?');
  screen.pass(QUIET_MS);
  screen.type('\x1b[B');
  await screen.shows('Marked: yes');
  session.answer('ask-1', {choice: 'yes'});
  screen.type('/h');
  await screen.shows('Marked: /help');
  expect(screen.window()).not.toMatch(/[✓✗●▌⠋⠙⠹⠸⠼─│]/);
});

test('says that a quotation is one, also inside another, and draws no bar beside it', async () => {
  const {screen, session} = await open();
  screen.type('go\r');
  await screen.shows('You: go');
  session.emit({type: 'text_delta', text: '> First.\n>\n> > Deeper.\n\nThe end.'});
  session.endTurn();
  await screen.shows('The end.');
  expect(screen.window()).toContain('quote: First.\nquote: Deeper.\nThe end.');
});

test('? says the keys, one in a line', async () => {
  const {screen} = await open();
  screen.type('?');
  await screen.shows(/Enter: send\n(?:.*\n)+Ctrl\+_: undo\n/);
  screen.type('hm');
  await screen.shows('You: hm');
});

test('never moves up or erases a line that was said, and says nothing twice', async () => {
  const {screen, session} = await open();
  screen.type('go');
  await screen.shows('You: go');
  screen.type('\r');
  await screen.shows('Working. Esc interrupts.');
  session.emit({type: 'tool_start', callId: 'c1', tool: 'bash', title: 'npm test'});
  await screen.shows('Call: Bash(npm test)');
  session.emit({type: 'tool_progress', callId: 'c1', text: 'line 1'});
  screen.type('nxt\x1b[D\x1b[Dex');
  await screen.shows('You: nexxt');
  screen.type('\x7f');
  await screen.shows('You: next');
  session.emit({type: 'tool_end', callId: 'c1', tool: 'bash', preview: '', durationMs: 1, isError: false});
  session.emit({type: 'text_delta', text: '| a | b |\n|---|---|\n| one | two |\n\nThe end.'});
  session.endTurn();
  await screen.shows('The end.');
  expect(screen.written()).not.toMatch(/\x1b\[\d*[AFJ]|\x1b\[2K|\x1b[78M]/);
  const said = screen
    .scrollback()
    .split('\n')
    .filter((line) => !line.startsWith('You: '));
  expect(new Set(said).size).toBe(said.length);
  expect(said.join('\n')).toMatch(
    /Call: Bash\(npm test\)\n.*Ctrl\+B.*\nDone: Bash\(npm test\)\na: one\. b: two\.\nThe end\./,
  );
});
