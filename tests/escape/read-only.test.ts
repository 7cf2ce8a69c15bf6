/** A read-only agent tries to escape: it changes, sends and leaves nothing, and sees no key. */
import {afterAll, describe, expect, test} from 'vitest';
import {hasSandbox} from '../support/sandbox.ts';
import {createEscapeFixture} from './fixture.ts';
import {ATTEMPTS, type Conditions, runAttempts} from './run-attempts.ts';

const usable = await hasSandbox();
const fixture = await createEscapeFixture();
afterAll(() => fixture.close());

const conditions: Conditions = {agent: 'explore', confinement: 'none', mode: 'default', protects: () => true};

test('there are at least 120 attempts', () => {
  expect(Object.keys(ATTEMPTS).length).toBeGreaterThanOrEqual(120);
});

describe.runIf(usable)('in the sandbox', async () => {
  const outcomes = usable ? await runAttempts(fixture, ATTEMPTS, conditions) : new Map();

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    expect(outcomes.get(name).broke).toEqual([]);
  });

  test('the attempts did run', () => {
    expect(outcomes.get('words put together').text).not.toContain('Nothing was run');
    expect(outcomes.get('left in the background').text).toBe('left');
  });
});

describe('without a sandbox', async () => {
  const outcomes = await runAttempts(fixture, ATTEMPTS, {...conditions, searchPath: ''});

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    const {broke, text} = outcomes.get(name)!;
    expect(broke).toEqual([]);
    expect(text).toMatch(/Nothing was run|Permission denied:/);
  });
});
