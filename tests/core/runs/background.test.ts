import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {ToolResult} from '../../../src/core/contract/results.ts';
import {formatAccepted} from '../../../src/core/runs/dispatch.ts';
import {RunAborted} from '../../../src/core/turn/run-ending.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {until} from '../../support/wait.ts';
import {managerFixture} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

async function ended(started: Awaited<ReturnType<ReturnType<typeof managerFixture>['dispatch']>>) {
  if (started.source === 'cached') throw new Error('cached');
  return started.started.ended;
}

describe('a background run', () => {
  it('with a long answer is announced with a part of it, and the file of the whole', async () => {
    const {spawn, inbox} = managerFixture({runs: {resultTokens: 100}});
    const {transcript} = await spawn(new ScriptedModel([say('a paragraph of it\n\n'.repeat(1000))]), {
      background: true,
    });
    const [message] = inbox.deliver();
    expect(message!.content.length).toBeLessThan(1500);
    expect(message!.content).toContain(`more characters in ${transcript}]`);
  });

  it('is accepted when it is on disk, before the model answers, and announced once at its end', async () => {
    const {dispatch, inbox, events, read, manager} = managerFixture();
    const accepted = Promise.withResolvers<void>();
    const model = new ScriptedModel([say('It is in a.ts:1.')]);
    const reply = model.reply.bind(model);
    model.reply = async (...request) => {
      await accepted.promise;
      return reply(...request);
    };
    const started = await dispatch(model, {background: true, label: 'look'});
    accepted.resolve();
    if (started.source === 'cached') throw new Error('cached');
    const {runId} = started.started;
    expect(read(runId)[0]).toMatchObject({type: 'message', message: {content: 'find it'}});
    expect(JSON.parse(formatAccepted('explore', runId))).toEqual({
      ...{status: 'accepted', runId, childSessionKey: `agent:explore:subagent:${runId}`},
    });
    await manager.waitAll();
    const messages = inbox.deliver();
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({id: runId, kind: 'announcement', startsTurn: true});
    expect(messages[0]!.announcement).toMatchObject({runId, round: 1, outcome: 'success', text: 'It is in a.ts:1.'});
    expect(messages[0]!.content).toContain(
      'Status: success\nResult: It is in a.ts:1.\nNotes: - (none)\nStats: runtime ',
    );
    const announced = events.filter((event) => event.type === 'announcement');
    expect(announced).toHaveLength(1);
    expect(announced[0]).toMatchObject({agentId: 'main', runId, agent: 'explore', outcome: 'success'});
    expect(read(runId).at(-1)).toMatchObject({
      ...{type: 'end', outcome: 'success', text: 'It is in a.ts:1.', background: true, round: 1, tools: 0},
    });
  });

  it('that failed is announced as error', async () => {
    const {dispatch, inbox} = managerFixture();
    await ended(await dispatch(new ScriptedModel([calls(call('x', {}))]), {background: true}));
    const [message] = inbox.deliver();
    expect(message?.content).toContain('Status: error');
  });

  it('whose text is exactly ANNOUNCE_SKIP is not announced, and the registry says so', async () => {
    const {dispatch, inbox, manager, events} = managerFixture();
    await ended(await dispatch(new ScriptedModel([say('ANNOUNCE_SKIP')]), {background: true}));
    await ended(await dispatch(new ScriptedModel([say('ANNOUNCE_SKIP, or not')]), {background: true, prompt: 'b'}));
    expect(inbox.deliver()).toHaveLength(1);
    expect(events.filter((event) => event.type === 'announcement')).toHaveLength(1);
    expect(manager.list().map(({announcement}) => announcement)).toEqual(['skipped', 'waiting']);
    expect(manager.log.summarize()).toMatchObject({runs: 2, tokensReturned: 5});
  });

  it('continues after the turn that dispatched it, and starts no turn when it is stopped', async () => {
    const turn = new AbortController();
    const {dispatch, manager, inbox} = managerFixture();
    const model = new ScriptedModel([{hang: true, partial: 'half'}]);
    await dispatch(model, {background: true, signal: turn.signal});
    await model.asked();
    turn.abort(new RunAborted('user'));
    expect(model.requests[0]!.signal.aborted).toBe(false);
    expect(manager.count()).toBe(1);
    await manager.stopAll();
    const [message] = inbox.deliver();
    expect(message).toMatchObject({startsTurn: false});
    expect(message?.content).toContain('Status: error\nResult: half\nNotes: - Error: stopped by user');
  });
});

describe('a background run that the main agent stopped', () => {
  it('is not announced as stopped by the user', async () => {
    const {dispatch, manager, inbox} = managerFixture();
    const model = new ScriptedModel([{hang: true, partial: 'half'}]);
    await dispatch(model, {background: true});
    await model.asked();
    await manager.stop(manager.list()[0]!.runId, 'stop', 'agent');
    const [message] = inbox.deliver();
    expect(message).toMatchObject({startsTurn: false});
    expect(message?.content).toContain('Status: error\nResult: half\nNotes: - Error: stopped by the main agent\n');
  });
});

describe('a foreground run sent to the background', () => {
  it('continues without starting again, also after its turn, and is announced', async () => {
    const turn = new AbortController();
    const [begun, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<ToolResult>()];
    const look = tool('look', () => {
      begun.resolve();
      return seen.promise;
    });
    const model = new ScriptedModel([calls(call('look', {})), say('done')]);
    const {dispatch, manager, inbox, events, read} = managerFixture({tools: [look]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const started = await dispatch(model, {signal: turn.signal, agent});
    if (started.source === 'cached') throw new Error('cached');
    await begun.promise;
    expect(manager.detachAll().map(({runId}) => runId)).toEqual([started.started.runId]);
    await started.started.detached;
    expect(manager.detachAll()).toEqual([]);
    turn.abort(new RunAborted('user'));
    seen.resolve(textResult('seen'));
    expect((await started.started.ended).result).toMatchObject({outcome: 'success', text: 'done'});
    expect(model.requests).toHaveLength(2);
    expect(inbox.deliver()).toHaveLength(1);
    expect(events.filter((event) => event.type === 'run_background')).toHaveLength(1);
    expect(read(started.started.runId).filter(({type}) => type === 'background')).toHaveLength(1);
  });
});

it('several runs that go to the background at once are said together, by the first of them', async () => {
  const {spawn, manager, events} = managerFixture();
  const stop = new AbortController();
  const ended = [1, 2, 3].map(() => spawn(new ScriptedModel([{hang: true}]), {signal: stop.signal}));
  await until(() => manager.list().every(({state}) => state === 'processing'));
  expect(manager.detachAll()).toHaveLength(3);
  const counts = events.flatMap((event) => (event.type === 'run_background' ? [event.count] : []));
  expect(counts).toEqual([3, 0, 0]);
  await manager.stopAll();
  await Promise.all(ended);
});

describe('a message to a run', () => {
  it('at work is delivered at its next turn', async () => {
    const model = new ScriptedModel((_, index) => {
      if (index === 0) manager.send('1', 'also look at b.ts');
      return say(`answer ${index}`);
    });
    const {manager, spawn} = managerFixture();
    expect((await spawn(model)).result.text).toBe('answer 1');
    expect(model.requests[1]?.messages.at(-1)).toEqual({role: 'user', content: 'also look at b.ts'});
  });

  it('that has ended makes it continue with its history, in the background, and it is announced', async () => {
    const next = new ScriptedModel([say('and b.ts:2')]);
    const {manager, spawn, inbox, read, events} = managerFixture({model: next});
    const {runId} = await spawn(new ScriptedModel([say('a.ts:1')]));
    expect(manager.get(runId)).toMatchObject({state: 'idle', background: false, round: 1});
    expect(manager.send(runId.slice(0, 6), 'and b?')).toBe('resumed');
    expect(manager.get(runId)).toMatchObject({state: 'processing', background: true, round: 2});
    await manager.waitAll();
    expect(next.requests[0]?.messages.map(({content}) => JSON.stringify(content))).toEqual([
      '"find it"',
      expect.stringContaining('a.ts:1'),
      '"and b?"',
    ]);
    expect(inbox.deliver().map(({id}) => id)).toEqual([`${runId}#2`]);
    expect(read(runId).map(({type}) => type)).toEqual([
      ...['message', 'message', 'end', 'resumed', 'message', 'message', 'end'],
    ]);
    expect(manager.get(runId)).toMatchObject({state: 'idle', outcome: 'success', usage: {input_tokens: 20}});
    expect(
      events.filter((event) => event.type === 'run_start').map((event) => 'round' in event && event.round),
    ).toEqual([...[false, 2]]);
  });

  it('that failed makes it continue; its states are created → processing → error → processing → idle', async () => {
    const {manager, spawn, events} = managerFixture();
    const {runId} = await spawn(new ScriptedModel([]));
    manager.send(runId, 'try again');
    await manager.waitAll();
    const states = events.flatMap((event) => (event.type === 'run_state' ? [event.state] : []));
    expect(states).toEqual(['processing', 'error', 'processing', 'idle']);
    expect(manager.get(runId)).not.toHaveProperty('reason');
  });
});

describe('cleanup: delete', () => {
  it('archives the unchanged transcript after the announcement, and its id and path still find it', async () => {
    const {dispatch, manager, inbox, read} = managerFixture();
    const {runId, transcript} = await ended(
      await dispatch(new ScriptedModel([say('found')]), {background: true, cleanup: 'delete'}),
    );
    const lines = read(runId);
    expect(manager.get(runId)).toMatchObject({state: 'idle', transcript});
    manager.announced(inbox.deliver()[0]!.id);
    expect(manager.get(runId)).toMatchObject({state: 'removed', announcement: 'delivered'});
    expect(manager.get(runId)?.transcript).toMatch(/session\.jsonl\.deleted\.[\dTZ.-]+$/);
    expect(read(runId)).toEqual(lines);
    expect(manager.find(transcript).runId).toBe(runId);
    expect(manager.report(manager.find(runId))).toContain('found');
    expect(() => manager.send(runId, 'go on')).toThrow(/archived and cannot go on/);
  });

  it('archives a foreground run at its end; the states of a stopped one are stopping → stopped → removed', async () => {
    const {spawn, manager, events} = managerFixture();
    const stopped = spawn(new ScriptedModel([{hang: true}]), {cleanup: 'delete'});
    await manager.stopAll();
    await stopped;
    const states = events.flatMap((event) => (event.type === 'run_state' ? [event.state] : []));
    expect(states).toEqual(['processing', 'stopping', 'stopped', 'removed']);
  });
});

it('a run whose end is being written can no longer be sent to the background', async () => {
  const fixture = managerFixture();
  const {store} = fixture;
  let sent: boolean | undefined;
  const {manager, spawn} = managerFixture({
    options: {
      store: {
        sessionId: store.sessionId,
        create(header) {
          const open = store.create(header);
          const close = async () => {
            sent = manager.detach(header.runId);
            await open.close();
          };
          return {...open, close};
        },
        reopen: (runId) => store.reopen(runId),
        list: () => store.list(),
        read: (runId) => store.read(runId),
        archive: (runId) => store.archive(runId),
      },
    },
  });
  const {runId} = await spawn(new ScriptedModel([say('found it')]));
  expect(sent).toBe(false);
  expect(manager.get(runId)?.background).toBe(false);
});
