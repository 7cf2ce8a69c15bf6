/** What stops a prompt before its turn, while hooks or commands are waited for: nothing is sent after it. */
import {describe, expect, it, onTestFinished, vi} from 'vitest';
import type {AgentEvent} from '../../../src/core/contract/events.ts';
import type {HookAnswer, HookCall, HookEvent} from '../../../src/core/contract/hook.ts';
import type {Permit} from '../../../src/core/contract/permission.ts';
import type {Command} from '../../../src/core/contract/session-requests.ts';
import type {SessionParts} from '../../../src/core/session/parts.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {stopTime, stopTimers} from '../../support/fake-time.ts';
import {settle, until} from '../../support/wait.ts';
import {FakeClock} from '../fake-clock.ts';
import {managerFixture} from '../manager-fixture.ts';
import {ALLOWED_CALL, runFixture, tool} from '../run-fixture.ts';
import {ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

/** A hook of these events that answers when the test says so, or when its signal is aborted. */
function slowHooks(...events: HookEvent[]) {
  const running: {readonly call: HookCall; answer(answer?: Partial<HookAnswer>): void}[] = [];
  const ended: string[] = [];
  const hooks: SessionParts['hooks'] = {
    listens: (event) => events.includes(event),
    run: (call, signal) =>
      new Promise((resolve) => {
        const answer = (said: Partial<HookAnswer> = {}) => resolve({context: [], ...said});
        signal?.addEventListener('abort', () => {
          ended.push(call.event);
          answer();
        });
        running.push({call, answer});
      }),
  };
  return {hooks, running, ended};
}

function open(hooks: SessionParts['hooks'], script: readonly ScriptedReply[], change: Partial<SessionParts> = {}) {
  const model = new ScriptedModel(script);
  const made = managerFixture();
  const bash = tool('bash', () => textResult('ran'));
  const {session, history} = sessionOver(made, model, runFixture(model, [bash]), {hooks, ...change});
  const events: AgentEvent[] = [];
  session.subscribe((event) => void events.push(event));
  const texts = (type: AgentEvent['type']) =>
    events.flatMap((event) => (event.type === type && 'text' in event ? event.text : []));
  return {...made, session, history, model, texts};
}

const hang: ScriptedReply = {hang: true};
const stopped = {type: 'turn', result: {outcome: 'stopped', turns: 0}};

describe('while a hook looks at a prompt', () => {
  it.each(['abort', 'stop', 'close'] as const)('%s ends the hook, and nothing is sent', async (how) => {
    const {hooks, running, ended} = slowHooks('UserPromptSubmit');
    const {session, model, history, texts, inbox} = open(hooks, [say('never')]);
    const done = session.submit('go');
    if (how === 'abort') session.abort();
    else if (how === 'stop') await session.request({type: 'stop'});
    else await session.close();
    expect(await done).toMatchObject({...stopped, input: 'go'});
    running[0]!.answer({context: ['too late']});
    await settle();
    expect([ended, model.requests, history.messages, inbox.list('companion')]).toEqual([
      ...[['UserPromptSubmit'], [], [], []],
    ]);
    expect(texts('notice')).toEqual([expect.stringMatching(/^The prompt was not sent: (interrupted|stopped)/)]);
  });

  it('of a session that has only begun, an abort ends the waiting for its start', async () => {
    const {hooks, ended} = slowHooks('SessionStart');
    const {session, model} = open(hooks, [say('never')]);
    const done = session.submit('go');
    session.abort();
    expect(await done).toMatchObject(stopped);
    expect([ended, model.requests]).toEqual([[], []]);
    await session.close();
    expect(ended).toEqual(['SessionStart']);
  });

  it('the session is busy, and further prompts wait in their order', async () => {
    const {hooks, running} = slowHooks('UserPromptSubmit');
    const {session, model, texts} = open(hooks, [hang, say('ok')]);
    const first = session.submit('one');
    const second = session.submit({id: 'b', content: 'two'});
    expect(() => session.request({type: 'rewind_points'})).toThrow('is at work');
    expect(texts('queued_prompt')).toEqual(['two']);
    running[1]!.answer();
    await settle();
    expect(model.requests).toEqual([]);
    running[0]!.answer();
    await model.asked();
    expect(await second).toEqual({type: 'queued', id: 'b'});
    expect(model.requests[0]?.messages.map(({content}) => content)).toEqual(['one', 'two']);
    expect(texts('queued_prompt')).toEqual(['two']);
    session.abort();
    await first;
    await session.close();
  });

  it('a second prompt can be taken back, and is not sent', async () => {
    const {hooks, running, ended} = slowHooks('UserPromptSubmit');
    const {session, model, texts} = open(hooks, [hang]);
    const first = session.submit('one');
    const second = session.submit({id: 'b', content: 'two'});
    expect(session.request({type: 'take_back', id: 'b'})).toBe('two');
    expect(ended).toEqual(['UserPromptSubmit']);
    running[0]!.answer();
    expect(await second).toEqual({...stopped, result: expect.objectContaining(stopped.result)});
    await model.asked();
    expect([model.requests.length, texts('notice')]).toEqual([1, []]);
    session.abort();
    await first;
  });

  it('that outlasts the turn before, the prompt has a turn of its own, which an abort ends', async () => {
    const {hooks, running} = slowHooks('UserPromptSubmit');
    const {session, model} = open(hooks, [hang, hang]);
    const first = session.submit('one');
    running[0]!.answer();
    await model.asked();
    const second = session.submit('two');
    session.request({type: 'take_back', id: 'unknown'});
    model.requests[0]!.signal.throwIfAborted();
    session.abort();
    expect(await first).toMatchObject({result: {outcome: 'stopped'}});
    expect(await second).toMatchObject(stopped);
    const third = session.submit('three');
    running[2]!.answer();
    await model.asked(2);
    session.abort();
    expect(await third).toMatchObject({type: 'turn', result: {outcome: 'stopped'}});
  });
});

describe('the time limit', () => {
  const limited = {limits: {timeoutSeconds: 5}, interactive: false};

  it.each([true, false])('holds while a hook looks at a prompt (interactive: %s)', async (interactive) => {
    stopTimers();
    const {hooks, ended} = slowHooks('UserPromptSubmit');
    const {session, model} = open(hooks, [say('never')], {...limited, interactive});
    const done = session.submit('go');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await done).toMatchObject({
      ...{type: 'turn', result: {outcome: 'timeout', timeout: 'timed out after 5 s'}},
    });
    expect([ended, model.requests]).toEqual([['UserPromptSubmit'], []]);
  });

  it('counts the time of that hook for the turn, too', async () => {
    stopTime();
    const {hooks, running} = slowHooks('UserPromptSubmit');
    const {session, model} = open(hooks, [hang], limited);
    const done = session.submit('go');
    await vi.advanceTimersByTimeAsync(3_000);
    running[0]!.answer();
    await model.asked();
    await vi.advanceTimersByTimeAsync(1_900);
    expect(model.requests[0]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(await done).toMatchObject({result: {outcome: 'timeout'}});
  });

  it('does not count the time in which a person is asked about a command of a command file', async () => {
    const clock = new FakeClock();
    const permit: Permit = async ({deadline}) => {
      deadline?.pause();
      clock.advance(3_600_000);
      deadline?.resume();
      return ALLOWED_CALL;
    };
    const model = new ScriptedModel([say('the answer')]);
    const bash = tool('bash', () => textResult('ran'));
    const {session} = sessionOver(managerFixture(), model, runFixture(model, [bash], {clock, permit}), limited);
    const command = {line: '/do', pieces: [{kind: 'command', text: 'ls'}], allowedTools: []} as const;
    const done = await session.submit({content: '/do', verbatim: true, command});
    expect(done).toMatchObject({result: {outcome: 'success', text: 'the answer'}});
  });

  it('ends a hook about the end of the turn', async () => {
    stopTimers();
    const {hooks, ended} = slowHooks('Stop');
    const {session} = open(hooks, [say('the answer')], limited);
    const done = session.submit('go');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await done).toMatchObject({result: {outcome: 'timeout', text: 'the answer'}});
    expect(ended).toEqual(['Stop']);
  });

  it.each([true, false])('ends a slash command (interactive: %s), whose prompt is not sent', async (interactive) => {
    stopTimers();
    const asked = Promise.withResolvers<void>();
    const {session, model} = open(slowHooks().hooks, [say('never')], {
      ...{...limited, interactive, mcp: {findCommand: () => undefined} as unknown as SessionParts['mcp']},
      commands: [slowCommand(asked.promise)],
    });
    const done = session.submit('/slow');
    await vi.advanceTimersByTimeAsync(5_000);
    asked.resolve();
    expect(await done).toMatchObject({result: {outcome: 'timeout'}});
    expect(model.requests).toEqual([]);
  });
});

const slowCommand = (gate: Promise<void>): Command => ({
  ...{name: 'slow', description: 'takes its time'},
  async run() {
    await gate;
    return {ok: true, text: '', prompt: {content: 'the prompt of the command'}};
  },
});

it('an abort during a slash command keeps its prompt from being sent', async () => {
  const gate = Promise.withResolvers<void>();
  const mcp = {findCommand: () => undefined} as unknown as SessionParts['mcp'];
  const {session, model, texts} = open(slowHooks().hooks, [say('never')], {commands: [slowCommand(gate.promise)], mcp});
  const done = session.submit('/slow down');
  session.abort();
  gate.resolve();
  expect(await done).toMatchObject({...stopped, input: '/slow down'});
  expect([model.requests, texts('notice')]).toEqual([[], ['The prompt was not sent: interrupted by the user.']]);
});

it('an abort during the hooks of the end of a conversation ends them, and the conversation is left', async () => {
  const {hooks, running, ended} = slowHooks('SessionEnd');
  const {session} = open(hooks, []);
  const cleared = session.request({type: 'clear'});
  await until(() => running.length === 1);
  session.abort();
  await cleared;
  expect(ended).toEqual(['SessionEnd']);
});

it('the hooks of the end of a session do not keep it open for long', async () => {
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
  onTestFinished(() => timeout.mockRestore());
  const {hooks, running, ended} = slowHooks('SessionEnd');
  const {session, texts} = open(hooks, []);
  const closed = session.close();
  await until(() => running.length === 1);
  limit.abort();
  await closed;
  expect([timeout.mock.calls, ended]).toEqual([[[5_000]], ['SessionEnd']]);
  expect(texts('notice')).toEqual(['The SessionEnd hooks were stopped after 5 s, since mini-cc leaves.']);
});
