/** For a screen reader each state is a word: no glyph and no colour alone says it. */
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
  await screen.shows('Running: Bash(npm test)');
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
  await screen.shows('Done: read');
  expect(screen.window()).toMatch(/In progress: write\n *To do: test/);
  session.emit({type: 'ask', question: question()});
  await screen.shows('Run this command?');
  screen.pass(QUIET_MS);
  screen.type('\x1b[B');
  await screen.shows('Marked: 1 yes');
  session.answer('ask-1', {choice: 'yes'});
  await screen.lacks('Marked:');
  screen.type('/h');
  await screen.shows('Marked: /help');
  expect(screen.window()).not.toMatch(/[✓✗●▌⠋⠙⠹⠸⠼]/);
});
