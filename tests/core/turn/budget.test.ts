import {describe, expect, it} from 'vitest';
import type {Usage} from '../../../src/core/contract/model.ts';
import {checkPrice, createBudget} from '../../../src/core/turn/budget.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';

const tokens = (input_tokens: number): Usage => ({...NO_USAGE, input_tokens});
const usd = (cost_usd: number): Usage => ({...tokens(1), cost_usd});
const NO_END = Number.POSITIVE_INFINITY;

describe('a budget of tokens', () => {
  it('asks for the report at 90 %, and is used up at its last token', () => {
    const budget = createBudget({maxTokens: 1000});
    budget.spend(tokens(899), 'm');
    expect([budget.reportDue, budget.usedUp, budget.maxOutputTokens(5)]).toEqual([undefined, undefined, 101]);
    budget.spend(tokens(1), 'm');
    expect([budget.reportDue, budget.usedUp]).toEqual(['1000 tokens', undefined]);
    budget.spend(tokens(99), 'm');
    expect([budget.usedUp, budget.maxOutputTokens(5)]).toEqual([undefined, 1]);
    budget.spend(tokens(1), 'm');
    expect([budget.usedUp, budget.maxOutputTokens(5)]).toEqual(['1000 tokens', 0]);
    budget.spend(tokens(1), 'm');
    expect([budget.usedUp, budget.maxOutputTokens(5)]).toEqual(['1000 tokens', 0]);
  });

  it('without a limit is never used up', () => {
    const budget = createBudget();
    const ended: string[] = [];
    budget.onUsedUp(() => ended.push('main'));
    budget.setAside('run', {}).budget.spend({...tokens(1e9), cost_usd: 1e6}, 'm');
    expect([ended, budget.usedUp, budget.reportDue, budget.maxOutputTokens(5)]).toEqual([
      [],
      undefined,
      undefined,
      NO_END,
    ]);
  });
});

describe('a budget of money', () => {
  it('asks for the report at 90 %, and is used up at its last cent', () => {
    const budget = createBudget({maxBudgetUsd: 1});
    budget.spend(usd(0.89), 'm');
    expect([budget.reportDue, budget.usedUp]).toEqual([undefined, undefined]);
    budget.spend(usd(0.01), 'm');
    expect([budget.reportDue, budget.usedUp]).toEqual(['budget of $1.00', undefined]);
    // Sums of amounts are not exact.
    for (let cents = 0; cents < 10; cents += 1) budget.spend(usd(0.01), 'm');
    expect(budget.usedUp).toBe('budget of $1.00');
  });

  it('limits a reply to what it can still pay, where the price is known', () => {
    const budget = createBudget({maxBudgetUsd: 1});
    budget.spend(usd(0.4), 'm');
    expect([budget.maxOutputTokens(10), budget.maxOutputTokens(undefined)]).toEqual([60_000, NO_END]);
    budget.spend(usd(2), 'm');
    expect(budget.maxOutputTokens(10)).toBe(0);
  });
});

describe('the budget of a run', () => {
  it('is set aside from what its session has left, at most all of it, and comes back as far as it was not used', () => {
    const session = createBudget({maxBudgetUsd: 1});
    session.spend(usd(0.2), 'm');
    const first = session.setAside('a', {maxBudgetUsd: 0.5});
    expect([session.setAsideUsd, session.maxOutputTokens(1)]).toEqual([0.5, 300_000]);
    const second = session.setAside('b', {maxBudgetUsd: 0.5});
    expect(second.budget.limitUsd).toBeCloseTo(0.3);
    // All is given away, so the session itself has nothing left.
    expect(session.usedUp).toBe('budget of $1.00');
    expect(session.setAside('c', {maxBudgetUsd: 0.5}).budget.limitUsd).toBeCloseTo(0);
    first.budget.spend(usd(0.1), 'm');
    expect([session.spentUsd, session.setAsideUsd].map((amount) => amount.toFixed(2))).toEqual(['0.30', '0.70']);
    first.release();
    first.release();
    expect([session.spentUsd, session.setAsideUsd].map((amount) => amount.toFixed(2))).toEqual(['0.30', '0.30']);
    expect(session.usedUp).toBeUndefined();
  });

  it('that spent more than was set aside takes the rest from the session, not less', () => {
    const session = createBudget({maxBudgetUsd: 1});
    const {budget} = session.setAside('a', {maxBudgetUsd: 0.2});
    budget.spend(usd(0.3), 'm');
    expect([session.setAsideUsd, session.maxOutputTokens(1)]).toEqual([0, 700_000]);
  });

  it('of its own goes on when that of the session is used up; without one it ends with the session', () => {
    const session = createBudget({maxBudgetUsd: 1});
    const own = session.setAside('own', {maxBudgetUsd: 0.2}).budget;
    const shared = session.setAside('shared', {}).budget;
    expect([own.limitUsd, shared.limitUsd]).toEqual([0.2, 1]);
    session.spend(usd(0.75), 'm');
    expect([own.reportDue, shared.reportDue, own.maxOutputTokens(1), shared.maxOutputTokens(1)]).toEqual([
      ...[undefined, undefined],
      ...[200_000, 50_000],
    ]);
    session.spend(usd(0.2), 'm');
    expect([own.usedUp, own.reportDue]).toEqual([undefined, undefined]);
    expect([shared.usedUp, shared.reportDue]).toEqual(['budget of $1.00', 'budget of $1.00']);
  });

  it('tells the runs that depend on what another one has used up, but not that one itself', () => {
    const session = createBudget({maxBudgetUsd: 1});
    const ended: string[] = [];
    const run = (name: string, limits = {}) => {
      const {budget} = session.setAside(name, limits);
      return {budget, stop: budget.onUsedUp(() => ended.push(name))};
    };
    session.onUsedUp(() => ended.push('main'));
    const [spender, , gone] = [run('spender'), run('shared'), run('gone')];
    run('own', {maxBudgetUsd: 0.1});
    gone.stop();
    spender.budget.spend(usd(0.85), 'm');
    // The rest is set aside, not spent.
    expect(ended).toEqual([]);
    spender.budget.spend(usd(0.15), 'm');
    expect(ended).toEqual(['shared', 'main']);
  });

  it('counts for the session by agent and model, also after its end', () => {
    const totals: number[] = [];
    const session = createBudget({}, 'main', ({input_tokens}) => totals.push(input_tokens));
    session.spend(tokens(1), 'm');
    const {budget, release} = session.setAside('explore', {});
    budget.spend(tokens(10), 'm');
    budget.spend(tokens(100), 'n');
    session.spendFor('a command', tokens(1000), 'm');
    release();
    session.setAside('explore', {}).budget.spend(tokens(10_000), 'm');
    expect(totals).toEqual([1, 11, 111, 1111, 11_111]);
    expect(session.entries().map(({agent, model, usage}) => `${agent} ${model} ${usage.input_tokens}`)).toEqual([
      ...['main m 1', 'a command m 1000', 'explore m 10', 'explore n 100', 'explore m 10000'],
    ]);
    expect([session.usage.input_tokens, budget.usageByModel.n]).toEqual([1, tokens(100)]);
  });
});

it('a limit of money needs the price of the model, and names the model without one', () => {
  const model = {name: 'a', outputPrice: undefined};
  expect(() => checkPrice(model, undefined)).not.toThrow();
  expect(() => checkPrice({name: 'a', outputPrice: 3}, 1)).not.toThrow();
  expect(() => checkPrice(model, 1)).toThrow('that of a is not known');
  expect(() => checkPrice({...model, unpriced: 'b'}, 1)).toThrow('that of b is not known');
});
