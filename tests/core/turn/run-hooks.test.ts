/** When a run tells its hooks, and what their answers mean for it. */
import {describe, expect, test} from 'vitest';
import type {HookAnswer, HookCall, HookEvent} from '../../../src/core/contract/hook.ts';
import {createRunHooks} from '../../../src/core/turn/run-hooks.ts';

const {signal} = new AbortController();
const EXPLORE = {id: 'run-1', name: 'explore', transcript: '/t'};
const ABOUT = {agent_id: 'run-1', agent_type: 'explore', agent_transcript_path: '/t'};

function open(answer: Partial<HookAnswer>, subagent: typeof EXPLORE | undefined = undefined, events?: HookEvent[]) {
  const calls: HookCall[] = [];
  const hooks = {
    listens: (event: HookEvent) => events?.includes(event) ?? true,
    run: async (call: HookCall) => {
      calls.push(call);
      return {context: [], ...answer};
    },
  };
  return {calls, run: createRunHooks(hooks, subagent)};
}

describe('the start of a run', () => {
  test('of a subagent is told once, and what the hooks say is for its model', async () => {
    const {run, calls} = open({context: ['be quick']}, EXPLORE);
    expect([await run.started(signal), await run.started(signal)]).toEqual([['be quick'], []]);
    expect(calls).toEqual([{event: 'SubagentStart', subject: 'explore', input: ABOUT}]);
  });

  test('of the main agent, or where no hook listens, is not told', async () => {
    for (const {run, calls} of [open({context: ['x']}), open({context: ['x']}, EXPLORE, [])]) {
      expect([await run.started(signal), calls]).toEqual([[], []]);
    }
  });

  test('ends the run where a hook says so', async () => {
    const {run} = open({stops: 'not today'}, EXPLORE);
    await expect(run.started(signal)).rejects.toMatchObject({
      code: 'HOOK',
      message: expect.stringContaining('not today'),
    });
  });
});

describe('the end of a run', () => {
  test.each<[string, typeof EXPLORE | undefined, HookCall]>([
    ['the main agent', undefined, {event: 'Stop', input: {stop_hook_active: false, last_assistant_message: 'done'}}],
    [
      'a subagent',
      EXPLORE,
      {
        event: 'SubagentStop',
        subject: 'explore',
        input: {...ABOUT, stop_hook_active: false, last_assistant_message: 'done'},
      },
    ],
  ])('of %s is told with its answer', async (_, subagent, call) => {
    const {run, calls} = open({}, subagent);
    expect(await run.beforeEnd('done', signal)).toBeUndefined();
    expect(calls).toEqual([call]);
  });

  test('is put off by a hook eight times at most, and the hooks are told that it was', async () => {
    const {run, calls} = open({blocked: 'test it first'});
    for (let turn = 0; turn < 8; turn += 1) expect(await run.beforeEnd('done', signal)).toBe('test it first');
    expect(await run.beforeEnd('done', signal)).toBeUndefined();
    expect(calls.map(({input}) => input.stop_hook_active)).toEqual([false, ...Array.from({length: 7}, () => true)]);
  });

  test('comes where a hook ends the run, and where none listens', async () => {
    expect(await open({blocked: 'go on', stops: 'enough'}).run.beforeEnd('done', signal)).toBeUndefined();
    const {run, calls} = open({blocked: 'go on'}, undefined, ['SubagentStop']);
    expect([await run.beforeEnd('done', signal), calls]).toEqual([undefined, []]);
  });
});

describe('a compaction', () => {
  test('is told with its cause, and a hook can end the run', async () => {
    const {run, calls} = open({});
    await run.beforeCompaction('manual', 'the tests', signal);
    const input = {trigger: 'manual', custom_instructions: 'the tests'};
    expect(calls).toEqual([{event: 'PreCompact', subject: 'manual', input}]);
    await expect(open({stops: 'no'}).run.beforeCompaction('auto', '', signal)).rejects.toMatchObject({code: 'HOOK'});
    const silent = open({stops: 'no'}, undefined, []);
    await silent.run.beforeCompaction('auto', '', signal);
    expect(silent.calls).toEqual([]);
  });
});
