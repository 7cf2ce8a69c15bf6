import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Workspace} from '../../../../src/core/contract/permission.ts';
import {permissionSandbox} from '../../../support/sandbox.ts';
import {createPolicy, permissionFixture} from '../fixture.ts';

const {decide, outside, root, run, workspace} = permissionFixture();
const READER = {agent: {readOnly: true}} as const;
const BYPASS = {mode: 'bypassPermissions'} as const;
const places = {ownFolders: [path.join(outside, 'own')], secretPaths: [path.join(root, 'keys')]};

describe('reading a file', () => {
  it.each([
    ['/dev/null', {}, READER, 'allow'],
    ['../outside/own/output', {}, READER, 'allow'],
    ['../outside/x', {}, READER, 'deny'],
    ['../outside/x', {}, BYPASS, 'allow'],
    ['keys/id', {}, BYPASS, 'allow'],
    ['keys/id', {}, {...BYPASS, ...READER}, 'deny'],
    ['keys/id', {allow: ['read_file(keys/**)']}, {}, 'ask'],
    ['a.ts', {ask: ['read_file(*.ts)']}, {}, 'ask'],
    ['a.ts', {ask: ['read_file(*.ts)']}, READER, 'deny'],
    ['a.ts', {ask: ['read_file(*.ts)']}, BYPASS, 'allow'],
    ['../outside/own/output', {deny: ['read_file(../outside/own/**)']}, BYPASS, 'deny'],
  ] as const)('%s under the rules %j, with %j: %s', async (file, rules, options, expected) => {
    const verdict = await decide({kind: 'read', path: file}, {rules, ...options, ...places});
    expect(verdict.verdict).toBe(expected);
  });

  it('is asked about each time where a rule asks, and of a person alone where keys are kept', async () => {
    const rules = {ask: ['read_file(*.ts)']};
    expect(await decide({kind: 'read', path: 'a.ts'}, {rules})).toMatchObject({onlyOnce: true});
    expect(await decide({kind: 'read', path: 'keys/id'}, places)).toMatchObject({onlyPerson: true});
  });
});

describe('writing a file', () => {
  it('is refused to an agent that never asks, in each mode', async () => {
    const write = {kind: 'write', path: 'a.ts'} as const;
    for (const mode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
      expect((await decide(write, {mode, ...READER})).verdict, mode).toBe('deny');
    }
  });

  it('of a part of a fan-out is refused for all other files, and needs no question where it was allowed with it', async () => {
    const scoped: Workspace = {
      ...{...workspace, confinement: 'files'},
      scope: {files: [path.join(root, 'a.ts'), path.join(root, 'b.ts')], allowed: [path.join(root, 'a.ts')]},
    };
    const write = async (file: string, mode: 'default' | 'bypassPermissions' = 'default') =>
      decide({kind: 'write', path: file}, {in: scoped, mode});
    expect((await write('a.ts')).verdict).toBe('allow');
    expect((await write('b.ts')).verdict).toBe('ask');
    expect(await write('src/c.ts', 'bypassPermissions')).toMatchObject({
      verdict: 'deny',
      because: expect.stringMatching(/^src\/c\.ts is not among the files of this part/),
    });
    const elsewhere = path.join(outside, 'c.ts');
    expect(await write(elsewhere)).toMatchObject({because: expect.stringContaining(`${elsewhere} is not among`)});
  });

  it('by a command is asked about where a rule asks about all edits', async () => {
    const options = {mode: 'acceptEdits', rules: {ask: ['edit_file']}} as const;
    expect((await run('echo x > a.ts', options)).verdict).toBe('ask');
  });

  it('of a protected file is asked of a person alone', async () => {
    expect(await decide({kind: 'write', path: '.git/config'})).toMatchObject({verdict: 'ask', onlyPerson: true});
  });

  it('in a further folder of the workspace is asked about with the offer of a rule for its whole path', async () => {
    const wide = {...workspace, extraRoots: [outside]};
    const verdict = await decide({kind: 'write', path: '../outside/a.ts'}, {in: wide});
    expect(verdict).toMatchObject({verdict: 'ask', because: `writes ${outside}/a.ts`});
    expect(verdict).toHaveProperty('rules', [`edit_file(/${outside}/a.ts)`]);
    const rules = {allow: [`edit_file(/${outside}/a.ts)`]};
    expect((await decide({kind: 'write', path: '../outside/a.ts'}, {in: wide, rules})).verdict).toBe('allow');
    expect(await decide({kind: 'write', path: '../outside/a.ts'}, {in: wide, mode: 'acceptEdits'})).toMatchObject({
      verdict: 'allow',
    });
  });

  it('needs no further question after "yes for this session", but for protected files and those outside', async () => {
    const policy = createPolicy({});
    const write = (file: string) => ({
      ...{callId: 'c', input: {}, tool: 'edit_file', title: 't'},
      accesses: [{kind: 'write', path: file}] as const,
    });
    policy.grant(write('a.ts'), workspace);
    const verdictOn = async (file: string, at: Workspace = workspace) =>
      (await policy.judge(write(file), at, {sandbox: permissionSandbox()})).verdict;
    expect(await verdictOn('src/b.ts')).toBe('allow');
    expect(await verdictOn('.git/config')).toBe('ask');
    expect(await verdictOn('../outside/b.ts')).toBe('ask');
    // It covers the workspace, not the worktrees of runs.
    expect(await verdictOn('src/b.ts', {...workspace, confinement: 'worktree'})).toBe('ask');
  });
});
