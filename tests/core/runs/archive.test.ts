import {describe, expect, it} from 'vitest';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import {RunArchive} from '../../../src/core/runs/archive.ts';
import {RunRegistry} from '../../../src/core/runs/registry.ts';
import {systemClock} from '../../../src/core/turn/run-limits.ts';
import {passWallTime} from '../../support/fake-time.ts';
import {until} from '../../support/wait.ts';
import {FakeClock} from '../fake-clock.ts';
import {managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say} from '../scripted-model.ts';

const MINUTE = 60_000;

describe('the archive', () => {
  function archiving(archiveAfterMinutes: number) {
    const clock = new FakeClock();
    return {clock, ...managerFixture({runs: {clock}, options: {archiveAfterMinutes}})};
  }

  it('gets a run 60 minutes after its end, and never a run at work', async () => {
    const {clock, spawn, manager} = archiving(60);
    const {runId} = await spawn(new ScriptedModel([say('x')]), {limits: {timeoutSeconds: 0}});
    void spawn(new ScriptedModel([{hang: true}]), {limits: {timeoutSeconds: 0}, background: true});
    clock.advance(60 * MINUTE - 1);
    expect([manager.get(runId)?.state, clock.timers]).toEqual(['idle', 1]);
    clock.advance(1);
    expect(manager.get(runId)).toMatchObject({state: 'removed', transcript: expect.stringContaining('.deleted.')});
    clock.advance(1_000 * MINUTE);
    expect(manager.find('1').state).toBe('processing');
    await manager.stopAll();
  });

  it('counts from the last end of a run that continued', async () => {
    const {clock, spawn, manager} = archiving(1.5);
    const {runId} = await spawn(new ScriptedModel([say('x')]));
    clock.advance(MINUTE);
    manager.send(runId, 'and?');
    clock.advance(MINUTE);
    await manager.waitAll();
    clock.advance(MINUTE);
    expect(manager.get(runId)?.state).toBe('idle');
    clock.advance(MINUTE / 2);
    expect(manager.get(runId)?.state).toBe('removed');
  });

  it('gets no run when the setting is 0 minutes', async () => {
    const {clock, spawn, manager} = archiving(0);
    const {runId} = await spawn(new ScriptedModel([say('x')]));
    clock.advance(100_000 * MINUTE);
    expect(manager.get(runId)?.state).toBe('idle');
    expect(manager.archiveTime(manager.find(runId))).toBeUndefined();
    expect(clock.timers).toBe(0);
  });
});

describe('a plan to archive', () => {
  function planning() {
    const {store, bus, events, spawn} = managerFixture();
    const clock = new FakeClock();
    const [idle, archived]: [unknown[], string[]] = [[], []];
    const setTimer = (callback: () => void, ms: number, isIdle?: boolean) => {
      idle.push(isIdle);
      return clock.setTimer(callback, ms);
    };
    const registry = new RunRegistry();
    const archive = (runId: string) => {
      archived.push(runId);
      if (runId === 'broken') throw new Error('the disk failed');
      return store.archive(runId);
    };
    const deps = {registry, bus, mainAgentId: 'main', afterMs: 10 * MINUTE, clock: {...clock, setTimer}};
    const plan = new RunArchive({...deps, store: {archive} as unknown as typeof store});
    return {plan, clock, registry, idle, archived, events, spawn};
  }
  const endedAt = (at: number, change: Partial<RunRecord> = {}) =>
    ({endedAt: at, state: 'idle', ...change}) as RunRecord;

  it('lets the process end, is made once for a run, and is taken back with the others at the end', () => {
    const {plan, clock, idle, archived} = planning();
    plan.ended('a');
    plan.ended('a', 4 * MINUTE);
    plan.ended('b');
    expect([clock.timers, idle]).toEqual([2, [true, true, true]]);
    plan.close();
    expect(clock.timers).toBe(0);
    clock.advance(100 * MINUTE);
    expect(archived).toEqual([]);
  });

  it('says when it is due, for a run that has ended and is not archived', () => {
    const {plan} = planning();
    passWallTime(0);
    const now = Date.now();
    expect(plan.getTime(endedAt(now - 4 * MINUTE))?.getTime()).toBe(now + 6 * MINUTE);
    expect(plan.getTime(endedAt(now - 40 * MINUTE))?.getTime()).toBe(now);
    expect(plan.getTime(endedAt(now, {state: 'removed'}))).toBeUndefined();
    expect(plan.getTime({state: 'processing'} as RunRecord)).toBeUndefined();
  });

  it('is not needed where the run is archived by hand, and never done twice, nor for a run at work', async () => {
    const {plan, clock, registry, archived, events, spawn} = planning();
    const {runId, transcript} = await spawn(new ScriptedModel([say('x')]));
    registry.add(endedAt(1, {runId, transcript}));
    registry.add({runId: 'at work', state: 'processing'} as RunRecord);
    plan.ended(runId);
    for (const each of [runId, runId, 'at work', 'unknown']) plan.archive(each);
    expect([archived, clock.timers]).toEqual([[runId], 0]);
    expect(registry.get(runId)).toMatchObject({state: 'removed', transcript: expect.stringContaining('.deleted.')});
    expect(events.at(-1)).toMatchObject({type: 'run_state', state: 'removed', agentId: runId});
  });

  it('that fails leaves the run as it is, and the person is told', () => {
    const {plan, registry, events} = planning();
    registry.add(endedAt(1, {runId: 'broken'}));
    plan.archive('broken');
    expect(registry.get('broken')?.state).toBe('idle');
    expect(events).toMatchObject([{type: 'notice', text: 'could not archive run broken: the disk failed'}]);
  });
});

describe('the wall time of a run', () => {
  it('ends the run also while its model does not answer, and does not count the time in the queue', async () => {
    const clock = new FakeClock();
    const {spawn, manager} = managerFixture({runs: {clock}, maxConcurrent: 1});
    const asked = new ScriptedModel([{hang: true, partial: 'half'}]);
    const first = spawn(asked, {limits: {timeoutSeconds: 30}});
    const second = spawn(new ScriptedModel([{hang: true}]), {limits: {timeoutSeconds: 30}});
    await until(() => asked.requests.length === 1);
    clock.advance(29_999);
    expect(manager.count()).toBe(2);
    clock.advance(1);
    expect((await first).result).toMatchObject({outcome: 'timeout', text: 'half', durationMs: 30_000});
    await until(() => manager.find('1').state === 'processing');
    expect(manager.count()).toBe(1);
    clock.advance(30_000);
    expect((await second).result).toMatchObject({outcome: 'timeout', durationMs: 30_000});
  });

  it('is not over at once when it is longer than a timer of Node can be', async () => {
    let fired = false;
    systemClock.setTimer(() => {
      fired = true;
    }, 1e12);
    // Node fires a timer that is too long after 1 ms: before a later one of 2 ms.
    await new Promise<void>((resolve) => void systemClock.setTimer(resolve, 2));
    expect(fired).toBe(false);
  });
});
