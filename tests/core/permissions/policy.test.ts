import {mkdirSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {PermissionMode} from '../../../src/core/contract/events.ts';
import type {Access, Workspace} from '../../../src/core/contract/permission.ts';
import {createPolicy, permissionFixture} from './fixture.ts';

const {decide, outside, root, run, verdict, workspace} = permissionFixture();

const confined: Workspace = {...workspace, confinement: 'read-only'};
const workspaceWrite: Workspace = {...workspace, confinement: 'workspace-write'};
const worktree: Workspace = {...workspace, confinement: 'worktree'};
const FETCH: Access = {kind: 'fetch', host: 'example.com', url: 'https://example.com/'};

describe('permissions', () => {
  it('allow reading inside the workspace and ask outside of it, also behind a link', async () => {
    expect(await verdict('default', {kind: 'read', path: 'a.ts'})).toBe('allow');
    expect(await verdict('default', {kind: 'read', path: '../outside/secret'})).toBe('ask');
    expect(await verdict('default', {kind: 'read', path: 'link/secret'})).toBe('ask');
    expect(await verdict('acceptEdits', {kind: 'read', path: '/etc/passwd'})).toBe('ask');
    const wide = {...workspace, extraRoots: [outside]};
    expect(await verdict('default', {kind: 'read', path: '../outside/secret'}, {in: wide})).toBe('allow');
  });

  it('allow reading system folders and package stores, also to a read-only agent, but not keys in them and no writing', async () => {
    const store = path.join(outside, 'store');
    const options = {systemFolders: ['/etc', store], secretPaths: ['/etc/shadow']};
    for (const file of ['/etc/passwd', path.join(store, 'a.rs')]) {
      expect(await verdict('default', {kind: 'read', path: file}, options)).toBe('allow');
      expect(await verdict('default', {kind: 'read', path: file}, {...options, in: confined})).toBe('allow');
      expect(await verdict('acceptEdits', {kind: 'write', path: file}, options)).toBe('ask');
    }
    expect(await verdict('default', {kind: 'read', path: '/etc/shadow'}, options)).toBe('ask');
    const rules = {deny: ['read_file(//etc/**)']};
    expect(await verdict('default', {kind: 'read', path: '/etc/passwd'}, {...options, rules, tool: 'read_file'})).toBe(
      'deny',
    );
  });

  it('ask before keys are read, also inside the workspace, and refuse it to a read-only agent', async () => {
    const secretPaths = [path.join(root, '.ssh')];
    for (const file of ['.ssh/id_rsa', '.SSH/id_rsa', './a/../.ssh']) {
      const access = {kind: 'read', path: file} as const;
      expect(await verdict('acceptEdits', access, {secretPaths})).toBe('ask');
      expect(await verdict('acceptEdits', access, {secretPaths, in: confined})).toBe('deny');
    }
    mkdirSync(path.join(outside, 'keys'), {recursive: true});
    symlinkSync(path.join(outside, 'keys'), path.join(root, 'kept'));
    const byLink = [path.join(root, 'kept')];
    const wide = {...workspace, extraRoots: [outside]};
    const access = {kind: 'read', path: path.join(outside, 'keys/id')} as const;
    expect(await verdict('default', access, {secretPaths: byLink, in: wide})).toBe('ask');
  });

  it('ask before an agent writes or runs a command, by mode', async () => {
    expect(await verdict('default', {kind: 'write', path: 'a.ts'})).toBe('ask');
    expect(await verdict('acceptEdits', {kind: 'write', path: 'a.ts'})).toBe('allow');
    expect(await verdict('acceptEdits', {kind: 'write', path: 'link/a.ts'})).toBe('ask');
    // The write would create the file that such a link leads to.
    expect(await verdict('acceptEdits', {kind: 'write', path: 'dangling'})).toBe('ask');
    expect(await verdict('acceptEdits', {kind: 'write', path: 'link/new/folder/a.ts'})).toBe('ask');
    await expect(verdict('acceptEdits', {kind: 'write', path: 'circle'})).rejects.toThrow('too many links');
    expect(await verdict('acceptEdits', {kind: 'run', command: 'make'})).toBe('ask');
    expect(await verdict('plan', {kind: 'write', path: 'a.ts'})).toBe('deny');
    expect(await verdict('plan', FETCH)).toBe('deny');
    expect(await verdict('default', FETCH)).toBe('ask');
    expect(await verdict('bypassPermissions', {kind: 'write', path: '/etc/passwd'})).toBe('allow');
    expect(await verdict('bypassPermissions', {kind: 'run', command: 'rm -rf x'})).toBe('allow');
  });

  it('always ask about protected files, whichever rules allow them', async () => {
    const protectedFiles = [
      ...['.git/config', '.mini-cc/agents/x.json', '.claude/settings.json', 'sub/.bashrc', '.git', 'a/.GIT/hooks/x'],
      ...[
        '.git./config',
        '.GIT /config',
        '.g\u200cit/config',
        'git~1/config',
        '.mini-cc::$INDEX/x',
        '.zshrc',
        '.npmrc',
      ],
    ];
    for (const file of protectedFiles) {
      const access = {kind: 'write', path: file} as const;
      const rules = {allow: ['edit_file', 'edit_file(**)', 'bash']};
      expect(await verdict('acceptEdits', access, {tool: 'edit_file', rules}), file).toBe('ask');
    }
    expect(await verdict('acceptEdits', {kind: 'write', path: '.github/x.yml'})).toBe('allow');
    expect((await run('echo x > .git/config', {rules: {allow: ['bash']}})).verdict).toBe('ask');
  });

  it('never ask for a read-only agent: they refuse what is not allowed', async () => {
    for (const mode of ['default', 'bypassPermissions'] as const) {
      expect(await verdict(mode, {kind: 'write', path: 'a.ts'}, {in: confined})).toBe('deny');
      expect(await verdict(mode, {kind: 'read', path: '/etc/passwd'}, {in: confined})).toBe('deny');
      expect(await verdict(mode, FETCH, {in: confined})).toBe('deny');
      expect(await verdict(mode, {kind: 'run', command: 'rm -rf /'}, {in: confined})).toBe('allow');
    }
  });
});

describe('the confinement of a command', () => {
  it('to the workspace replaces the question, but not for a command outside of the sandbox', async () => {
    const asks = {in: workspaceWrite, rules: {ask: ['bash(git push:*)'], deny: ['bash(rm:*)'], allow: ['bash']}};
    expect((await run('make', asks)).verdict).toBe('allow');
    expect((await run('git push', asks)).verdict).toBe('ask');
    expect((await run('make && rm x', asks)).verdict).toBe('deny');
    expect(await run('make', {...asks, unconfined: true})).toMatchObject({verdict: 'ask', onlyOnce: true});
    expect((await run('make', {...asks, unconfined: true, mode: 'bypassPermissions'})).verdict).toBe('allow');
    expect((await run('make', {...asks, sandbox: false})).verdict).toBe('deny');
    const off = {rules: {allow: ['bash']}, unconfined: true} as const;
    expect(await run('ls', off)).toMatchObject({verdict: 'ask', onlyOnce: true});
    expect((await run('ls', {...off, mode: 'bypassPermissions'})).verdict).toBe('allow');
    expect((await run('ls', {...off, in: confined})).verdict).toBe('allow');
  });

  it('to a worktree refuses writes elsewhere in every mode, and asks as usual', async () => {
    const modes: PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions'];
    for (const mode of modes) {
      const options = {in: worktree, rules: {allow: ['edit_file(//**)', 'edit_file']}};
      expect(await verdict(mode, {kind: 'write', path: path.join(outside, 'a')}, options)).toBe('deny');
      expect(await verdict(mode, {kind: 'write', path: 'link/a'}, options)).toBe('deny');
      expect((await run('make', {in: worktree, mode, sandbox: false})).verdict).toBe('deny');
      expect((await run('ls', {in: worktree, mode, sandbox: false})).verdict).toBe('allow');
    }
    expect((await run('make', {in: worktree})).verdict).toBe('ask');
    expect((await run('make', {in: worktree, rules: {allow: ['bash(make)']}})).verdict).toBe('allow');
  });
});

describe('plan mode', () => {
  it('confines all agents: they write and fetch nothing, and their commands run as those of a read-only agent', async () => {
    const mode = 'plan';
    expect((await run('make', {mode})).verdict).toBe('allow');
    expect((await run('make', {mode, sandbox: false})).verdict).toBe('deny');
    expect(await run('ls', {mode, sandbox: false})).toMatchObject({
      verdict: 'allow',
      attempts: [{launch: 'plain', checkpoint: false}],
    });
    expect((await run('make', {mode, in: workspaceWrite})).verdict).toBe('allow');
    expect((await decide({kind: 'write', path: 'a'}, {mode, rules: {allow: ['edit_file']}})).verdict).toBe('deny');
    expect(createPolicy({mode}).getConfinement('none')).toBe('read-only');
    expect(createPolicy({mode}).getConfinement('worktree')).toBe('read-only');
    expect(createPolicy({}).getConfinement('worktree')).toBe('worktree');
  });

  it('asks the person about what a read-only agent may not do', async () => {
    const access = {kind: 'read', path: '/etc/passwd'} as const;
    expect((await decide(access, {mode: 'plan'})).verdict).toBe('ask');
    expect((await decide(access, {mode: 'plan', agent: {readOnly: true}})).verdict).toBe('deny');
  });
});

describe("an agent's own mode", () => {
  it.each([
    ['default', 'acceptEdits', 'acceptEdits'],
    ['acceptEdits', 'default', 'default'],
    ['default', 'plan', 'plan'],
    ['default', 'bypassPermissions', 'bypassPermissions'],
    ['plan', 'acceptEdits', 'plan'],
    ['plan', 'bypassPermissions', 'plan'],
    ['bypassPermissions', 'default', 'bypassPermissions'],
    ['bypassPermissions', 'plan', 'plan'],
    ['acceptEdits', undefined, 'acceptEdits'],
  ] as const)('in a session in %s, of %s, is %s', (session, own, counts) => {
    expect(createPolicy({mode: session}).getAgentMode(own)).toBe(counts);
  });

  it('counts when its calls are judged', async () => {
    const edit = {kind: 'write', path: 'a.ts'} as const;
    expect((await decide(edit, {agent: {mode: 'acceptEdits'}})).verdict).toBe('allow');
    expect((await decide(edit, {mode: 'acceptEdits', agent: {mode: 'default'}})).verdict).toBe('ask');
    expect((await decide(edit, {mode: 'bypassPermissions', agent: {mode: 'plan'}})).verdict).toBe('deny');
  });
});
