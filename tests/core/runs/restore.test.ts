/** What the next start does with the runs that a crash left. A second `managerFixture` with the same home is that start. */
import {appendFileSync, existsSync, readdirSync, utimesSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {RunStore, StoredRun} from '../../../src/core/contract/runs.ts';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {restoreRuns} from '../../../src/core/runs/restore.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {passWallTime} from '../../support/fake-time.ts';
import {until} from '../../support/wait.ts';
import {FakeClock} from '../fake-clock.ts';
import {managerFixture} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say, text} from '../scripted-model.ts';

const MINUTE = 60_000;
const noneAnnounced = new Set<string>();

describe('after a restart', () => {
  it('a run that ended before its announcement was read is announced once', async () => {
    const before = managerFixture();
    const {runId} = await before.spawn(new ScriptedModel([say('found it')]), {background: true});
    const [message] = before.inbox.deliver();

    const after = managerFixture({home: before.home});
    const [pending, ...more] = after.manager.restore(noneAnnounced);
    expect(more).toEqual([]);
    expect(pending?.message).toMatchObject({id: runId, content: message!.content, startsTurn: false});
    expect(after.manager.get(runId)).toMatchObject({
      ...{state: 'idle', outcome: 'success', announcement: 'waiting', restored: true, background: true},
    });

    const again = managerFixture({home: before.home});
    expect(again.manager.restore(new Set([message!.id]))).toEqual([]);
    expect(again.manager.get(runId)).toMatchObject({announcement: 'delivered'});
  });

  it('a run that was cut off at work is unknown, its transcript is repaired, and it can continue', async () => {
    const look = tool('look');
    const before = managerFixture({tools: [look]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const model = new ScriptedModel([
      calls(text('a.ts is fine.'), call('look', {})),
      calls(text('b.ts is not.'), call('look', {}, 'second')),
      {hang: true},
    ]);
    void before.spawn(model, {background: true, agent, label: 'mine'});
    await until(() => model.requests.length === 3);
    const {runId, transcript} = before.manager.find('1');
    appendFileSync(transcript, '{"type":"message","mess');

    const next = new ScriptedModel([say('and here it is')]);
    const after = managerFixture({home: before.home, model: next});
    const [pending] = after.manager.restore(noneAnnounced);
    expect(pending?.message.content).toContain('Status: unknown\nResult: a.ts is fine.\n\nb.ts is not.\nNotes:');
    expect(pending?.message.content).toContain('- Error: mini-cc ended before this run did');
    expect(after.manager.get(runId)).toMatchObject({state: 'error', outcome: 'unknown', tools: 2, lastTool: 'look'});
    // The next start announces it no more.
    const third = managerFixture({home: before.home});
    expect(third.manager.restore(new Set([runId]))).toEqual([]);

    after.manager.send(runId, 'go on');
    await after.manager.waitAll();
    const roles = next.requests[0]?.messages.map(({role}) => role);
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'user']);
    expect(after.manager.get(runId)).toMatchObject({state: 'idle', outcome: 'success', restored: false});
    expect(after.inbox.deliver().map(({id}) => id)).toEqual([`${runId}#2`]);
  });

  it('a foreground run that was cut off is unknown, and not announced, since its Task call says so', async () => {
    const before = managerFixture();
    void before.spawn(new ScriptedModel([{hang: true}]));
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(noneAnnounced)).toEqual([]);
    expect(after.manager.list()).toMatchObject([{outcome: 'unknown', background: false}]);
  });

  it('a foreground run that was sent to the background before the crash is announced', async () => {
    const before = managerFixture();
    void before.spawn(new ScriptedModel([{hang: true}]));
    before.manager.detachAll();
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(noneAnnounced)).toHaveLength(1);
  });

  it('a run that waited for a slot is restored too', async () => {
    const before = managerFixture({maxConcurrent: 1});
    void before.spawn(new ScriptedModel([{hang: true}]), {background: true});
    void before.spawn(new ScriptedModel([say('never')]), {background: true, description: 'second'});
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(noneAnnounced)).toHaveLength(2);
    expect(after.manager.list().map(({description}) => description)).toEqual(['look around', 'second']);
  });

  it('the second round of a run is announced once, with its number', async () => {
    const before = managerFixture();
    const {runId} = await before.spawn(new ScriptedModel([say('a')]));
    before.manager.send(runId, 'and?');
    await before.manager.waitAll();
    const after = managerFixture({home: before.home});
    const [pending] = after.manager.restore(noneAnnounced);
    expect(pending?.message.id).toBe(`${runId}#2`);
    expect(managerFixture({home: before.home}).manager.restore(new Set([pending!.message.id]))).toEqual([]);
  });

  it('a run whose text is ANNOUNCE_SKIP is not announced', async () => {
    const before = managerFixture();
    await before.spawn(new ScriptedModel([say('ANNOUNCE_SKIP')]), {background: true});
    const after = managerFixture({home: before.home});
    expect(after.manager.restore(noneAnnounced)).toEqual([]);
    expect(after.manager.list()).toMatchObject([{announcement: 'skipped'}]);
  });

  it('runs are archived that became due meanwhile, and those with cleanup: delete that were announced', async () => {
    const before = managerFixture();
    const {transcript} = await before.spawn(new ScriptedModel([say('old')]));
    const announced = await before.spawn(new ScriptedModel([say('announced')]), {background: true, cleanup: 'delete'});
    const notAnnounced = await before.spawn(new ScriptedModel([say('not announced')]), {
      background: true,
      cleanup: 'delete',
    });
    passWallTime(MINUTE);
    const clock = new FakeClock();
    const after = managerFixture({home: before.home, runs: {clock}, options: {archiveAfterMinutes: 1}});
    after.manager.restore(new Set([announced.runId]));
    clock.advance(0);
    expect(existsSync(transcript)).toBe(false);
    expect(after.manager.get(announced.runId)).toMatchObject({state: 'removed'});
    expect(readdirSync(path.dirname(announced.transcript))).toEqual([
      expect.stringMatching(/^session\.jsonl\.deleted\./),
    ]);
    await after.manager.close();
    const third = managerFixture({home: before.home});
    expect(third.manager.restore(new Set([announced.runId])).map(({message}) => message.id)).toEqual([
      notAnnounced.runId,
    ]);
    expect(third.manager.list().map(({state}) => state)).toContain('removed');
  });

  it('a run that was cut off long ago can still continue: it is not archived at once', async () => {
    const before = managerFixture();
    void before.spawn(new ScriptedModel([{hang: true}]), {background: true});
    const {runId} = before.manager.find('1');
    passWallTime(1_000 * MINUTE);
    const clock = new FakeClock();
    const options = {archiveAfterMinutes: 1};
    const after = managerFixture({home: before.home, runs: {clock}, options});
    after.manager.restore(noneAnnounced);
    clock.advance(MINUTE - 1);
    expect(after.manager.send(runId, 'go on')).toBe('resumed');
    await after.manager.waitAll();
    expect(after.manager.get(runId)).toMatchObject({outcome: 'success'});
    await after.manager.close();
  });

  it('files in the folder that are no transcripts are ignored', async () => {
    const before = managerFixture();
    const {transcript} = await before.spawn(new ScriptedModel([say('x')]));
    utimesSync(transcript, 1, 1);
    appendFileSync(path.join(path.dirname(path.dirname(transcript)), 'stray.txt'), '');
    const after = managerFixture({home: before.home});
    after.manager.restore(noneAnnounced);
    expect(after.manager.list()).toHaveLength(1);
  });
});

describe('a run that is read from the disk', () => {
  const stored: StoredRun = {
    ...{runId: 'id-1', agent: 'code', description: 'look', model: 'm', background: false, cleanup: 'keep', round: 1},
    ...{transcript: '/t', archived: false, createdAt: 1_000, lastAt: 3_500, tools: 2, text: 'half', usage: NO_USAGE},
    usageByModel: {},
  };
  const ended = {
    type: 'end',
    at: '',
    text: 'found',
    tools: 2,
    usage: NO_USAGE,
    usageByModel: {},
    background: false,
    round: 1,
    outcome: 'error',
  } as const;

  function restore(change: Partial<StoredRun>, isLeft = false) {
    const lines: TranscriptEntry[] = [];
    let isParked = false;
    const store = {
      sessionId: 's1',
      list: () => [{...stored, ...change}],
      reopen: () => ({
        journal: {append: (entry: TranscriptEntry) => void lines.push(entry)},
        park: () => {
          isParked = true;
        },
      }),
    } as unknown as RunStore;
    const {records, left, pending} = restoreRuns(store, noneAnnounced, 100, () => isLeft);
    return {record: records[0], left, pending, lines, isParked};
  }

  it('has what its last line says of its end', () => {
    const known = {reason: 'server down', receipt: 'Receipt', worker: 'build-2', durationMs: 7};
    const {record, lines} = restore({end: {...ended, ...known}});
    expect(record).toMatchObject({
      ...{sessionId: 's1', state: 'error', outcome: 'error', startedAt: 1_000, endedAt: 3_500, restored: true},
      ...{reason: 'server down', receipt: 'Receipt', worker: 'build-2', result: {durationMs: 7, modelMs: 0, turns: 0}},
    });
    expect(lines).toEqual([]);
    const facts = ['end', 'text', 'archived', 'reason', 'receipt', 'worker', 'announcement'];
    expect(facts.filter((key) => key in restore({end: ended}).record!)).toEqual([]);
    expect(restore({end: ended}).record?.result?.durationMs).toBe(0);
  });

  it('that has no end gets one, with what it had by then', () => {
    const {record, lines, isParked} = restore({});
    const end = {outcome: 'unknown', text: 'half', durationMs: 2_500, reason: expect.any(String)};
    expect(lines).toMatchObject([{type: 'end', ...end}]);
    expect(record).toMatchObject({outcome: 'unknown', state: 'error', result: {durationMs: 2_500}});
    expect(isParked).toBe(true);
  });

  it('that is archived is left as it is', () => {
    const {record, lines} = restore({archived: true});
    expect([record?.state, record?.outcome, lines]).toEqual(['removed', 'unknown', []]);
  });

  it('that is at a worker has no end yet, and its end will be announced', () => {
    const {record, left, pending, lines} = restore({}, true);
    expect([record, pending, lines]).toEqual([undefined, [], []]);
    expect(left).toMatchObject([{runId: 'id-1', background: true, state: 'created', restored: false, sessionId: 's1'}]);
    expect(Object.keys(left[0]!)).not.toEqual(expect.arrayContaining(['text']));
    // It has ended here: no worker has it any more.
    expect(restore({end: ended}, true)).toMatchObject({left: [], record: {outcome: 'error'}});
  });
});
