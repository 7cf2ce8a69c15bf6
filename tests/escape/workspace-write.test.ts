/** An agent that may write its workspace tries to get out of it, or to gain power over git and mini-cc in it. */
import {afterAll, describe, expect, test} from 'vitest';
import {hasSandbox} from '../support/sandbox.ts';
import {ATTEMPTS} from './attempts.ts';
import {openArena} from './fixture.ts';
import {attemptAll, type Conditions} from './run-attempts.ts';

const usable = await hasSandbox();
const arena = await openArena();
afterAll(() => arena.close());

const PROTECTED = ['.git/hooks', '.git/config', '.git/config.worktree', '.git/commondir', '.mini-cc', '.claude'];
const protects = (path: string) =>
  PROTECTED.some((name) => path === `${arena.root}/${name}` || path.startsWith(`${arena.root}/${name}/`));
/** Nothing is asked: what holds is the sandbox alone. */
const conditions: Conditions = {
  ...{agent: 'code', confinement: 'workspace-write', mode: 'bypassPermissions'},
  ...{protects, restores: true},
};

test('there are at least 120 attempts', () => {
  expect(Object.keys(ATTEMPTS).length).toBeGreaterThanOrEqual(120);
});

describe.runIf(usable)('held by the sandbox', async () => {
  const outcomes = usable ? await attemptAll(arena, ATTEMPTS, conditions) : new Map();

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    expect(outcomes.get(name).broke).toEqual([]);
  });

  test('a commit is made', () => {
    expect(outcomes.get('a commit').text).not.toMatch(/fatal|error/);
  });
});

describe('without a sandbox, where it is required', async () => {
  const outcomes = await attemptAll(arena, ATTEMPTS, {...conditions, searchPath: ''});

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    const {broke, text} = outcomes.get(name)!;
    expect(broke).toEqual([]);
    expect(text).toMatch(/sandbox: required.*Nothing was run/s);
  });
});
