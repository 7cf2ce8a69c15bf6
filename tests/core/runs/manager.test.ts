import {describe, expect, it} from 'vitest';
import {createBudget} from '../../../src/core/turn/budget.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {FakeClock} from '../fake-clock.ts';
import {managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say} from '../scripted-model.ts';

describe('the manager of runs', () => {
  it('dispatches nothing once the session has used up its budget', async () => {
    const budget = createBudget({maxTokens: 10});
    budget.spend({...NO_USAGE, input_tokens: 10}, 'm');
    const {spawn, manager} = managerFixture({options: {budget}});
    await expect(spawn(new ScriptedModel([say('never')]))).rejects.toMatchObject({code: 'BUDGET'});
    expect(manager.list()).toEqual([]);
  });

  it('gives back what a call of a run has reserved, when the run is stopped', async () => {
    const budget = createBudget({maxBudgetUsd: 1});
    const model = Object.assign(new ScriptedModel([{hang: true}]), {inputPrice: 1, outputPrice: 1});
    const {spawn, manager} = managerFixture({options: {budget}});
    const ended = spawn(model, {limits: {maxBudgetUsd: 0.001}});
    await model.asked();
    expect(budget.setAsideUsd).toBeCloseTo(0.001, 6);
    await manager.stopAll();
    await ended;
    expect(budget.setAsideUsd).toBe(0);
  });

  it('refuses a run with a limit of money whose model has no known price', async () => {
    const {spawn} = managerFixture();
    await expect(spawn(new ScriptedModel([]), {limits: {maxBudgetUsd: 1}})).rejects.toThrow('a budget needs prices');
  });

  it('waits for a run for some time, and says whether it has ended', async () => {
    const clock = new FakeClock();
    const gate = Promise.withResolvers<void>();
    const model = Object.assign(new ScriptedModel([say('done')]), {});
    const reply = model.reply.bind(model);
    model.reply = async (...args) => {
      await gate.promise;
      return reply(...args);
    };
    const {spawn, manager} = managerFixture({runs: {clock}});
    const ended = spawn(model, {limits: {timeoutSeconds: 0}});
    const [{runId} = {runId: ''}] = manager.list();
    const abort = new AbortController();
    const late = manager.waitFor(runId, 1_000, abort.signal);
    clock.advance(999);
    clock.advance(1);
    expect([await late, clock.timers]).toEqual([false, 0]);
    const given = manager.waitFor(runId, 1_000, abort.signal);
    abort.abort();
    expect([await given, clock.timers]).toEqual([false, 0]);
    expect(await manager.waitFor(runId, 1_000, abort.signal)).toBe(false);
    const next = manager.nextEnd();
    const waits = manager.waitFor(runId, 1_000, new AbortController().signal);
    gate.resolve();
    expect([await waits, clock.timers]).toEqual([true, 0]);
    await next;
    await ended;
    expect(await manager.waitFor(runId, 1_000, abort.signal)).toBe(true);
    await manager.nextEnd();
  });

  it('lets a run go on that has ended, and no other, and waits for its end', async () => {
    const {spawn, manager} = managerFixture({model: new ScriptedModel([say('and more')])});
    const {signal} = new AbortController();
    const {runId} = await spawn(new ScriptedModel([say('found')]));
    expect(await manager.resume(runId, 'go on', signal)).toMatchObject({result: {text: 'and more'}});
    expect(manager.get(runId)).toMatchObject({round: 2, background: false});
    const atWork = spawn(new ScriptedModel([{hang: true}]));
    await expect(manager.resume('1', 'go on', signal)).rejects.toMatchObject({code: 'RUN_AT_WORK'});
    const stopped = manager.stop(manager.find('1').runId);
    expect(() => manager.send('1', 'and this?')).toThrow('Send again when it has ended');
    expect([await stopped, await manager.stop(runId), await manager.stop('unknown')]).toEqual([true, false, false]);
    await atWork;
  });

  it('goes on with a run for a message that came after its last turn had begun', async () => {
    const next = new ScriptedModel([say('seen')]);
    const {spawn, manager, bus, read} = managerFixture({model: next});
    const stop = bus.subscribe((event) => {
      if (event.type !== 'run_end') return;
      stop();
      manager.send(event.agentId, 'one more thing');
      manager.send(event.agentId, 'and another');
    });
    const {runId} = await spawn(new ScriptedModel([say('done')]));
    await manager.waitAll();
    expect(next.requests[0]?.messages.at(-1)?.content).toBe('one more thing\n\nand another');
    expect(read(runId).filter(({type}) => type === 'end')).toHaveLength(2);
  });

  it('counts the announcement of the last round alone as delivered', async () => {
    const {spawn, manager} = managerFixture({model: new ScriptedModel([say('again')])});
    const {runId} = await spawn(new ScriptedModel([say('done')]), {background: true});
    manager.send(runId, 'go on');
    await manager.waitAll();
    manager.announced(runId);
    manager.announced('unknown');
    expect(manager.get(runId)).toMatchObject({round: 2, announcement: 'waiting'});
    manager.announced(`${runId}#2`);
    expect(manager.get(runId)).toMatchObject({announcement: 'delivered'});
  });

  it('refuses a run whose model has no known price, too, where the session has a limit of money', async () => {
    const {spawn} = managerFixture({options: {budget: createBudget({maxBudgetUsd: 1})}});
    await expect(spawn(new ScriptedModel([]))).rejects.toThrow('a budget needs prices');
  });

  it('sends to the background the run that is named alone, and once', async () => {
    const {spawn, manager} = managerFixture();
    const runs = ['a', 'b'].map((prompt) => spawn(new ScriptedModel([{hang: true}]), {prompt}));
    const {runId} = manager.find('1');
    expect([manager.detach('unknown'), manager.detach(runId), manager.detach(runId)]).toEqual([false, true, false]);
    expect(manager.list().map(({background}) => background)).toEqual([false, true]);
    expect(manager.detachAll().map((run) => run.runId)).toEqual([manager.find('2').runId]);
    await manager.stopAll();
    await Promise.all(runs);
  });

  it('says whether a message waits for the next turn of a run, or made it go on', async () => {
    const {spawn, manager} = managerFixture();
    const {runId} = await spawn(new ScriptedModel([say('found')]));
    expect(manager.send(runId, 'and?')).toBe('resumed');
    expect(manager.send(runId, 'and?')).toBe('queued');
    await manager.waitAll();
    expect(manager.get(runId)?.round).toBe(2);
  });

  it.each(['clear', 'close'] as const)('ends all runs with %s, and archives none after it', async (how) => {
    const clock = new FakeClock();
    const {spawn, manager, events} = managerFixture({runs: {clock}, options: {archiveAfterMinutes: 1}});
    await spawn(new ScriptedModel([say('found')]), {prompt: 'other'});
    const running = spawn(new ScriptedModel([{hang: true}]), {background: true});
    await manager[how]();
    expect((await running).result.outcome).toBe('stopped');
    expect([manager.count(), manager.list().length, clock.timers]).toEqual([0, how === 'clear' ? 0 : 2, 0]);
    expect(events.filter(({type}) => type === 'run_state').at(-1)).toMatchObject({state: 'stopped'});
  });
});
