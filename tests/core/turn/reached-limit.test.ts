import {expect, it} from 'vitest';
import {createBudget} from '../../../src/core/turn/budget.ts';
import {Deadline, findNearLimit, findReachedLimit} from '../../../src/core/turn/run-limits.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {FakeClock} from '../fake-clock.ts';

function runOf({maxTurns = 10, maxTokens = 1_000, spent = 0, passedMs = 0}) {
  const clock = new FakeClock();
  const deadline = new Deadline(clock, 10_000, () => undefined);
  clock.advance(passedMs);
  const budget = createBudget({maxTokens});
  for (const output_tokens of spent > 0 ? [spent - 1, 1] : []) budget.spend({...NO_USAGE, output_tokens}, 'm');
  return {limits: {maxTurns, timeoutSeconds: 10}, budget, deadline};
}

it.each([
  ['the last turn', {maxTurns: 3}, 3, {outcome: 'limit', limit: '3 turns'}],
  ['a turn before the last', {maxTurns: 4}, 3, undefined],
  ['90 % of the tokens', {spent: 900}, 3, {outcome: 'limit', limit: '1000 tokens'}],
  ['90 % of the time', {passedMs: 9_000}, 3, {outcome: 'timeout', timeout: 'timed out after 10 s'}],
  ['less than that', {spent: 899, passedMs: 8_999}, 3, undefined],
  ['the first turn, which is never the report', {maxTurns: 1, spent: 900, passedMs: 9_000}, 1, undefined],
])('at %s the limit that is near: %j in turn %d', (_, change, turn, limit) => {
  expect(findNearLimit(runOf(change), turn)).toEqual(limit);
});

it.each([
  [{maxTurns: 1}, 1, {outcome: 'limit', limit: '1 turn'}],
  [{maxTurns: 2}, 1, undefined],
  [{maxTurns: 2}, 3, {outcome: 'limit', limit: '2 turns'}],
  [{spent: 999}, 1, undefined],
  [{spent: 1_000}, 1, {outcome: 'limit', limit: '1000 tokens'}],
])('with %j after %d turns no tool runs any more: %j', (change, turns, limit) => {
  expect(findReachedLimit(runOf(change), turns)).toEqual(limit);
});
