/** Requests that leave a conversation, go back in it, look at it, or change how it goes on; and turns without a model. */
import {describe, expect, it, onTestFinished} from 'vitest';
import type {AgentEvent} from '../../../src/core/contract/events.ts';
import type {FanOutReport} from '../../../src/core/contract/fan-out.ts';
import type {Clock} from '../../../src/core/contract/results.ts';
import type {FanOuts} from '../../../src/core/fan-out/fan-outs.ts';
import {createAnnouncement} from '../../../src/core/runs/announcement.ts';
import {NO_SUBAGENTS} from '../../../src/core/runs/delegation-log.ts';
import type {Conversation, SessionParts} from '../../../src/core/session/parts.ts';
import {History} from '../../../src/core/turn/history.ts';
import {until} from '../../support/wait.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {FakeClock} from '../fake-clock.ts';
import {managerFixture} from '../manager-fixture.ts';
import {runFixture} from '../run-fixture.ts';
import {ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

function open(script: readonly ScriptedReply[] = [], change: Partial<SessionParts> = {}, made = managerFixture()) {
  const model = new ScriptedModel(script);
  const fixture = runFixture(model);
  const {session, history} = sessionOver(made, model, fixture, change);
  const events: AgentEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return {...made, session, history, model, events, run: fixture.run};
}

const conversation = (change: Partial<Conversation> = {}): Conversation => ({
  ...{id: 'session-2', transcript: '/t2', restored: [], announced: new Set<string>(), usedBefore: [], problems: []},
  subagentsBefore: NO_SUBAGENTS,
  history: new History({append: () => undefined}),
  output: runFixture(new ScriptedModel([])).run.output,
  rewindPoints: () => [],
  messagesBefore: () => [],
  wholeConversation: () => [],
  close: () => undefined,
  ...change,
});

describe('another session', () => {
  it('takes the place of this one, whose waiting messages stay behind', async () => {
    const asked: unknown[] = [];
    const openConversation = (...given: unknown[]) => {
      asked.push(given);
      return conversation();
    };
    const {session, inbox, events} = open([], {openConversation});
    inbox.put({id: '1', kind: 'companion', content: 'x', startsTurn: false});
    expect(await session.request({type: 'resume', session: 'session-2', takeOver: true})).toEqual({
      previous: 'session-1',
    });
    expect(asked).toEqual([['session-2', true]]);
    expect(session.info).toMatchObject({sessionId: 'session-2', transcript: '/t2'});
    expect(events.map(({type}) => type)).toEqual(['cleared', 'resumed']);
    expect(inbox.drop('companion')).toEqual([]);
  });

  it('brings the ends of its runs that were not announced', async () => {
    const made = managerFixture();
    const before = managerFixture({home: made.home});
    const {runId} = await before.spawn(new ScriptedModel([say('found')]), {background: true});
    const {session, inbox, events} = open([], {openConversation: () => conversation()}, made);
    await session.request({type: 'resume', session: 'session-2'});
    expect(events.map(({type}) => type)).toEqual(['cleared', 'resumed', 'announcement']);
    expect(inbox.list('announcement')).toMatchObject([{id: runId, startsTurn: false}]);
  });

  it('is not opened where it is this one, or while a turn is at work', async () => {
    const {session, model} = open([{hang: true}], {openConversation: () => expect.fail('it was opened')});
    await expect(session.request({type: 'resume', session: 'session-1'})).rejects.toThrow('open already');
    const turn = session.submit('go');
    await model.asked();
    await expect(session.request({type: 'resume', session: 'session-2'})).rejects.toMatchObject({code: 'SESSION_BUSY'});
    // So no list of sessions is shown from which none could be opened.
    expect(() => session.request({type: 'sessions'})).toThrow('A turn or an agent is at work');
    session.abort();
    await turn;
  });

  it('is begun by clear, though the old one cannot be closed well', async () => {
    const {session, events} = open();
    await session.request({type: 'clear'});
    expect(events.map(({type}) => type)).toEqual(['cleared', 'session']);
    const broken = open([], {
      openConversation: () => conversation({close: () => expect.fail('the disk is full')}),
    });
    await broken.session.request({type: 'clear'});
    await broken.session.request({type: 'clear'});
    expect(broken.events).toContainEqual(expect.objectContaining({type: 'notice', text: 'the disk is full'}));
  });
});

describe('going back', () => {
  const point = {uuid: 'p1', at: 7, text: 'first', dropped: 2};
  const FILES = {restored: ['/w/a.ts']};

  async function rewind(what: 'conversation' | 'files' | 'both') {
    const rewound: unknown[] = [];
    const changes = {
      rewind: async (at: number, {keepNew, finish}: {keepNew?: boolean; finish?: () => void}) => {
        rewound.push([at, keepNew]);
        finish?.();
        return FILES;
      },
      planRewind: async (at: number) => ({at}),
    } as unknown as SessionParts['changes'];
    const next = conversation({rewindPoints: () => [point]});
    const {session, events} = open([], {changes, openConversation: () => next});
    await session.request({type: 'clear'});
    expect(session.request({type: 'rewind_points'})).toEqual([point]);
    expect(await session.request({type: 'rewind_files', to: 'p1'})).toEqual({at: 7});
    next.history.append({role: 'user', content: 'first'});
    const answer = await session.request({type: 'rewind', to: 'p1', what, keepNew: true});
    return {answer, rewound, isBack: events.some(({type}) => type === 'rewound')};
  }

  it.each([
    ['files', {point, files: FILES}, [[7, true]], false],
    ['both', {point, files: FILES}, [[7, true]], true],
    ['conversation', {point}, [], true],
  ] as const)('by %s', async (what, answer, rewound, isBack) => {
    expect(await rewind(what)).toEqual({answer, rewound, isBack});
  });
});

it('the transcript is read with the word whether a reply is coming in', async () => {
  const asked: boolean[] = [];
  const all = [1, 2, 3].map((each) => ({uuid: String(each), message: {role: 'user', content: String(each)}}));
  const wholeConversation = (isStreaming: boolean) => {
    asked.push(isStreaming);
    return all as never;
  };
  const {session} = open([], {openConversation: () => conversation({wholeConversation})});
  await session.request({type: 'clear'});
  expect(session.request({type: 'transcript'})).toEqual(all);
  expect(asked).toEqual([false]);
});

describe('a setting', () => {
  it('of the model, its thinking, the mode or the theme is known from then on', () => {
    const resolved: unknown[] = [];
    const modes: string[] = [];
    let tell = (): void => undefined;
    const other = Object.assign(new ScriptedModel([]), {name: 'haiku'});
    const {session, events} = open([], {
      resolveModel: (...given) => {
        resolved.push(given);
        return other;
      },
      onPermissionMode(listener) {
        tell = listener;
      },
      setPermissionMode(mode) {
        modes.push(mode);
        tell();
      },
    });
    session.request({type: 'set_thinking', thinking: 'high'});
    expect(session.request({type: 'set_model', model: 'haiku'})).toEqual({model: 'haiku', offline: false});
    session.request({type: 'set_theme', theme: 'dark'});
    session.request({type: 'set_permission_mode', mode: 'plan'});
    expect(resolved).toEqual([
      ['scripted', {thinking: 'high'}],
      ['haiku', {thinking: 'high'}],
    ]);
    expect(modes).toEqual(['plan']);
    expect(session.info).toMatchObject({model: 'haiku', theme: 'dark'});
    expect(events.map(({type}) => type)).toEqual(['session', 'session', 'session']);
  });

  it('of servers is told when it is done, also when it fails', async () => {
    const mcp = {
      reconnect: async (server: string) => ({server}),
      readResource: async () => Promise.reject(new Error('no such server')),
      setEnabled: async () => Promise.reject(new Error('no such server')),
    } as unknown as SessionParts['mcp'];
    const {session, events} = open([], {mcp});
    expect(await session.request({type: 'reconnect_mcp_server', server: 'a'})).toEqual({server: 'a'});
    await expect(session.request({type: 'enable_mcp_server', server: 'a', enabled: true})).rejects.toThrow('no such');
    expect(events.map(({type}) => type)).toEqual(['session', 'session']);
  });
});

it('what was used is counted for this process, and with what an earlier one used', async () => {
  const {session, run} = open([say('ok')], {
    openConversation: () =>
      conversation({usedBefore: [{agent: 'main', model: 'scripted', usage: {...run.budget.usage, input_tokens: 5}}]}),
  });
  await session.request({type: 'clear'});
  await session.submit('go');
  const {entries, current} = session.request({type: 'usage'});
  const main = (list: typeof entries) => list.reduce((sum, {usage}) => sum + usage.input_tokens, 0);
  expect([main(entries), main(current)]).toEqual([main(current) + 5, run.budget.usage.input_tokens]);
  expect(session.request({type: 'usage'})).not.toHaveProperty('budget');
});

it('what this process used for a conversation is counted once when the person comes back to it', async () => {
  const {session, run, events} = open([say('ok')], {
    openConversation: (id) =>
      conversation({
        // The transcript of the session has what this process wrote to it.
        ...(id === 'session-1' && {
          id,
          usedBefore: run.budget.entries(),
          restored: [{message: {role: 'user', content: 'go'}}],
        }),
      }),
  });
  await session.submit('go');
  const {entries} = session.request({type: 'usage'});
  await session.request({type: 'clear'});
  await session.request({type: 'resume', session: 'session-1'});
  expect(session.request({type: 'usage'}).entries).toEqual(entries);
  expect(events.findLast(({type}) => type === 'cost')).toMatchObject({before: {input_tokens: 0}});
});

it('the context is counted by what is in it', async () => {
  const {session, model} = open([say('a reply of some words')]);
  await session.submit('a prompt');
  const {parts, window, model: name} = await session.request({type: 'context'});
  expect([window, name]).toEqual([200_000, model.name]);
  const names = parts.map((part) => part.name);
  expect(names.filter((each) => each !== 'tools')).toEqual(['system prompt', 'prompts', 'replies']);
  expect(parts.every(({tokens}) => tokens > 0)).toBe(true);
});

describe('a turn in which a fan-out works', () => {
  const report = (successful: number): FanOutReport => ({
    ...{id: 'f', instruction: 'fix all', line: 'fan-out', text: 'fan-out: 1 agent', changed: []},
    parts: [{files: ['a.ts'], reason: 'server down'}],
    results: {total: 1, successful, failed: 1 - successful, filesModified: 0},
  });
  const turn = (run: (signal: AbortSignal) => Promise<FanOutReport>, limits = {}, clock: Clock = new FakeClock()) => {
    const fanOuts = {
      request: async () => ({}),
      run: (_: unknown, signal: AbortSignal) => run(signal),
      last: () => undefined,
    } as unknown as FanOuts;
    const {run: main} = runFixture(new ScriptedModel([]), [], {clock});
    const runs = managerFixture();
    const made = open([], {fanOuts, limits, run: {...main, agentId: 'main', emit: runs.bus.emitFor('main')}}, runs);
    return {...made, done: made.session.submit({content: 'fix all', fanOut: 'new'} as never)};
  };

  it('has its summary as the answer', async () => {
    const {done, history, model, events} = turn(async () => report(1));
    expect(await done).toMatchObject({type: 'turn', result: {outcome: 'success', text: 'fan-out: 1 agent'}});
    expect(history.messages).toMatchObject([
      {role: 'user', content: 'fix all'},
      {role: 'assistant', content: [{text: 'fan-out: 1 agent'}]},
    ]);
    expect(events.filter((event) => event.type === 'message' && event.role === 'assistant')).toHaveLength(1);
    expect(model.requests).toEqual([]);
  });

  it('ends at the limit of its time, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const begun = Promise.withResolvers<void>();
    const untilAborted = async (signal: AbortSignal) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return report(1);
    };
    const {done} = turn(untilAborted, {timeoutSeconds: 30}, clock);
    await begun.promise;
    clock.advance(30_000);
    expect(await done).toMatchObject({
      result: {outcome: 'timeout', timeout: 'timed out after 30 s', text: 'fan-out: 1 agent', durationMs: 30_000},
    });
    expect(await turn(async () => report(1), {timeoutSeconds: 30}, clock).done).toMatchObject({
      result: {outcome: 'success', durationMs: 0},
    });
    expect(clock.timers).toBe(0);
  });

  it('fails where no part succeeded, and is stopped by Esc', async () => {
    expect(await turn(async () => report(0)).done).toMatchObject({
      result: {outcome: 'error', error: expect.stringContaining('server down')},
    });
    const begun = Promise.withResolvers<void>();
    const {session, done} = turn(async (signal) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return report(1);
    });
    await begun.promise;
    session.abort();
    expect(await done).toMatchObject({result: {outcome: 'stopped'}});
  });
});

it('announcements of an earlier process reach the screen once a front end listens, and the model with the next prompt', async () => {
  const made = managerFixture();
  const {runId} = await made.spawn(new ScriptedModel([say('found')]), {background: true});
  made.inbox.drop('announcement');
  const pending = createAnnouncement(made.manager.get(runId)!, 'found', 1, 100)!;
  const waiting = {...pending, message: {...pending.message, startsTurn: false}};
  const {session, events, model} = open([say('ok')], {pending: [waiting]}, made);
  await until(() => events.some(({type}) => type === 'announcement'));
  session.subscribe(() => undefined);
  await session.submit('go');
  expect(events.filter(({type}) => type === 'announcement')).toHaveLength(1);
  expect(JSON.stringify(model.requests[0]?.messages)).toContain('Result: found');
});

describe('what front ends see of a session', () => {
  it('is the runs of an earlier process only where it goes on', async () => {
    const before = managerFixture();
    const {runId} = await before.spawn(new ScriptedModel([say('found')]));
    const made = managerFixture({home: before.home});
    made.manager.restore(new Set());
    const restored = [{uuid: '1', message: {role: 'user', content: 'go'}}] as unknown as Conversation['restored'];
    const openConversation = () => conversation({restored, earlierMessages: 7});
    const {session} = open([], {openConversation}, made);
    expect(session.info).toMatchObject({restored: [], restoredRuns: []});
    expect(session.info).not.toHaveProperty('earlierMessages');
    await session.request({type: 'resume', session: 'session-2'});
    expect(session.info).toMatchObject({restored, restoredRuns: [{runId}], earlierMessages: 7});
    void made.spawn(new ScriptedModel([{hang: true}]));
    expect(session.info.restoredRuns).toMatchObject([{runId}]);
    await made.manager.stopAll();
  });

  it.each([true, false])('has a branch where its folder is a repository: %s', async (isRepository) => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    if (isRepository) await folder.git('init', '-q', '-b', 'trunk');
    const info = {cwd: folder.path, tools: [], toolFacts: [], agents: [], commands: [], warnings: [], foreignWords: []};
    const {session} = open([], {info});
    expect(session.info.branch).toBe(isRepository ? 'trunk' : undefined);
    expect('branch' in session.info).toBe(isRepository);
  });
});
