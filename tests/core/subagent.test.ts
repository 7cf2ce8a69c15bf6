/** One run of a subagent: what its record, its events and its agent have. */
import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../src/core/agent-types.ts';
import type {HookCall} from '../../src/core/contract/hook.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {Verifier} from '../../src/core/verification/verifier.ts';
import {managerFixture} from './manager-fixture.ts';
import {tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say} from './scripted-model.ts';

const looking = {...AGENT_TYPES.explore!, tools: ['look']};
const usage = (input_tokens: number, output_tokens: number) => ({input_tokens, output_tokens});

describe('a run', () => {
  it('shows in its record what it does now, and adds up its rounds', async () => {
    const seen: unknown[] = [];
    const note = () => {
      const {lastTool, lastLines, tools, usage: used, state} = manager.list()[0]!;
      seen.push({lastTool, lastLines, tools, input: used.input_tokens, state});
    };
    const look = tool('look', ({emit, callId}) => {
      emit({type: 'tool_progress', callId, text: 'half'});
      note();
      return textResult('seen');
    });
    const again = new ScriptedModel([calls(call('look', {})), say('more')]);
    const {manager, spawn} = managerFixture({
      tools: [look],
      model: again,
      options: {revive: () => ({agent: looking, model: again})},
    });
    const {runId} = await spawn(new ScriptedModel([calls(call('look', {})), say('found')]), {agent: looking});
    manager.send(runId, 'go on');
    await manager.waitAll();
    const now = {lastTool: 'look', lastLines: 'half', state: 'processing'};
    expect(seen).toEqual([
      {...now, tools: 0, input: 10},
      {...now, tools: 1, input: 30},
    ]);
    expect(manager.get(runId)).toMatchObject({
      ...{tools: 2, usage: usage(40, 20), usageByModel: {scripted: usage(40, 20)}},
      ...{result: {turns: 2}, startedAt: expect.any(Number)},
    });
    const ends = manager.read(runId).filter(({type}) => type === 'end');
    expect(ends).toMatchObject([
      {round: 1, tools: 1, usage: usage(20, 10)},
      {round: 2, tools: 2, usage: usage(40, 20)},
    ]);
  });

  it('begins with what its call said of it, and ends with what it did', async () => {
    const {spawn, events} = managerFixture({tools: [tool('look')]});
    const model = new ScriptedModel([calls(call('look', {})), say('found')]);
    await spawn(model, {agent: looking, label: 'mine', callId: 'call-1', background: true});
    await spawn(new ScriptedModel([]), {prompt: 'other'});
    const [start, plain] = events.flatMap((event) => (event.type === 'run_start' ? [event] : []));
    expect(start).toMatchObject({
      agent: 'explore',
      model: 'scripted',
      label: 'mine',
      callId: 'call-1',
      background: true,
    });
    const {label, callId, background, round} = plain!;
    expect([label, callId, background, round]).toEqual([undefined, undefined, false, undefined]);
    expect(events.filter(({type}) => type === 'run_end')).toMatchObject([
      {outcome: 'success', reason: '', tools: 1, usage: usage(20, 10)},
      {outcome: 'error', reason: expect.stringContaining('no reply')},
    ]);
  });

  it('that waited for a slot says in its transcript when it began', async () => {
    const {spawn, read} = managerFixture({maxConcurrent: 1});
    const [first, second] = await Promise.all([
      spawn(new ScriptedModel([say('a')])),
      spawn(new ScriptedModel([say('b')])),
    ]);
    expect([first, second].map(({runId}) => read(runId).some(({type}) => type === 'began'))).toEqual([false, true]);
  });

  it('has the warnings of its call in its result', async () => {
    const {spawn, manager} = managerFixture();
    const {runId, result} = await spawn(new ScriptedModel([say('found')]), {warnings: ['another model']});
    expect(result.warnings).toEqual(['another model']);
    expect(manager.get(runId)?.result?.warnings).toEqual(['another model']);
  });

  it('is asked for a short answer, or for one of its schema', async () => {
    const model = new ScriptedModel([say('found'), say('{"a": 1}')]);
    const {spawn} = managerFixture();
    await spawn(model);
    await spawn(model, {agent: {...AGENT_TYPES.explore!, outputSchema: {type: 'object'}}, prompt: 'other'});
    const [first = '', second = ''] = model.requests.map(({system}) => system);
    expect(first).toContain('Your last message: at most 500 tokens.');
    expect(second).not.toContain('at most 500 tokens');
  });

  it('fails with the reason where it cannot begin', async () => {
    const worktrees = {open: () => Promise.reject(new Error('no room')), settled: async () => undefined};
    const {spawn, read} = managerFixture({runs: {worktrees}});
    const {result, runId} = await spawn(new ScriptedModel([]), {isolation: 'worktree'});
    expect(result).toMatchObject({outcome: 'error', code: 'INTERNAL', error: 'no room'});
    expect(read(runId)).not.toEqual([]);
  });

  it('stands though its transcript cannot be closed: the person is told', async () => {
    const {store, home} = managerFixture();
    const failing = {
      sessionId: store.sessionId,
      create(header: Parameters<typeof store.create>[0]) {
        const open = store.create(header);
        return {...open, close: () => Promise.reject(new Error('the disk failed'))};
      },
      reopen: store.reopen,
      list: store.list,
      read: store.read,
      archive: store.archive,
    };
    const {spawn, events} = managerFixture({home, options: {store: failing}});
    const {result} = await spawn(new ScriptedModel([say('found')]));
    expect(result).toMatchObject({outcome: 'success', text: 'found'});
    expect(events.filter(({type}) => type === 'notice')).toMatchObject([{level: 'error', text: 'the disk failed'}]);
  });

  it('tells the hooks of its agent in place of those of the session', async () => {
    const told: string[] = [];
    const hooksOf = (whose: string) => ({
      listens: () => true,
      run: async ({event, subject}: HookCall) => {
        told.push(`${whose} ${event} ${subject}`);
        return {context: []};
      },
    });
    const own = {hooks: hooksOf('agent'), beforeCall: [], answerCall: undefined, afterCall: []};
    const {spawn} = managerFixture({
      runs: {hooks: hooksOf('session'), createAgentHooks: ({name}) => (name === 'code' ? own : undefined)},
    });
    await spawn(new ScriptedModel([say('a')]), {agent: AGENT_TYPES.code!});
    await spawn(new ScriptedModel([say('b')]), {prompt: 'other'});
    expect(told).toEqual([
      ...['agent SubagentStart code', 'agent SubagentStop code'],
      ...['session SubagentStart explore', 'session SubagentStop explore'],
    ]);
  });
});

describe('the project is verified', () => {
  const part = {scope: {files: ['/tmp/a.ts'], allowed: []}};
  it.each([
    ['after an agent that changes code', AGENT_TYPES.code!, {}, 1],
    ['not after another agent', AGENT_TYPES.explore!, {}, 0],
    ['not after a part of a fan-out', AGENT_TYPES.code!, part, 0],
  ])('%s', async (_, agent, change, checks) => {
    let checked = 0;
    const bash = tool('bash', () => {
      checked += 1;
      return textResult('', {facts: {exitCode: 0}});
    });
    const settings = {level: 'fast', rounds: 0, fast: ['lint'], thorough: []} as const;
    const verifier = new Verifier({settings, fingerprint: async () => ''});
    const {spawn} = managerFixture({tools: [bash], runs: {verifier}});
    await spawn(new ScriptedModel([say('done')]), {agent, ...change});
    expect(checked).toBe(checks);
  });
});

describe('the manager', () => {
  it('sends no part of a fan-out to the background', async () => {
    const {spawn, manager} = managerFixture();
    const running = spawn(new ScriptedModel([{hang: true}]), {scope: {files: [], allowed: []}});
    expect([manager.detachAll(), manager.detach(manager.list()[0]!.runId)]).toEqual([[], false]);
    await manager.stopAll();
    await running;
  });

  it('says that a message was not sent where its run cannot go on, and drops one to a run that ends for good', async () => {
    const revive = () => expect.fail('its agent was deleted');
    for (const endsForGood of [false, true]) {
      const {spawn, manager, bus, events} = managerFixture({options: {revive}});
      bus.subscribe((event) => {
        if (event.type === 'run_end') manager.send(event.agentId, 'one more thing');
      });
      await spawn(new ScriptedModel([say('done')]), {endsForGood});
      await manager.waitAll();
      const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
      expect(notices).toEqual(endsForGood ? [] : ['not sent: one more thing (its agent was deleted)']);
    }
  });

  it('repeats no result of a run that ends for good', async () => {
    const {dispatch} = managerFixture();
    const model = new ScriptedModel([say('a'), say('b')]);
    const sources: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const dispatched = await dispatch(model, {endsForGood: true});
      sources.push(dispatched.source);
      if (dispatched.source !== 'cached') await dispatched.started.ended;
    }
    expect(sources).toEqual(['run', 'run']);
  });
});
