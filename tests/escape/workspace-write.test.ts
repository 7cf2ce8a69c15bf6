/** An agent that may write its workspace tries to escape from it, or to change what controls git and mini-cc. */
import {afterAll, describe, expect, test} from 'vitest';
import {hasSandbox} from '../support/sandbox.ts';
import {createEscapeFixture} from './fixture.ts';
import {ATTEMPTS, type Conditions, runAttempts} from './run-attempts.ts';

const usable = await hasSandbox();
const fixture = await createEscapeFixture();
afterAll(() => fixture.close());

const PROTECTED = [
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/modules',
  '.git/info',
  '.mini-cc',
  '.claude',
];
const protects = (path: string) =>
  PROTECTED.some((name) => path === `${fixture.root}/${name}` || path.startsWith(`${fixture.root}/${name}/`));
/** No permission is asked: only the sandbox confines the commands. */
const conditions: Conditions = {
  ...{agent: 'code', confinement: 'workspace-write', mode: 'bypassPermissions'},
  ...{protects, restores: true},
};

test('there are at least 120 attempts', () => {
  expect(Object.keys(ATTEMPTS).length).toBeGreaterThanOrEqual(120);
});

describe.runIf(usable)('in the sandbox', async () => {
  const outcomes = usable ? await runAttempts(fixture, ATTEMPTS, conditions) : new Map();

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    expect(outcomes.get(name).broke).toEqual([]);
  });

  test('a commit is made', () => {
    expect(outcomes.get('a commit').text).not.toMatch(/fatal|error/);
  });
});

describe('without a sandbox, where it is required', async () => {
  const outcomes = await runAttempts(fixture, ATTEMPTS, {...conditions, searchPath: ''});

  test.each(Object.keys(ATTEMPTS))('%s', (name) => {
    const {broke, text} = outcomes.get(name)!;
    expect(broke).toEqual([]);
    expect(text).toMatch(/sandbox: required.*Nothing was run/s);
  });
});
