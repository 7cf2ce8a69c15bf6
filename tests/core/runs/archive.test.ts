import {describe, expect, it} from 'vitest';
import {systemClock} from '../../../src/core/turn/run-limits.ts';
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
    const {runId} = await spawn(new ScriptedModel([say('x')]), {timeoutSeconds: 0});
    void spawn(new ScriptedModel([{hang: true}]), {timeoutSeconds: 0, background: true});
    clock.advance(60 * MINUTE - 1);
    expect(manager.get(runId)?.state).toBe('idle');
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
  });
});

describe('the wall time of a run', () => {
  it('ends the run also while its model does not answer, and does not count the time in the queue', async () => {
    const clock = new FakeClock();
    const {spawn, manager} = managerFixture({runs: {clock}, maxConcurrent: 1});
    const asked = new ScriptedModel([{hang: true, partial: 'half'}]);
    const first = spawn(asked, {timeoutSeconds: 30});
    const second = spawn(new ScriptedModel([{hang: true}]), {timeoutSeconds: 30});
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
