import {getEventListeners} from 'node:events';
import {describe, expect, it, vi} from 'vitest';
import type {Model, ModelReply, ModelRequest, Usage} from '../../../src/core/contract/model.ts';
import type {Budget, CallSize, Reservation} from '../../../src/core/contract/tool.ts';
import {BudgetReached, checkPrice, createBudget} from '../../../src/core/turn/budget.ts';
import {callModel} from '../../../src/core/turn/model-request.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {stopTimers} from '../../support/fake-time.ts';

const tokens = (input_tokens: number): Usage => ({...NO_USAGE, input_tokens});
const usd = (cost_usd: number): Usage => ({...tokens(1), cost_usd});

/** A token costs a dollar for a million, in and out. */
const model = {name: 'm', inputPrice: 1, outputPrice: 1};
const never = new AbortController().signal;
const size = (inputTokens: number, more: Partial<CallSize> = {}): CallSize => ({
  ...{model, inputTokens, isCounted: true, maxOutputTokens: 32_000},
  ...more,
});
const reserve = (budget: Budget, call: CallSize) => budget.reserve(call, never);

/** Says whether a promise is settled, after everything that could settle it by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  return settled;
}

describe('a budget of tokens', () => {
  it('asks for the report at 90 %, and is used up at its last token', () => {
    const budget = createBudget({maxTokens: 1000});
    const spend = (count: number) => {
      for (let left = count; left > 0; left -= 1) budget.spend(tokens(1), 'm');
      return [budget.reportDue, budget.usedUp];
    };
    expect(spend(899)).toEqual([undefined, undefined]);
    expect(spend(1)).toEqual(['1000 tokens', undefined]);
    expect(spend(99)).toEqual(['1000 tokens', undefined]);
    expect(spend(1)).toEqual(['1000 tokens', '1000 tokens']);
    expect(spend(1)).toEqual(['1000 tokens', '1000 tokens']);
  });

  it('without a limit is never used up', async () => {
    const budget = createBudget();
    const ended: string[] = [];
    budget.onUsedUp(() => ended.push('main'));
    budget.open('run').spend({...tokens(1e9), cost_usd: 1e6}, 'm');
    expect([ended, budget.usedUp, budget.reportDue]).toEqual([[], undefined, undefined]);
    expect((await reserve(budget, size(1e9))).maxOutputTokens).toBe(32_000);
  });
});

describe('a budget of money', () => {
  it('asks for the report at 90 %, and is used up at its last cent', () => {
    const budget = createBudget({maxBudgetUsd: 1});
    for (let cents = 0; cents < 89; cents += 1) budget.spend(usd(0.01), 'm');
    expect([budget.reportDue, budget.usedUp]).toEqual([undefined, undefined]);
    budget.spend(usd(0.01), 'm');
    expect([budget.reportDue, budget.usedUp]).toEqual(['budget of $1.00', undefined]);
    // Sums of amounts are not exact.
    for (let cents = 0; cents < 10; cents += 1) budget.spend(usd(0.01), 'm');
    expect(budget.usedUp).toBe('budget of $1.00');
  });

  it('asks for the report with the last call that fits', () => {
    const budget = createBudget({maxBudgetUsd: 1});
    budget.spend(usd(0.3), 'm');
    expect(budget.reportDue).toBeUndefined();
    budget.spend(usd(0.3), 'm');
    expect(budget.reportDue).toBe('budget of $1.00');
  });
});

describe('a call that reserves what it can cost', () => {
  it('has its input and all of its output set aside, in all budgets above it, until its end', async () => {
    const session = createBudget({maxBudgetUsd: 1});
    const prompt = session.open('prompt', {maxTokens: 500_000});
    const run = prompt.open('explore', {maxBudgetUsd: 0.5});
    const call = await reserve(run, size(100_000));
    expect(call).toMatchObject({inputTokens: 100_000, maxOutputTokens: 32_000});
    expect([run, prompt, session].map(({setAsideUsd}) => setAsideUsd)).toEqual([0.132, 0.132, 0.132]);
    call.count({...tokens(50_000), cost_usd: 0.05});
    expect(session.setAsideUsd).toBeCloseTo(0.082, 9);
    run.spend({...tokens(50_000), output_tokens: 1000, cost_usd: 0.051}, 'm');
    call.release();
    call.release();
    expect([session.setAsideUsd, session.spentUsd]).toEqual([0, 0.051]);
  });

  it('gets fewer output tokens where it does not fit, and as many as a smaller budget above it allows', async () => {
    const session = createBudget({maxBudgetUsd: 0.02});
    expect((await reserve(session.open('a', {maxBudgetUsd: 9}), size(10_000))).maxOutputTokens).toBe(10_000);
    const counted = createBudget({maxTokens: 9_000});
    expect((await reserve(counted, size(4_000))).maxOutputTokens).toBe(5_000);
  });

  it('leaves a part of the rest to those that come with it', async () => {
    const session = createBudget({maxBudgetUsd: 0.1});
    const calls: Reservation[] = [];
    for (let count = 0; count < 4; count += 1) calls.push(await reserve(session, size(1_000)));
    expect(calls.map(({maxOutputTokens}) => maxOutputTokens)).toEqual([32_000, 32_000, 16_500, 7_750]);
  });

  it('waits for what others give back, in the order in which they came', async () => {
    const session = createBudget({maxBudgetUsd: 0.05});
    const first = await reserve(session, size(30_000));
    const begun: string[] = [];
    const wait = async (name: string) => {
      const call = await reserve(session, size(20_000));
      begun.push(name);
      return call;
    };
    const [second, third] = [wait('second'), wait('third')];
    expect(await isSettled(Promise.race([second, third]))).toBe(false);
    session.spend(usd(0.001), 'm');
    first.release();
    const {maxOutputTokens} = await second;
    expect([begun, maxOutputTokens]).toEqual([['second'], 29_000]);
    (await second).release();
    await third;
    expect(begun).toEqual(['second', 'third']);
  });

  it('says once why a call waits, and only after some seconds', async () => {
    stopTimers();
    const session = createBudget({maxBudgetUsd: 0.05});
    const first = await reserve(session, size(30_000));
    const said: string[] = [];
    const reply = {usage: tokens(1), model: 'm'} as ModelReply;
    const asked = {...model, maxOutputTokens: 32_000, reply: async () => reply} as unknown as Model;
    const account = {budget: session, onUsage: () => undefined};
    const call = callModel(
      asked,
      {signal: never} as ModelRequest,
      {tokens: 30_000, isCounted: true},
      account,
      (progress) => {
        if (progress.type === 'warning') said.push(progress.text);
      },
    );
    await vi.advanceTimersByTimeAsync(4_000);
    expect(said).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(said).toEqual([expect.stringContaining('waits for other model calls to end')]);
    first.release();
    expect(await call).toBe(reply);
  });

  it('leaves no listener at the signal of a run after a call', async () => {
    const {signal} = new AbortController();
    const account = {budget: createBudget({}), onUsage: () => undefined};
    let aborts: AbortSignal | undefined;
    const reply = async (request: ModelRequest) => {
      aborts = request.signal;
      return {usage: tokens(1), model: 'm'} as ModelReply;
    };
    const asked = {...model, maxOutputTokens: 1000, reply} as unknown as Model;
    await callModel(asked, {signal} as ModelRequest, {tokens: 1, isCounted: true}, account);
    expect(aborts?.aborted).toBe(false);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('waits no longer when it is aborted', async () => {
    const session = createBudget({maxBudgetUsd: 0.05});
    const first = await reserve(session, size(30_000));
    const abort = new AbortController();
    const waiting = session.reserve(size(30_000), abort.signal);
    abort.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    first.release();
    expect(session.setAsideUsd).toBe(0);
  });

  it('ends its run with the limit that it does not fit into, as soon as nothing more is given back', async () => {
    const session = createBudget({maxBudgetUsd: 0.05});
    await expect(reserve(session, size(50_000))).rejects.toEqual(new BudgetReached('budget of $0.05'));
    await expect(reserve(createBudget({maxTokens: 100}), size(100))).rejects.toEqual(new BudgetReached('100 tokens'));
    const first = await reserve(session, size(10_000));
    const waiting = reserve(session, size(20_000));
    session.spend(usd(0.045), 'm');
    first.release();
    await expect(waiting).rejects.toMatchObject({limit: 'budget of $0.05', code: 'BUDGET'});
  });

  it('is likely to cost what the last one did, when nothing else is under way', async () => {
    const session = createBudget({maxBudgetUsd: 1});
    const call = await reserve(session, size(500_000));
    // The cache made the input ten times cheaper.
    const used = {...NO_USAGE, cache_read_input_tokens: 500_000, cost_usd: 0.05};
    call.count(used);
    session.spend(used, 'm');
    call.release();
    session.spend(usd(0.8), 'm');
    expect((await reserve(session, size(500_000))).maxOutputTokens).toBe(32_000);
    expect(session.setAsideUsd).toBeCloseTo(0.082, 9);
  });

  it('says which limit does not cover it any more, when its failed attempts cost something', async () => {
    const session = createBudget({maxBudgetUsd: 0.1});
    const run = session.open('a');
    const call = await reserve(run, size(30_000));
    run.spend(usd(0.03), 'm');
    expect(call.uncovered).toBeUndefined();
    run.spend(usd(0.03), 'm');
    expect(call.uncovered).toBe('budget of $0.10');
  });
});

describe('an estimate that nothing confirms yet', () => {
  const guess = (inputTokens: number) => size(inputTokens, {isCounted: false, maxOutputTokens: 1000});

  it('is tried by one call at a time; what the server counts corrects those that follow', async () => {
    const session = createBudget({maxBudgetUsd: 1});
    const runs = Array.from({length: 30}, () => session.open('explore'));
    const waiting = runs.map((run) => reserve(run, guess(2_000)));
    const [first, second] = waiting as [Promise<Reservation>, Promise<Reservation>];
    const probe = await first;
    expect([await isSettled(second), session.setAsideUsd]).toEqual([false, 0.003]);
    // The server counts a hundred times as much.
    probe.count({...tokens(200_000), cost_usd: 0.2});
    expect((await second).inputTokens).toBe(200_000);
    expect(session.setAsideUsd).toBeCloseTo(4 * 0.201, 9);
  });

  it('is not waited for without a limit, nor where the agent is known', async () => {
    const free = createBudget();
    const calls = [reserve(free.open('a'), guess(1)), reserve(free.open('a'), guess(1))];
    expect(await Promise.all(calls)).toHaveLength(2);
    const session = createBudget({maxBudgetUsd: 1});
    const probe = await reserve(session.open('a'), guess(1000));
    probe.count(tokens(1000));
    const more = [reserve(session.open('a'), guess(1)), reserve(session.open('a'), guess(1))];
    expect(await Promise.all(more)).toHaveLength(2);
  });

  it('is tried by one call at a time also for summaries of an agent whose conversation was counted', async () => {
    const session = createBudget({maxBudgetUsd: 1});
    const counted = await reserve(session.open('a'), guess(1000));
    counted.count({...tokens(2000), cost_usd: 0.002});
    counted.release();
    const summary = {...guess(1000), kind: 'You summarise'};
    const [first, second] = [session.open('a'), session.open('a')].map((run) => reserve(run, summary));
    const probe = await first!;
    // Nothing is known of it but what the server counted for other requests.
    expect([probe.inputTokens, await isSettled(second!)]).toEqual([2000, false]);
    probe.count({...tokens(50_000), cost_usd: 0.05});
    expect((await second!).inputTokens).toBe(50_000);
    expect((await reserve(session.open('a'), guess(1000))).inputTokens).toBe(2000);
  });

  it('lets the next one try when the first one fails', async () => {
    const session = createBudget({maxBudgetUsd: 1});
    const probe = await reserve(session.open('a'), guess(1000));
    const next = reserve(session.open('b'), guess(1000));
    expect(await isSettled(next)).toBe(false);
    probe.release();
    expect(await isSettled(next)).toBe(true);
  });
});

it.each([1, 8, 30, 64])('spent and reserved stay within a dollar, with %i runs at once', async (count) => {
  const session = createBudget({maxBudgetUsd: 1});
  let highest = 0;
  const note = () => {
    highest = Math.max(highest, session.spentUsd + session.setAsideUsd);
  };
  const work = async () => {
    const run = session.open('explore');
    for (;;) {
      const call = await reserve(run, size(200_000, {isCounted: false})).catch((error: unknown) => error as Error);
      if (call instanceof BudgetReached) return call.limit;
      const {release, count: correct} = call as Reservation;
      note();
      await Promise.resolve();
      // The estimate was a tenth too low.
      correct({...tokens(220_000), cost_usd: 0.22});
      note();
      run.spend({...tokens(220_000), output_tokens: 100, cost_usd: 0.2201}, 'm');
      release();
      note();
    }
  };
  const limits = await Promise.all(Array.from({length: count}, work));
  expect(new Set(limits)).toEqual(new Set(['budget of $1.00']));
  expect(highest).toBeLessThan(1.021);
  expect(session.spentUsd).toBeCloseTo(4 * 0.2201, 9);
});

describe('the budgets of runs', () => {
  it('tell the runs that depend on what another one has used up, but not that one itself', () => {
    const session = createBudget({maxBudgetUsd: 1});
    const ended: string[] = [];
    const run = (name: string, limits = {}) => {
      const budget = session.open(name, limits);
      return {budget, stop: budget.onUsedUp(() => ended.push(name))};
    };
    session.onUsedUp(() => ended.push('main'));
    const [spender, , gone] = [run('spender'), run('shared'), run('gone')];
    run('own', {maxBudgetUsd: 0.1});
    gone.stop();
    spender.budget.spend(usd(0.85), 'm');
    expect(ended).toEqual([]);
    spender.budget.spend(usd(0.15), 'm');
    expect(ended).toEqual(['main', 'shared', 'own']);
  });

  it('count for the session by agent and model', () => {
    const totals: number[] = [];
    const session = createBudget({}, 'main', ({input_tokens}) => totals.push(input_tokens));
    session.spend(tokens(1), 'm');
    const budget = session.open('explore');
    budget.spend(tokens(10), 'm');
    budget.spend(tokens(100), 'n');
    session.open('a command').spend(tokens(1000), 'm');
    session.open('explore').spend(tokens(10_000), 'm');
    expect(totals).toEqual([1, 11, 111, 1111, 11_111]);
    expect(session.entries().map(({agent, model: name, usage}) => `${agent} ${name} ${usage.input_tokens}`)).toEqual([
      ...['main m 1', 'explore m 10010', 'explore n 100', 'a command m 1000'],
    ]);
    expect([session.usage.input_tokens, budget.usageByModel.n]).toEqual([1, tokens(100)]);
  });
});

it('a limit of money needs the price of the model, and names the model without one', () => {
  const unpriced = {name: 'a', outputPrice: undefined};
  expect(() => checkPrice(unpriced, undefined)).not.toThrow();
  expect(() => checkPrice({name: 'a', outputPrice: 3}, 1)).not.toThrow();
  expect(() => checkPrice(unpriced, 1)).toThrow('that of a is not known');
  expect(() => checkPrice({...unpriced, unpriced: 'b'}, 1)).toThrow('that of b is not known');
});
