/** A read-only agent tries to get out: nothing changes, nothing is sent, nothing stays, no key is seen. */
import {afterAll, describe, expect, test} from 'vitest';
import {hasSandbox} from '../support/sandbox.ts';
import {ATTEMPTS} from './attempts.ts';
import {openArena} from './fixture.ts';
import {attemptAll, type Conditions} from './run-attempts.ts';

const usable = await hasSandbox();
const arena = await openArena();
afterAll(() => arena.close());

const conditions: Conditions = {agent: 'explore', confinement: 'none', mode: 'default', protects: () => true};

test('there are at least 120 attempts', () => {
  expect(Object.keys(ATTEMPTS).length).toBeGreaterThanOrEqual(120);
});

describe.runIf(usable)('held by the sandbox', async () => {
  const outcomes = usable ? await attemptAll(arena, ATTEMPTS, conditions) : new Map();

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    expect(outcomes.get(name).broke).toEqual([]);
  });

  test('they did run', () => {
    expect(outcomes.get('words put together').text).not.toContain('Nothing was run');
    expect(outcomes.get('left in the background').text).toBe('left');
  });
});

describe('without a sandbox', async () => {
  const outcomes = await attemptAll(arena, ATTEMPTS, {...conditions, searchPath: ''});

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    const {broke, text} = outcomes.get(name)!;
    expect(broke).toEqual([]);
    expect(text).toMatch(/Nothing was run|Permission denied:/);
  });
});
