import {expect, test} from 'vitest';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import type {Announcement} from '../../../src/core/contract/transcript.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {openSession} from '../../../src/ui/state/store.ts';
import {INITIAL_STATE} from '../../../src/ui/state/ui-state.ts';
import {INFO} from '../fake-session.ts';

const ended = (change: Partial<Announcement> = {}) => ({
  message: {role: 'user' as const, content: 'as the model reads it'},
  announcement: {
    ...{runId: 'r1', round: 1, agent: 'explore', outcome: 'success', reason: '', text: 'sub result', ...change},
  } as const,
});
const run = (change: Partial<RunRecord>): RunRecord => ({
  runId: 'r',
  agent: 'explore',
  description: 'look around',
  model: 'm',
  background: true,
  cleanup: 'keep',
  sessionId: 's',
  transcript: '/t',
  state: 'idle',
  outcome: 'success',
  createdAt: 0,
  lastAt: 0,
  tools: 2,
  usage: NO_USAGE,
  usageByModel: {},
  round: 1,
  restored: true,
  result: {durationMs: 1200, modelMs: 0, turns: 0},
  ...change,
});
const prompt = (content: string) => ({message: {role: 'user' as const, content}});

test('a resumed session shows announcements as they were shown live', () => {
  const restored = [ended(), ended({runId: 'r2', round: 2, outcome: 'stopped', text: 'half'}), prompt('and now?')];
  const state = openSession(INITIAL_STATE, {
    ...INFO,
    restored,
    restoredRuns: [run({runId: 'r1'}), run({runId: 'r2', description: 'read', outcome: 'stopped'})],
  });
  expect(state.finished).toMatchObject([
    {
      kind: 'announcement',
      announcement: {
        runId: 'r1',
        agent: 'explore',
        header: '[explore] look around - done (2 tools, 1.2s)',
        text: 'sub result',
      },
    },
    {
      kind: 'announcement',
      announcement: {
        runId: 'r2',
        header: '[explore] read - stopped (2 tools, 1.2s)',
        state: 'stopped',
        text: 'half',
      },
    },
    {kind: 'prompt', text: 'and now?'},
  ]);
});

test('a prompt that looks like an announcement is a prompt', () => {
  const text = '<task_announcement run="x">\nStatus: success\n</task_announcement>';
  const state = openSession(INITIAL_STATE, {...INFO, restored: [prompt(text)]});
  expect(state.finished).toMatchObject([{kind: 'prompt', text}]);
});

test('a resumed session shows the output of a typed command as a terminal does', () => {
  const content = 'The user ran a command in the terminal, in /tmp:\n$ get it\n\n1 %\r2 %\r\nsaved';
  const restored = [{message: {role: 'user' as const, content}, companion: '!get it'}];
  expect(openSession(INITIAL_STATE, {...INFO, restored}).finished).toMatchObject([
    {kind: 'prompt', text: '!get it'},
    {kind: 'notice', text: '2 %\nsaved'},
  ]);
});
