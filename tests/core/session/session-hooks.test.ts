/** Hooks about the session: when they are told, and what their answers mean. */
import {describe, expect, it} from 'vitest';
import type {Question} from '../../../src/core/contract/events.ts';
import type {HookAnswer, HookCall, HookEvent} from '../../../src/core/contract/hook.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {settle, until} from '../../support/wait.ts';
import {managerFixture} from '../manager-fixture.ts';
import {runFixture} from '../run-fixture.ts';
import {ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

type Answers = Partial<Record<HookEvent, Partial<HookAnswer> | (() => Promise<Partial<HookAnswer>>)>>;

/** @param answers of the hooks, which listen to these events alone */
function open(answers: Answers, script: readonly ScriptedReply[] = []) {
  const calls: HookCall[] = [];
  const hooks = {
    listens: (event: HookEvent) => event in answers,
    run: async (call: HookCall) => {
      calls.push(call);
      const answer = answers[call.event] ?? expect.fail(`no hook listens to ${call.event}`);
      return {context: [], ...(typeof answer === 'function' ? await answer() : answer)};
    },
  };
  const model = new ScriptedModel(script);
  const made = managerFixture();
  const questions = new Questions();
  const {session, history} = sessionOver(made, model, runFixture(model), {hooks, questions});
  return {...made, session, history, model, calls, questions};
}

describe('the start of a session', () => {
  it('is told, and what the hooks say is before the model with the first prompt', async () => {
    const {session, calls, model, inbox} = open({SessionStart: {context: ['be brief']}}, [say('ok')]);
    expect(calls).toEqual([{event: 'SessionStart', subject: 'startup', input: {source: 'startup'}}]);
    await until(() => inbox.list('companion').length === 1);
    expect(inbox.startsTurn).toBe(false);
    await session.submit('go');
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('be brief');
  });

  it('lets no prompt pass where a hook ends the session', async () => {
    const {session, model} = open({SessionStart: {stops: 'not here'}, UserPromptSubmit: {}}, [say('ok')]);
    expect(await session.submit('go')).toMatchObject({type: 'command', ok: false, input: 'go'});
    expect(model.requests).toEqual([]);
  });
});

describe('a prompt', () => {
  it.each<[Partial<HookAnswer>, string | undefined]>([
    [{}, undefined],
    [{blocked: 'secret'}, 'secret'],
    [{stops: 'enough'}, 'enough'],
  ])('about which a hook says %j', async (answer, refusal) => {
    const {session, calls, model, events} = open({UserPromptSubmit: answer}, [say('ok')]);
    const done = await session.submit('go');
    expect(calls).toEqual([{event: 'UserPromptSubmit', input: {prompt: 'go'}}]);
    expect(model.requests.length).toBe(refusal === undefined ? 1 : 0);
    if (refusal === undefined) return expect(done).toMatchObject({type: 'turn', result: {text: 'ok'}});
    const text = `A hook did not let the prompt pass: ${refusal}`;
    expect(done).toEqual({type: 'command', ok: false, text, exit: false, input: 'go'});
    expect(events.filter(({type}) => type === 'notice')).toMatchObject([{level: 'error', text}]);
  });
});

it('the end of a session is told, with its reason', async () => {
  const {session, calls} = open({SessionStart: {}, SessionEnd: {}});
  await session.request({type: 'clear'});
  await session.close();
  expect(calls.map(({event, subject}) => `${event} ${subject}`)).toEqual([
    ...['SessionStart startup', 'SessionEnd clear', 'SessionStart clear', 'SessionEnd other'],
  ]);
});

describe('a question', () => {
  const question = (id: string): Question => ({
    ...{id, agent: 'main', title: 'Run?', detail: '', options: [], escape: 'no'},
    detailType: 'text',
  });
  const signal = () => new AbortController().signal;

  it('is told, and a hook may end the turn that asks', async () => {
    const {session, calls, model, bus, questions} = open({Notification: {stops: 'enough'}}, [{hang: true}]);
    const turn = session.submit('go');
    await model.asked();
    const asked = questions.ask(question('ask-1'), bus.emitFor('main'), signal());
    expect(await turn).toMatchObject({result: {outcome: 'error'}});
    const input = {message: 'mini-cc asks: Run?', notification_type: 'permission_prompt'};
    expect(calls).toEqual([{event: 'Notification', subject: 'permission_prompt', input}]);
    session.answer('ask-1', {choice: 'no'});
    await asked;
  });

  it.each([true, false])(
    'of a run ends that run where it is in the background (%s), else the turn',
    async (background) => {
      const {session, manager, model, bus, questions, spawn} = open({Notification: {stops: 'enough'}}, [{hang: true}]);
      const turn = session.submit('go');
      await model.asked();
      const hanging = new ScriptedModel([{hang: true}]);
      const run = spawn(hanging, {background});
      await hanging.asked();
      const asked = questions.ask(question('ask-1'), bus.emitFor(manager.list()[0]!.runId), signal());
      if (background) expect((await run).result.outcome).toBe('stopped');
      else expect(await turn).toMatchObject({result: {outcome: 'error'}});
      expect(manager.count()).toBe(background ? 0 : 1);
      session.answer('ask-1', {choice: 'no'});
      await session.close();
      await Promise.all([asked, turn, run]);
    },
  );

  it('that was answered before the hook said so ends nothing', async () => {
    const said = Promise.withResolvers<Partial<HookAnswer>>();
    const {session, calls, model, bus, questions} = open({Notification: () => said.promise}, [{hang: true}]);
    const turn = session.submit('go');
    await model.asked();
    const asked = questions.ask(question('ask-1'), bus.emitFor('main'), signal());
    await until(() => calls.length === 1);
    session.answer('ask-1', {choice: 'no'});
    await asked;
    said.resolve({stops: 'enough'});
    await settle();
    session.abort();
    expect(await turn).toMatchObject({result: {outcome: 'stopped'}});
  });
});
