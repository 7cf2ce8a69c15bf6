/** What a crash leaves, and what the next start makes of it. A second managerFixture on the same home is that start. */
import {appendFileSync, existsSync, readdirSync, utimesSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import {managerFixture, until} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

const nothing = new Set<string>();

describe('after a restart', () => {
  it('a run that ended before its announcement was read is announced once', async () => {
    const before = managerFixture();
    const {runId} = await before.spawn(new ScriptedModel([say('found it')]), {background: true});
    const [told] = before.inbox.deliver();

    const after = managerFixture({home: before.home});
    const [pending, ...more] = after.manager.restore(nothing);
    expect(more).toEqual([]);
    expect(pending?.message).toMatchObject({id: runId, content: told!.content, startsTurn: false});
    expect(after.manager.get(runId)).toMatchObject({
      ...{state: 'idle', outcome: 'success', announcement: 'waiting', restored: true, background: true},
    });

    const again = managerFixture({home: before.home});
    expect(again.manager.restore(new Set([told!.id]))).toEqual([]);
    expect(again.manager.get(runId)).toMatchObject({announcement: 'delivered'});
  });

  it('a run cut off in its midst is unknown, its transcript whole, and it can go on', async () => {
    const look = tool('look');
    const before = managerFixture({tools: [look]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const model = new ScriptedModel([calls(call('look', {})), {hang: true}]);
    void before.spawn(model, {background: true, agent, label: 'mine'});
    await until(() => model.requests.length === 2);
    const {runId, transcript} = before.manager.find('1');
    appendFileSync(transcript, '{"type":"message","mess');

    const next = new ScriptedModel([say('and here it is')]);
    const after = managerFixture({home: before.home, model: next});
    const [pending] = after.manager.restore(nothing);
    expect(pending?.message.content).toContain('Status: unknown\nResult: (not available)');
    expect(pending?.message.content).toContain('- Error: mini-cc ended before this run did');
    expect(after.manager.get(runId)).toMatchObject({state: 'error', outcome: 'unknown', tools: 1, label: 'mine'});
    // Once: the next start finds the same end.
    const third = managerFixture({home: before.home});
    expect(third.manager.restore(new Set([runId]))).toEqual([]);

    after.manager.send(runId, 'go on');
    await after.manager.waitAll();
    expect(next.requests[0]?.messages.map(({role}) => role)).toEqual(['user', 'assistant', 'user', 'user']);
    expect(after.manager.get(runId)).toMatchObject({state: 'idle', outcome: 'success', restored: false});
    expect(after.inbox.deliver().map(({id}) => id)).toEqual([`${runId}#2`]);
  });

  it('a foreground run that was cut off is unknown and not announced: its Task call says so', async () => {
    const before = managerFixture();
    void before.spawn(new ScriptedModel([{hang: true}]));
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(nothing)).toEqual([]);
    expect(after.manager.list()).toMatchObject([{outcome: 'unknown', background: false}]);
  });

  it('a foreground run that was sent to the background before the crash is announced', async () => {
    const before = managerFixture();
    void before.spawn(new ScriptedModel([{hang: true}]));
    before.manager.detachAll();
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(nothing)).toHaveLength(1);
  });

  it('a run that still waited for a slot is not lost', async () => {
    const before = managerFixture({maxConcurrent: 1});
    void before.spawn(new ScriptedModel([{hang: true}]), {background: true});
    void before.spawn(new ScriptedModel([say('never')]), {background: true, description: 'second'});
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(nothing)).toHaveLength(2);
    expect(after.manager.list().map(({description}) => description)).toEqual(['look around', 'second']);
  });

  it('a second round is announced as such, and once', async () => {
    const before = managerFixture();
    const {runId} = await before.spawn(new ScriptedModel([say('a')]));
    before.manager.send(runId, 'and?');
    await before.manager.waitAll();
    const after = managerFixture({home: before.home});
    const [pending] = after.manager.restore(nothing);
    expect(pending?.message.id).toBe(`${runId}#2`);
    expect(managerFixture({home: before.home}).manager.restore(new Set([pending!.message.id]))).toEqual([]);
  });

  it('ANNOUNCE_SKIP stays silent', async () => {
    const before = managerFixture();
    await before.spawn(new ScriptedModel([say('ANNOUNCE_SKIP')]), {background: true});
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(nothing)).toEqual([]);
    expect(after.manager.list()).toMatchObject([{announcement: 'skipped'}]);
  });

  it('what was due to be archived meanwhile is archived; what was told with cleanup: delete too', async () => {
    const before = managerFixture();
    const {transcript} = await before.spawn(new ScriptedModel([say('old')]));
    const told = await before.spawn(new ScriptedModel([say('told')]), {background: true, cleanup: 'delete'});
    const open = await before.spawn(new ScriptedModel([say('untold')]), {background: true, cleanup: 'delete'});
    await new Promise((resolve) => setTimeout(resolve, 30));
    const after = managerFixture({home: before.home, options: {archiveAfterMinutes: 0.01 / 60}});
    after.manager.restore(new Set([told.runId]));
    await until(() => !existsSync(transcript));
    expect(after.manager.get(told.runId)).toMatchObject({state: 'removed'});
    expect(readdirSync(path.dirname(told.transcript))).toEqual([expect.stringMatching(/^session\.jsonl\.deleted\./)]);
    await after.manager.close();
    const third = managerFixture({home: before.home});
    expect(third.manager.restore(new Set([told.runId])).map(({message}) => message.id)).toEqual([open.runId]);
    expect(third.manager.list().map(({state}) => state)).toContain('removed');
  });

  it('a run cut off long ago is not archived at once: it can go on', async () => {
    const before = managerFixture();
    void before.spawn(new ScriptedModel([{hang: true}]), {background: true});
    const {runId} = before.manager.find('1');
    await new Promise((resolve) => setTimeout(resolve, 400));
    const after = managerFixture({home: before.home, options: {archiveAfterMinutes: 0.35 / 60}});
    after.manager.restore(nothing);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(after.manager.send(runId, 'go on')).toBe('resumed');
    await after.manager.waitAll();
    expect(after.manager.get(runId)).toMatchObject({outcome: 'success'});
    await after.manager.close();
  });

  it('takes no notice of folders that hold no transcript', async () => {
    const before = managerFixture();
    const {transcript} = await before.spawn(new ScriptedModel([say('x')]));
    utimesSync(transcript, 1, 1);
    appendFileSync(path.join(path.dirname(path.dirname(transcript)), 'stray.txt'), '');
    const after = managerFixture({home: before.home});
    after.manager.restore(nothing);
    expect(after.manager.list()).toHaveLength(1);
  });
});
