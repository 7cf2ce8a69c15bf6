/** What a session answers to requests, and how prompts with blocks wait and reach the model. */

import {describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {AgentEvent} from '../../../src/core/contract/events.ts';
import type {ModelRequest} from '../../../src/core/contract/model.ts';
import type {Prompt} from '../../../src/core/contract/session-requests.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import type {SessionParts} from '../../../src/core/session/parts.ts';
import {getText} from '../../../src/core/util/messages.ts';
import {settle, until} from '../../support/wait.ts';
import {createPermitDeps, type ManagerFixtureOptions, managerFixture} from '../manager-fixture.ts';
import {runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

const KEY = 'sk-ant-0123456789abcdef';
const ONE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = {type: 'image', source: {type: 'base64', media_type: 'image/png', data: ONE_PIXEL}} as const;

function given(
  script: readonly ScriptedReply[] = [],
  change: Partial<SessionParts> = {},
  runs: ManagerFixtureOptions = {},
) {
  const model = new ScriptedModel(script);
  const made = managerFixture({model: new ScriptedModel([say('went on')]), ...runs});
  const {session, history} = sessionOver(made, model, runFixture(model), change);
  const events: AgentEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return {...made, session, history, model, events};
}

describe('request', () => {
  it('answers by the name of the request, at once or later', async () => {
    const {session, events} = given();
    expect(session.request({type: 'set_model', model: 'haiku'})).toEqual({model: 'scripted', offline: false});
    expect(events.at(-1)).toMatchObject({type: 'session', info: {sessionId: 'session-1'}});
    expect(session.request({type: 'runs'})).toEqual([]);
    expect(await session.request({type: 'stop'})).toEqual({wasBusy: false, runs: 0});
    expect(await session.request({type: 'clear'})).toEqual({previous: 'session-1'});
  });

  it('clear keeps the conversation when a new one cannot be opened', async () => {
    const {session, history, events} = given([say('still here')], {
      openConversation: () => {
        throw new Error('no room');
      },
    });
    await expect(session.request({type: 'clear'})).rejects.toThrow('no room');
    expect(session.info.sessionId).toBe('session-1');
    await session.submit('go on');
    expect(history.messages).toHaveLength(2);
    expect(events.some(({type}) => type === 'cleared')).toBe(false);
  });

  it('close that is asked for twice ends once, for both at the same time', async () => {
    const closing = Promise.withResolvers<void>();
    const {session} = given([], {onClose: () => closing.promise});
    const done: string[] = [];
    const both = ['first', 'second'].map((name) => session.close().then(() => done.push(name)));
    await settle();
    expect(done).toEqual([]);
    closing.resolve();
    await Promise.all(both);
    expect(done).toEqual(['first', 'second']);
  });

  it('explains the call of an open question by one small request without tools, and counts what it cost', async () => {
    const questions = new Questions();
    const {session, model} = given([say('It removes the folder build.')], {questions});
    const call = {callId: 'call-1', tool: 'bash', input: {command: `rm -rf build # ${'x'.repeat(10_000)}`}};
    const question = {
      id: 'ask-1',
      agent: 'main',
      title: 'Run?',
      detail: '',
      detailType: 'text',
      options: [],
      escape: 'no',
    };
    const asked = questions.ask({...question, detailType: 'text', call}, () => undefined, new AbortController().signal);
    await expect(session.request({type: 'explain_call', question: 'other'})).rejects.toThrow(
      'This question is about no call',
    );
    expect(await session.request({type: 'explain_call', question: 'ask-1'})).toBe('It removes the folder build.');
    expect(model.requests).toHaveLength(1);
    const [{tools, messages, maxOutputTokens}] = model.requests as [ModelRequest];
    expect(tools).toEqual([]);
    expect(maxOutputTokens).toBeLessThanOrEqual(2_000);
    const text = getText(messages[0]!.content);
    expect(text).toContain('rm -rf build');
    expect(text).toContain('(the rest is left out)');
    expect(text.length).toBeLessThan(6_200);
    expect(session.request({type: 'usage'}).current).toMatchObject([{agent: 'mini-cc'}]);
    session.answer('ask-1', {choice: 'no'});
    await asked;
    await expect(session.request({type: 'explain_call', question: 'ask-1'})).rejects.toThrow('was answered');
  });

  it('lets the model of a subagent explain its call, with the key of its agent', async () => {
    const questions = new Questions();
    const own = new ScriptedModel([say('It removes the folder build.')]);
    const chosen: unknown[] = [];
    const chooseModel: SessionParts['chooseModel'] = ({name}, asked) => {
      chosen.push([name, asked]);
      return {model: own, warnings: [], foreignWords: []};
    };
    const permits = createPermitDeps(questions, () => undefined);
    const bash = tool('bash', undefined, [{kind: 'run', command: 'rm -rf build'}]);
    const {session, model, events, spawn} = given([], {questions, chooseModel}, {tools: [bash], runs: {permits}});
    const ended = spawn(new ScriptedModel([calls(call('bash', {})), say('done')]), {agent: AGENT_TYPES.code!});
    await until(() => events.some(({type}) => type === 'ask'));
    const {question} = events.find((event) => event.type === 'ask')!;
    expect(await session.request({type: 'explain_call', question: question.id})).toBe('It removes the folder build.');
    expect(chosen).toEqual([['code', {model: 'scripted', thinking: 'off'}]]);
    expect([own.requests.length, model.requests.length]).toEqual([1, 0]);
    session.answer(question.id, {choice: 'no'});
    await ended;
  });

  it('refuses a name that is not there, also one that every object has', () => {
    const {session} = given();
    for (const type of ['set_colour', 'constructor', 'toString']) {
      const request = () => session.request({type} as unknown as {type: 'runs'});
      expect(request).toThrow(
        expect.objectContaining({code: 'UNSUPPORTED_REQUEST', message: expect.stringContaining(type)}),
      );
    }
  });

  it('gives out no known key, in no answer', async () => {
    const redactor = new Redactor([{name: 'MY_KEY', value: KEY}]);
    const changes = {
      diff: async () => ({files: 1, patches: [`+${KEY}`], gaps: {reasons: []}}),
    } as unknown as SessionParts['changes'];
    const {session, spawn} = given([], {redactor, changes});
    const {runId} = await spawn(new ScriptedModel([say(`it is ${KEY}`)]), {description: KEY});
    expect(session.request({type: 'redact', text: `a ${KEY} b`})).toBe('a [redacted: MY_KEY] b');
    const answers = [
      session.request({type: 'runs'}),
      session.request({type: 'read_run', run: runId}),
      await session.request({type: 'diff_run', run: runId}),
    ];
    expect(JSON.stringify(answers)).not.toContain(KEY);
    expect(answers[2]).toMatchObject({patches: ['+[redacted: MY_KEY]']});
  });

  it('runs a subagent by its name, with some of its tools', async () => {
    const {session} = given([say('here it is')], {info: infoWith(['bash', 'grep', 'Task'])});
    const spawn = (agent: string, tools?: string[]) =>
      session.request({type: 'spawn_run', agent, prompt: 'find it', description: 'find it', ...(tools && {tools})});
    expect(await spawn(' Explore ', ['grep'])).toMatchObject({result: {outcome: 'success', text: 'here it is'}});
    expect(session.request({type: 'runs'})).toMatchObject([
      {agent: 'explore', onlyTools: ['grep'], outcome: 'success'},
    ]);
    expect(() => spawn('exploer')).toThrow('Invalid agent_type: "exploer". Did you mean "explore"? Valid types: ');
    expect(() => spawn('explore', [])).toThrow('tools is empty');
    expect(() => spawn('explore', ['write_file'])).toThrow(
      `explore has none of these tools: write_file. It has: ${[...AGENT_TYPES.explore!.tools].join(', ')}`,
    );
  });

  it('lets a run have none of the tools that dispatch, and all others where its agent has all', async () => {
    const {session} = given([say('ok')], {info: infoWith(['bash', 'grep', 'Task', 'TaskOutput', 'FanOut'])});
    const spawn = (agent: string, tools?: string[]) =>
      session.request({type: 'spawn_run', agent, prompt: 'x', description: 'x', ...(tools && {tools})});
    expect(() => spawn('code', ['Task'])).toThrow('code has none of these tools: Task. It has: bash, grep');
    await spawn('code');
    expect(session.request({type: 'runs'})[0]!.onlyTools).toBeUndefined();
  });

  it('sends the run that is named to the background, or all of them', async () => {
    const {session, spawn, manager} = given();
    const runs = ['a', 'b', 'c'].map((prompt) => spawn(new ScriptedModel([{hang: true}]), {prompt}));
    const [first, second, third] = manager.list().map(({runId}) => runId);
    const detach = (run?: string) => session.request({type: 'detach_runs', ...(run !== undefined && {run})});
    expect(detach(first).map(({runId}) => runId)).toEqual([first]);
    expect(detach(first)).toEqual([]);
    expect(detach().map(({runId}) => runId)).toEqual([second, third]);
    expect(await session.request({type: 'stop_runs', run: '1'})).toMatchObject([{runId: third}]);
    expect(manager.count()).toBe(2);
    await session.request({type: 'stop'});
    await Promise.all(runs);
  });

  it('says when a run will be archived, where it will be', async () => {
    const {session, spawn} = given([], {}, {options: {archiveAfterMinutes: 60}});
    const {runId} = await spawn(new ScriptedModel([say('x')]));
    const {record, archiveAt} = session.request({type: 'run', run: runId});
    expect(Math.abs(archiveAt! - record.endedAt! - 60 * 60_000)).toBeLessThan(2_000);
    const never = given();
    await never.spawn(new ScriptedModel([say('x')]));
    expect(never.session.request({type: 'run', run: '1'})).not.toHaveProperty('archiveAt');
  });

  it('counts the runs of earlier processes with what was used, and those of this one once', async () => {
    const before = managerFixture();
    await before.spawn(new ScriptedModel([say('x')]));
    const {session, manager, spawn} = given([], {}, {home: before.home});
    manager.restore(new Set());
    await spawn(new ScriptedModel([say('y')]));
    const {entries} = session.request({type: 'usage'});
    expect(entries).toMatchObject([{agent: 'explore', model: 'scripted', usage: {input_tokens: 10}}]);
  });

  it('takes back what a run changed that has ended, and adds folders', async () => {
    const changes = {undo: async (agentId: string) => ({agentId})} as unknown as SessionParts['changes'];
    const list: string[] = [];
    const folders = {list: () => list, add: (folder: string) => void list.push(folder)} as never;
    const {session, spawn} = given([], {changes, folders});
    const {runId} = await spawn(new ScriptedModel([say('x')]));
    expect(await session.request({type: 'undo_run', run: runId})).toMatchObject({agentId: runId, record: {runId}});
    expect(session.request({type: 'add_folder', folder: '/added'})).toEqual(['/added']);
  });

  it('keeps what it is told for the next prompt, and begins no turn for it', async () => {
    const {session, inbox, model} = given([say('ok')]);
    session.request({type: 'tell', text: 'the tests passed', label: 'CI'});
    expect([inbox.startsTurn, inbox.list('companion')]).toMatchObject([
      false,
      [{content: 'the tests passed', label: 'CI'}],
    ]);
    await session.submit('go');
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('the tests passed');
  });

  it('names an unknown run, and refuses to undo one that is at work', async () => {
    const {session, spawn} = given();
    expect(() => session.request({type: 'run', run: 'x'})).toThrow('Unknown subagent id: x');
    const hanging = spawn(new ScriptedModel([{hang: true}]));
    await expect(session.request({type: 'undo_run', run: '1'})).rejects.toThrow('is at work: stop it first');
    expect(await session.request({type: 'stop_runs'})).toMatchObject([{agent: 'explore'}]);
    expect(await session.request({type: 'stop_runs'})).toEqual([]);
    await hanging;
  });

  it('takes a conversation back only while nothing is at work, and only to a prompt of it', async () => {
    const {session, model} = given([{hang: true}]);
    await expect(session.request({type: 'rewind', to: 'x', what: 'both'})).rejects.toThrow('There is no prompt x');
    const turn = session.submit('go');
    await until(() => model.requests.length === 1);
    expect(() => session.request({type: 'rewind_points'})).toThrow('A turn or an agent is at work');
    await expect(session.request({type: 'rewind', to: 'x', what: 'both'})).rejects.toThrow(
      'A turn or an agent is at work',
    );
    session.abort();
    await turn;
  });
});

describe('a prompt', () => {
  const prompt: Prompt = {id: 'mine', content: [{type: 'text', text: 'what is this?'}, image]};

  it('with an image is in the history as blocks, one of text as text', async () => {
    const {session, history} = given([say('a picture'), say('yes')]);
    await session.submit(prompt);
    await session.submit('  sure?  ');
    expect(history.messages.map(({role, content}) => [role, content]).filter(([role]) => role === 'user')).toEqual([
      ['user', prompt.content],
      ['user', 'sure?'],
    ]);
  });

  it('waits during a turn by its id, and reaches the model whole at the next step', async () => {
    const {session, model, history, events} = given([{hang: true}, say('a picture')]);
    const turn = session.submit('go');
    await until(() => model.requests.length === 1);
    expect(await session.submit(prompt)).toEqual({type: 'queued', id: 'mine'});
    expect(await session.submit('and this?')).toMatchObject({type: 'queued'});
    expect(events.filter(({type}) => type === 'queued_prompt')).toMatchObject([
      {id: 'mine', text: 'what is this?'},
      {text: 'and this?'},
    ]);
    session.abort();
    await turn;
    await until(() => model.requests.length === 2);
    const lastUser = history.messages.findLast(({role}) => role === 'user');
    expect(lastUser?.content).toEqual([...prompt.content, {type: 'text', text: 'and this?'}]);
    await session.close();
  });

  it('is taken back from the queue by its id, once', async () => {
    const {session, model, events} = given([{hang: true}]);
    const turn = session.submit('go');
    await until(() => model.requests.length === 1);
    await session.submit(prompt);
    expect(session.request({type: 'take_back', id: 'other'})).toBeUndefined();
    expect(session.request({type: 'take_back', id: 'mine'})).toEqual(prompt.content);
    expect(session.request({type: 'take_back', id: 'mine'})).toBeUndefined();
    expect(events.filter(({type}) => type === 'queued_prompt_taken_back')).toMatchObject([{id: 'mine'}]);
    session.abort();
    await turn;
    expect(model.requests).toHaveLength(1);
  });
});

function infoWith(tools: readonly string[]): SessionParts['info'] {
  return {cwd: '/tmp', tools, toolFacts: ALL_TOOLS, agents: [], commands: [], warnings: [], foreignWords: []};
}
