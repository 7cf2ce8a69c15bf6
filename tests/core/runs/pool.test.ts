import {readdirSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {Pool} from '../../../src/core/runs/pool.ts';
import {until} from '../../support/wait.ts';
import {managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say} from '../scripted-model.ts';

describe('the pool', () => {
  function createPool(most: number) {
    const world = {now: 0};
    const order: string[] = [];
    const pool = new Pool(most, () => world.now);
    const finish = new Map<string, () => void>();
    const run = (id: string, options: {background?: boolean; signal?: AbortSignal} = {}) =>
      pool.run(
        {id, background: options.background ?? false, signal: options.signal ?? new AbortController().signal},
        () => {
          order.push(id);
          return new Promise<string>((resolve) => finish.set(id, () => resolve(id)));
        },
      );
    return {world, order, pool, run, finish};
  }

  it('starts foreground runs before background runs, and each in the order of their arrival', async () => {
    const {run, order, finish} = createPool(1);
    const all = [run('a'), run('b1', {background: true}), run('b2', {background: true}), run('f1'), run('f2')];
    for (const id of ['a', 'f1', 'f2', 'b1', 'b2']) {
      await until(() => finish.has(id));
      finish.get(id)!();
    }
    await Promise.all(all);
    expect(order).toEqual(['a', 'f1', 'f2', 'b1', 'b2']);
  });

  it('moves a waiting run behind the others when it is sent to the background', async () => {
    const {run, pool, order, finish} = createPool(1);
    const all = [run('a'), run('b'), run('c')];
    pool.toBackground('b');
    pool.toBackground('a');
    for (const id of ['a', 'c', 'b']) {
      await until(() => finish.has(id));
      finish.get(id)!();
    }
    await Promise.all(all);
    expect(order).toEqual(['a', 'c', 'b']);
  });

  it('begins a waiting run at once when it is stopped, without a slot, and not a second time in one', async () => {
    const {run, order, finish} = createPool(1);
    const abort = new AbortController();
    const first = run('a');
    const waiting = run('b', {signal: abort.signal});
    abort.abort();
    finish.get('b')!();
    expect(await waiting).toBe('b');
    const late = run('c', {signal: abort.signal});
    finish.get('c')!();
    expect(await late).toBe('c');
    const next = run('d');
    expect(order).toEqual(['a', 'b', 'c']);
    finish.get('a')!();
    await first;
    await until(() => finish.has('d'));
    finish.get('d')!();
    await next;
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  it('does not begin a run again when it is stopped at work', async () => {
    const {run, order, finish} = createPool(1);
    const abort = new AbortController();
    const atWork = run('a', {signal: abort.signal});
    abort.abort();
    finish.get('a')!();
    await atWork;
    expect(order).toEqual(['a']);
  });

  it('grows again to the size that was found out later', () => {
    const {pool} = createPool(1);
    pool.resize(4);
    pool.overloaded();
    for (let ends = 0; ends < 9; ends += 1) pool.endedWell();
    expect(pool.slots).toBe(4);
  });

  it('is halved by an overload, never below one slot, and grows by one for each run that succeeds', () => {
    const {pool, world} = createPool(8);
    pool.overloaded();
    expect(pool.slots).toBe(4);
    // Other runs report the same overload.
    pool.overloaded();
    expect(pool.slots).toBe(4);
    for (const slots of [2, 1, 1]) {
      world.now += 1_000;
      pool.overloaded();
      expect(pool.slots).toBe(slots);
    }
    for (let ends = 0; ends < 20; ends += 1) pool.endedWell();
    expect(pool.slots).toBe(8);
  });
});

describe('runs in the pool', () => {
  it.each([
    ['429', true],
    ['529', true],
    ['500', false],
  ])('leave fewer slots to the others after a %s: %s', async (reason, isFewer) => {
    const {spawn, events} = managerFixture({maxConcurrent: 4});
    const gates = Array.from({length: 4}, () => Promise.withResolvers<void>());
    const answer = new ScriptedModel((_, index) => say(`answer ${index}`));
    const atWork = gates.map((gate, index) =>
      spawn(
        Object.assign(new ScriptedModel([]), {
          reply: async (...[request, onProgress]: Parameters<ScriptedModel['reply']>) => {
            if (index === 0) onProgress({type: 'retry', waitMs: 1, reason, attempt: 1});
            await gate.promise;
            return answer.reply(request, onProgress);
          },
        }),
      ),
    );
    gates[0]!.resolve();
    await atWork[0];
    // Three are at work: of two slots and the one for the success none is left.
    const next = spawn(answer);
    expect(events.findLast((event) => event.type === 'run_start')).toMatchObject({queued: isFewer});
    for (const gate of gates) gate.resolve();
    await Promise.all([...atWork, next]);
  });

  it('wait until the size of the pool is known, which is asked for once', async () => {
    let asked = 0;
    const size = async () => {
      asked += 1;
      return 2;
    };
    const {spawn, events} = managerFixture({maxConcurrent: () => ({server: 'local', size})});
    await Promise.all([1, 2, 3].map((index) => spawn(new ScriptedModel([say(`answer ${index}`)]))));
    await spawn(new ScriptedModel([say('later')]));
    expect(asked).toBe(1);
    const starts = events.flatMap((event) => (event.type === 'run_start' ? [event.queued] : []));
    expect(starts).toEqual([false, false, true, false]);
  });

  it('wait for those at the same server alone', async () => {
    const {spawn, events} = managerFixture({
      maxConcurrent: ({local}) => (local ? {server: 'local', size: async () => 1} : {server: 'hosted', size: 2}),
    });
    const at = (local: boolean) => Object.assign(new ScriptedModel([say('answer')]), {local});
    await Promise.all([true, false, true, false].map((local) => spawn(at(local))));
    const starts = events.flatMap((event) => (event.type === 'run_start' ? [event.queued] : []));
    expect(starts.toSorted()).toEqual([false, false, false, true]);
  });

  it('are counted by count(), each with its own id, until stopAll()', async () => {
    const {manager, spawn} = managerFixture({maxConcurrent: 4});
    const all = Promise.all(Array.from({length: 10}, () => spawn(new ScriptedModel([{hang: true}]))));
    expect(manager.count()).toBe(10);
    expect(new Set(manager.list().map(({runId}) => runId)).size).toBe(10);
    await manager.stopAll();
    expect(manager.count()).toBe(0);
    expect((await all).every(({result}) => result.outcome === 'stopped')).toBe(true);
  });

  it('return their results in order, and never exceed the slots, when 200 start at once', async () => {
    const {manager, spawn, events} = managerFixture({maxConcurrent: 8});
    const results = await Promise.all(
      Array.from({length: 200}, (_, index) => spawn(new ScriptedModel([say(`answer ${index}`)]))),
    );
    expect(results.map(({result}) => result.text)).toEqual(results.map((_, index) => `answer ${index}`));
    let atWork = 0;
    let most = 0;
    for (const event of events) {
      if (event.type === 'run_state' && event.state === 'processing') most = Math.max(most, ++atWork);
      if (event.type === 'run_end') atWork -= 1;
    }
    expect(most).toBe(8);
    expect(manager.list()).toHaveLength(200);
  });

  it('hold no file open while they wait', async () => {
    const {manager, spawn} = managerFixture({maxConcurrent: 1});
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    const all = Array.from({length: 100}, () => spawn(new ScriptedModel([{hang: true}])));
    await until(() => manager.find('100').state === 'processing');
    expect(open() - before).toBeLessThan(20);
    await manager.stopAll();
    await Promise.all(all);
  });

  it('end at once when they are stopped while they wait for a slot', async () => {
    const {manager, spawn} = managerFixture({maxConcurrent: 1});
    void spawn(new ScriptedModel([{hang: true}]));
    const waiting = spawn(new ScriptedModel([say('never')]));
    const [, second] = manager.list();
    await manager.stop(second!.runId);
    expect((await waiting).result.outcome).toBe('stopped');
    expect(manager.count()).toBe(1);
    await manager.stopAll();
  });
});
