/** Sessions where no person types more: a prompt is done with all that follows from it, within the limits of the session. */
import {describe, expect, it, vi} from 'vitest';
import type {Limits} from '../../../src/core/contract/results.ts';
import type {SessionParts} from '../../../src/core/session/parts.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {managerFixture} from '../manager-fixture.ts';
import {runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

/** `Task` dispatches a run in the background that gives the replies of `child`. */
function open(
  script: readonly ScriptedReply[],
  child: readonly ScriptedReply[],
  limits: Partial<Limits> = {},
  parts: Partial<SessionParts> = {},
) {
  const [model, childModel] = [new ScriptedModel(script), new ScriptedModel(child)];
  const made = managerFixture();
  const task = tool('Task', async (_, value) => {
    await made.dispatch(childModel, {background: true, prompt: value, limits: {timeoutSeconds: 0}});
    return textResult('accepted');
  });
  const change = {interactive: false, limits, ...parts};
  const {session} = sessionOver(made, model, runFixture(model, [task]), change);
  return {...made, session, model, childModel};
}

const dispatching = (value: string) => calls(call('Task', {value}));

describe('a prompt', () => {
  it('is done when the runs that it began have ended and were read', async () => {
    const {session, manager, model} = open(
      [dispatching('one'), say('it is at work'), say('all is done')],
      [say('found')],
    );
    expect(await session.submit('go')).toMatchObject({result: {outcome: 'success', text: 'all is done', turns: 3}});
    expect([manager.count(), model.requests.length]).toEqual([0, 3]);
  });

  it('begins no further turn by itself after one that failed, or when its turns are used up', async () => {
    const failing = open([dispatching('one')], [say('found')]);
    expect(await failing.session.submit('go')).toMatchObject({result: {outcome: 'error'}});
    expect([failing.model.requests.length, failing.inbox.size]).toEqual([2, 1]);
    const limited = open([say('done'), say('never')], [say('found')], {maxTurns: 1});
    const {childModel} = limited;
    const reply = childModel.reply.bind(childModel);
    childModel.reply = async (...args) => {
      await limited.model.asked();
      return reply(...args);
    };
    await limited.dispatch(childModel, {background: true});
    expect(await limited.session.submit('go')).toMatchObject({result: {outcome: 'success', text: 'done'}});
    expect([limited.model.requests.length, limited.inbox.size]).toEqual([1, 1]);
  });

  it('that is released ends with the turn at work, and what its runs announce waits for the next prompt', async () => {
    const {session, manager, model, childModel} = open(
      [dispatching('one'), say('it is at work'), say('I read it')],
      [{hang: true}],
    );
    const done = session.submit('go');
    await childModel.asked();
    await model.asked(2);
    session.request({type: 'release_prompt'});
    expect(await done).toMatchObject({result: {outcome: 'success', text: 'it is at work', turns: 2}});
    expect(manager.count()).toBe(1);
    await session.request({type: 'stop_runs'});
    expect(model.requests).toHaveLength(2);
    expect(await session.submit('next')).toMatchObject({result: {text: 'I read it', turns: 1}});
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('task_announcement');
  });

  it('has the limits of a prompt anew', async () => {
    const {session} = open([say('a'), say('b')], [], {maxTurns: 1});
    expect(await session.submit('one')).toMatchObject({result: {outcome: 'success', turns: 1}});
    expect(await session.submit('two')).toMatchObject({result: {outcome: 'success', turns: 1, text: 'b'}});
  });
});

it('a command that lets a run go on is done when that has ended and was read', async () => {
  const run = () => {
    manager.send('1', 'go on');
    return {ok: true, text: 'sent'};
  };
  const commands = [{name: 'do', description: 'does it', run}];
  const mcp = {findCommand: () => undefined} as unknown as SessionParts['mcp'];
  const {session, manager, spawn, model} = open([say('I see')], [], {}, {commands, mcp});
  await spawn(new ScriptedModel([say('found')]));
  expect(await session.submit('/do')).toMatchObject({type: 'turn', result: {text: 'I see', turns: 1}});
  expect(JSON.stringify(model.requests[0]?.messages)).toContain('Result: continued');
  const idle = open([], [], {}, {commands: [{...commands[0]!, run: () => ({ok: true, text: 'done'})}], mcp});
  expect(await idle.session.submit('/do')).toMatchObject({type: 'command', text: 'done'});
});

describe('the time limit', () => {
  it('ends the runs in the background, too, and is the outcome', async () => {
    stopTimers();
    const {session, childModel, manager} = open([dispatching('one'), say('it is at work')], [{hang: true}], {
      timeoutSeconds: 500,
    });
    const done = session.submit('go');
    await childModel.asked();
    await vi.advanceTimersByTimeAsync(499_900);
    expect(manager.count()).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(await done).toMatchObject({
      result: {outcome: 'timeout', timeout: 'timed out after 500 s', text: 'it is at work', turns: 2},
    });
    expect([manager.count(), manager.list()[0]?.outcome]).toEqual([0, 'stopped']);
  });

  it('is none where it is 0', async () => {
    stopTimers();
    const {session, childModel, manager} = open([dispatching('one'), say('it is at work')], [{hang: true}], {
      timeoutSeconds: 0,
    });
    const done = session.submit('go');
    await childModel.asked();
    await vi.advanceTimersByTimeAsync(100_000_000);
    expect(manager.count()).toBe(1);
    await manager.stopAll();
    expect(await done).toMatchObject({result: {outcome: 'success'}});
  });

  it('of a prompt that is done ends no later one', async () => {
    stopTimers();
    const {session, model} = open([say('done'), {hang: true, partial: 'half'}], [], {timeoutSeconds: 500});
    await session.submit('one');
    await vi.advanceTimersByTimeAsync(400_000);
    const second = session.submit('two');
    await model.asked(2);
    await vi.advanceTimersByTimeAsync(499_900);
    expect(model.requests[1]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(await second).toMatchObject({result: {outcome: 'timeout', text: 'half'}});
  });
});
