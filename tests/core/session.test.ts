/** The session around its runs: an idle main agent goes on by itself, and what `/stop`, `/clear` and a close mean. */
import {describe, expect, it, vi} from 'vitest';
import {AGENT_TYPES} from '../../src/core/agent-types.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {stopTimers} from '../support/fake-time.ts';
import {settle, until} from '../support/wait.ts';
import {managerFixture} from './manager-fixture.ts';
import {runFixture, tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say} from './scripted-model.ts';
import {sessionOver} from './session/fixture.ts';

/** A session whose `Task` dispatches an explore run in the background with the prompt that is its `value`. */
function session(
  mainScript: readonly ScriptedReply[],
  subagent: (prompt: string) => ScriptedReply,
  interactive = true,
) {
  const main = new ScriptedModel(mainScript);
  const child = new ScriptedModel((request) => subagent(String(request.messages[0]?.content)));
  const made = managerFixture({model: child});
  const dispatch = tool('Task', async (context, value) => {
    const background = !value.startsWith('foreground');
    const {signal} = context;
    const dispatched = await made.dispatch(child, {prompt: value, background, signal, agent: AGENT_TYPES.explore!});
    if (dispatched.source === 'cached' || background) return textResult('accepted');
    const {ended, detached} = dispatched.started;
    return textResult((await Promise.race([ended, detached]))?.report ?? 'accepted');
  });
  const over = sessionOver(made, main, runFixture(main, [dispatch]), {interactive});
  return {...made, ...over, main, child};
}

const dispatching = (prompt: string): ScriptedReply => calls(call('Task', {value: prompt}));
const sayings = (main: ScriptedModel) => main.requests.map(({messages}) => String(messages.at(-1)?.content));

describe('a session with background runs', () => {
  it('goes on by itself when one ends while it is idle, each announcement once in its history', async () => {
    const script = [dispatching('one'), say('at work'), say('I see')];
    const {session: made, main, manager, history, events} = session(script, () => say('found it'));
    expect(await made.submit('go')).toMatchObject({type: 'turn', result: {text: expect.any(String)}});
    await manager.waitAll();
    await until(() => main.requests.length >= 2 && events.filter(({type}) => type === 'announcement').length === 1);
    await until(() => history.messages.some(({content}) => String(content).startsWith('<task_announcement run=')));
    await made.close();
    const announced = history.messages.filter(({content}) => String(content).startsWith('<task_announcement run='));
    expect(announced).toHaveLength(1);
    expect(manager.list()).toMatchObject([{announcement: 'delivered'}]);
  });

  it('without a person, submit resolves with the answer behind the last announcement, and sums its turns', async () => {
    const slow: ScriptedReply = say('found it');
    const {session: made, main} = session([dispatching('one'), say('at work'), say('all in')], () => slow, false);
    const submitted = await made.submit('go');
    expect(submitted).toMatchObject({type: 'turn', result: {outcome: 'success'}});
    if (submitted.type !== 'turn') throw new Error('no turn');
    expect(sayings(main).filter((text) => text.includes('Status: success'))).toHaveLength(1);
    expect(submitted.result.turns).toBe(main.requests.length);
    expect(submitted.result.usage.input_tokens).toBe(10 * main.requests.length);
    await made.close();
  });

  it('/stop ends the turn and all of its runs, and nothing begins by itself after it', async () => {
    const hang: ScriptedReply = {hang: true};
    const script = [dispatching('background one'), dispatching('foreground two'), say('never')];
    const {session: made, main, manager} = session(script, () => hang);
    const turn = made.submit('go');
    await until(() => manager.count() === 2 && manager.list().every(({state}) => state === 'processing'));
    // Runs that end while the agent is idle start a turn after a moment.
    stopTimers();
    expect(await made.request({type: 'stop'})).toEqual({wasBusy: true, runs: 2});
    expect(manager.list().map(({outcome}) => outcome)).toEqual(['stopped', 'stopped']);
    await turn;
    await vi.advanceTimersByTimeAsync(10_000);
    await settle();
    expect(main.requests).toHaveLength(2);
    // What it had is read with the next prompt.
    await made.submit('what now?');
    expect(
      main.requests
        .at(-1)
        ?.messages.map(({content}) => String(content))
        .join('\n'),
    ).toContain('Notes: - Error: stopped by user');
    await made.close();
  });

  it('Esc ends the turn and its foreground runs; the background ones go on', async () => {
    const hang: ScriptedReply = {hang: true};
    const script = [dispatching('background one'), dispatching('foreground two'), say('never')];
    const {session: made, manager} = session(script, () => hang);
    const turn = made.submit('go');
    await until(() => manager.count() === 2 && manager.list().every(({state}) => state === 'processing'));
    made.abort();
    await turn;
    await until(() => manager.count() === 1);
    expect(manager.list().map(({outcome}) => outcome)).toEqual([undefined, 'stopped']);
    await made.close();
    expect(manager.count()).toBe(0);
  });

  it('a foreground run sent to the background answers its Task call at once', async () => {
    const gate = Promise.withResolvers<void>();
    const script = [dispatching('foreground one'), say('I go on'), say('there it is')];
    const {session: made, manager, child, main} = session(script, () => say('found'));
    const reply = child.reply.bind(child);
    child.reply = async (...args) => {
      await gate.promise;
      return reply(...args);
    };
    const turn = made.submit('go');
    await until(() => manager.count() === 1);
    manager.detachAll();
    expect(await turn).toMatchObject({type: 'turn', result: {text: 'I go on'}});
    gate.resolve();
    await until(() => main.requests.length === 3);
    expect(sayings(main).at(-1)).toContain('Result: found');
    await made.close();
  });

  it('forgets its runs with /clear', async () => {
    const {session: made, manager, inbox} = session([dispatching('one'), say('ok')], () => ({hang: true}));
    await made.submit('go');
    await made.request({type: 'clear'});
    expect([manager.count(), manager.list().length, inbox.size]).toEqual([0, 0, 0]);
    await made.close();
  });
});
