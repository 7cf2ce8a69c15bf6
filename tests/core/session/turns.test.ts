/** Turns of the main agent: one at a time; what comes during one waits, and what ends them. */
import {describe, expect, it, vi} from 'vitest';
import type {AgentEvent} from '../../../src/core/contract/events.ts';
import type {HookCall} from '../../../src/core/contract/hook.ts';
import type {Prompt} from '../../../src/core/contract/session-requests.ts';
import type {Tool} from '../../../src/core/contract/tool.ts';
import type {SessionParts} from '../../../src/core/session/parts.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {settle, until} from '../../support/wait.ts';
import {managerFixture} from '../manager-fixture.ts';
import {runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

function open(script: readonly ScriptedReply[], change: Partial<SessionParts> = {}, tools: readonly Tool[] = []) {
  const model = new ScriptedModel(script);
  const made = managerFixture();
  const {session, history} = sessionOver(made, model, runFixture(model, tools), change);
  const events: AgentEvent[] = [];
  session.subscribe((event) => void events.push(event));
  const ofType = <T extends AgentEvent['type']>(type: T) =>
    events.filter((event): event is Extract<AgentEvent, {type: T}> => event.type === type);
  return {...made, session, history, model, events, ofType};
}

const hang: ScriptedReply = {hang: true};
const command: Prompt = {
  ...{id: 'c', content: 'do it'},
  command: {line: '/do it', pieces: [{kind: 'text', text: 'do it'}], allowedTools: ['bash'], model: 'haiku'},
};
const announcement = {id: 'a', kind: 'announcement', content: 'a run has ended', startsTurn: true} as const;
const lastPrompt = (model: ScriptedModel, request: number) => model.requests[request]?.messages.at(-1)?.content;

describe('a turn', () => {
  it('says when it begins and ends, and what it did', async () => {
    const look = tool('look', () => textResult('seen', {facts: {read: ['/a', '/b'], scanned: 3}}));
    const {session, ofType} = open([calls(call('look', {})), say('done')], {}, [look]);
    await session.submit('go');
    expect(ofType('run_start')).toMatchObject([{agent: 'main', model: 'scripted', queued: false}]);
    expect(ofType('run_end')).toMatchObject([
      {outcome: 'success', reason: '', tools: 1, usage: {input_tokens: 20}, filesRead: 2, filesScanned: 5},
    ]);
  });

  it('of a prompt that cannot be carried out fails, and the next one is a turn again', async () => {
    const resolveModel = () => expect.fail('there is no such model');
    const {session, ofType} = open([say('ok')], {resolveModel});
    expect(await session.submit(command)).toMatchObject({
      result: {outcome: 'error', code: 'INTERNAL', error: 'there is no such model', turns: 0},
    });
    expect(ofType('run_end')).toMatchObject([{outcome: 'error', reason: 'there is no such model'}]);
    expect(await session.submit('go')).toMatchObject({result: {outcome: 'success'}});
  });
});

describe('during a turn', () => {
  it('prompts wait together for its end, and a command for a turn of its own, with its rules and its model', async () => {
    const other = Object.assign(new ScriptedModel([say('did it')]), {name: 'haiku'});
    const allowed: (readonly string[])[] = [];
    const {session, model, ofType} = open([hang, say('both')], {
      resolveModel: () => other,
      allowInTurn: (rules) => void allowed.push(rules),
    });
    const turn = session.submit('go');
    await model.asked();
    expect(await session.submit(command)).toEqual({type: 'queued', id: 'c'});
    expect(await session.submit({id: 'p', content: 'and that'})).toEqual({type: 'queued', id: 'p'});
    await session.submit({id: 'q', content: 'and this'});
    expect(ofType('queued_prompt').map(({text}) => text)).toEqual(['/do it', 'and that', 'and this']);
    session.abort();
    await turn;
    await until(() => ofType('run_end').length === 3);
    expect(lastPrompt(model, 1)).toBe('and that\n\nand this');
    expect(lastPrompt(other, 0)).toBe('do it');
    expect(ofType('queued_prompt_delivered').map(({id}) => id)).toEqual(['p', 'q', 'c']);
    expect(allowed).toEqual([[], [], [], [], ['bash'], []]);
    expect([model.requests.length, other.requests.length]).toEqual([2, 1]);
  });

  it('a prompt that was typed brings the files that it names, also beside one that was not', async () => {
    const read = tool('read_file', (_, value) => textResult(`of ${value}`));
    const {session, model, ofType} = open([hang, say('ok'), say('ok')], {}, [read]);
    const turn = session.submit('go');
    await model.asked();
    await session.submit({content: 'see @/etc/hostname', typed: true});
    await session.submit({content: 'and do it'});
    session.abort();
    await turn;
    await until(() => ofType('run_end').length === 2);
    const named = "The user's prompt names @/etc/hostname.";
    expect(JSON.stringify(model.requests[1]?.messages)).toContain(named);
    await session.submit({content: 'see @/etc/hosts'});
    expect(JSON.stringify(model.requests[2]?.messages)).not.toContain('names @/etc/hosts.');
  });

  it('a fan-out is refused', async () => {
    const {session, model, ofType} = open([hang]);
    const turn = session.submit('go');
    await model.asked();
    const text = 'A turn is at work: wait for its end, or end it by /stop.';
    expect(await session.submit({content: 'fix all', fanOut: 'new'})).toEqual({
      ...{type: 'command', ok: false, text, exit: false},
    });
    expect(ofType('notice')).toMatchObject([{level: 'error', text}]);
    session.abort();
    await turn;
  });

  it('an announcement waits, also after an interrupt, for the next prompt', async () => {
    stopTimers();
    const {session, model, inbox, ofType} = open([hang, say('ok')]);
    const turn = session.submit('go');
    await model.asked();
    inbox.put(announcement);
    session.abort();
    await turn;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(model.requests).toHaveLength(1);
    await session.submit('what now?');
    expect(model.requests[1]?.messages.slice(-2).map(({content}) => content)).toEqual(['a run has ended', 'what now?']);
    expect(ofType('queued_prompt_delivered')).toEqual([]);
  });
});

describe('an idle agent', () => {
  it('waits a moment for more before it reads an announcement, and does so again for the next', async () => {
    stopTimers();
    const {model, inbox} = open([say('I see'), say('I see')]);
    inbox.put(announcement);
    await vi.advanceTimersByTimeAsync(249);
    inbox.put({...announcement, id: 'b'});
    expect(model.requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    await settle();
    expect(model.requests[0]?.messages).toHaveLength(2);
    inbox.put({...announcement, id: 'c'});
    await vi.advanceTimersByTimeAsync(250);
    expect(model.requests).toHaveLength(2);
  });

  it('begins nothing once the session is closed', async () => {
    stopTimers();
    const {session, model, inbox} = open([say('never')]);
    inbox.put(announcement);
    await session.close();
    inbox.put({...announcement, id: 'b'});
    await vi.advanceTimersByTimeAsync(1_000);
    expect(model.requests).toEqual([]);
  });
});

describe('what waits', () => {
  async function waiting() {
    const made = open([hang, say('later')]);
    const turn = made.session.submit('go');
    await made.model.asked();
    await made.session.submit({id: 'p', content: 'and that'});
    await made.session.submit(command);
    return {...made, turn};
  }

  it('is dropped and named by stop, which waits for the end of the turn', async () => {
    const {session, turn, model, ofType} = await waiting();
    expect(await session.request({type: 'stop'})).toEqual({wasBusy: true, runs: 0});
    expect(ofType('run_end')).toMatchObject([{outcome: 'stopped'}]);
    expect(ofType('queued_prompt_dropped')).toMatchObject([
      {id: 'p', text: 'and that'},
      {id: 'c', text: '/do it'},
    ]);
    await turn;
    expect(await session.submit('what now?')).toMatchObject({result: {text: 'later'}});
    expect(model.requests).toHaveLength(2);
  });

  it('is dropped when the session is closed', async () => {
    const {session, turn, model, inbox} = await waiting();
    await session.close();
    await turn;
    expect([inbox.list('prompt'), inbox.list('command'), model.requests.length]).toEqual([[], [], 1]);
  });

  it('is taken back as it was typed', async () => {
    const {session, turn} = await waiting();
    expect(session.request({type: 'take_back', id: 'c'})).toBe('/do it');
    await session.request({type: 'stop'});
    await turn;
  });
});

it.each(['a prompt', 'an announcement'])('%s waits until the conversation is made shorter', async (what) => {
  const long = 'words '.repeat(2_000);
  const {session, model, inbox} = open([say(long), say(long), hang, say('ok')]);
  await session.submit('one');
  await session.submit('two');
  const shorter = session.request({type: 'compact'});
  await model.asked(3);
  await expect(session.request({type: 'compact'})).rejects.toMatchObject({code: 'SESSION_BUSY'});
  if (what === 'an announcement') inbox.put(announcement);
  else expect(await session.submit('three')).toMatchObject({type: 'queued'});
  session.abort();
  await shorter.catch(() => undefined);
  await model.asked(4);
  expect(lastPrompt(model, 3)).toBe(what === 'a prompt' ? 'three' : 'a run has ended');
  await session.close();
});

it('what is typed while a conversation is left belongs to the next one', async () => {
  const gate = Promise.withResolvers<void>();
  const hooks = {
    listens: (event: string) => event === 'SessionEnd',
    run: async (_: HookCall) => {
      await gate.promise;
      return {context: []};
    },
  };
  const {session, model, ofType, history} = open([say('hello')], {hooks});
  const cleared = session.request({type: 'clear'});
  expect(await session.submit('in the new one')).toMatchObject({type: 'queued'});
  expect(() => session.request({type: 'rewind_points'})).toThrow('is at work');
  gate.resolve();
  await cleared;
  await until(() => ofType('run_end').length === 1);
  expect([model.requests[0]?.messages.length, history.messages.length]).toEqual([1, 0]);
});
