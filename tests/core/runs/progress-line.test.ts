import {describe, expect, test} from 'vitest';
import {
  describeSent,
  formatDuration,
  formatProgressLine,
  formatSeconds,
  formatTaskHeader,
  type ProgressState,
} from '../../../src/core/runs/progress-line.ts';

const run: ProgressState = {
  agent: 'explore',
  description: 'explore codebase',
  state: 'running',
  tools: 5,
  durationMs: 3200,
};

describe('a progress line', () => {
  test.each<[Partial<ProgressState>, string]>([
    [{}, '  [explore] explore codebase ... 5 tools, 3.2s'],
    [{tools: 1}, '  [explore] explore codebase ... 1 tool, 3.2s'],
    [{worker: 'build-2'}, '  [explore @build-2] explore codebase ... 5 tools, 3.2s'],
    [{tools: 0, durationMs: 0}, '  [explore] explore codebase ... 0 tools, 0.0s'],
    [{tools: 0, note: 'making its worktree'}, '  [explore] explore codebase ... 0 tools, 3.2s · making its worktree'],
    [{state: 'success', note: 'making its worktree'}, '  [explore] explore codebase - done (5 tools, 3.2s)'],
    [{state: 'queued'}, '  [explore] explore codebase ... queued'],
    [{state: 'success', tools: 8, durationMs: 5100}, '  [explore] explore codebase - done (8 tools, 5.1s)'],
    [{state: 'error', reason: 'server down'}, '  [explore] explore codebase - failed: server down (5 tools, 3.2s)'],
    [
      {state: 'error', reason: 'failed: empty answer'},
      '  [explore] explore codebase - failed: empty answer (5 tools, 3.2s)',
    ],
    [{state: 'error'}, '  [explore] explore codebase - failed (5 tools, 3.2s)'],
    [{state: 'timeout', reason: 'x'}, '  [explore] explore codebase - timed out (5 tools, 3.2s)'],
    [{state: 'stopped'}, '  [explore] explore codebase - stopped (5 tools, 3.2s)'],
    [{state: 'limit', reason: '50 turns'}, '  [explore] explore codebase - limit reached: 50 turns (5 tools, 3.2s)'],
  ])('of %o reads %s', (change, line) => {
    expect(formatProgressLine({...run, ...change})).toBe(line);
  });

  test('stays one line and shows control characters as text', () => {
    expect(formatTaskHeader('two\nlines\x1b[31m')).toBe('> Task: two lines␛[31m');
    const line = formatProgressLine({...run, state: 'error', description: 'a\r\nb', reason: 'x\ny\u202e'});
    expect(line).toBe('  [explore] a b - failed: x y\\u202E (5 tools, 3.2s)');
  });
});

test('a message to a run is read at its next turn, or lets it go on', () => {
  expect(describeSent(run, 'queued')).toContain('Sent: [explore] explore codebase reads it');
  expect(describeSent(run, 'resumed')).toContain('[explore] explore codebase goes on');
});

test.each([
  [-1, '0s'],
  [999, '0s'],
  [3_999, '3s'],
  [59_999, '59s'],
  [125_900, '2m05s'],
])('in whole seconds, %d ms read %s', (ms, text) => {
  expect(formatSeconds(ms)).toBe(text);
});

test.each([
  [-5_000, '0.0s'],
  [0, '0.0s'],
  [3240, '3.2s'],
  [59_900, '59.9s'],
  [59_960, '1m00s'],
  [125_000, '2m05s'],
  [3_725_000, '62m05s'],
])('a duration of %d ms reads %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
