import {mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {PermissionMode} from '../../../src/core/contract/events.ts';
import type {Access, Workspace} from '../../../src/core/contract/permission.ts';
import {createPolicy, decide, outside, root, run, verdict, workspace} from './fixture.ts';

const confined: Workspace = {...workspace, confinement: 'read-only'};
const workspaceWrite: Workspace = {...workspace, confinement: 'workspace-write'};
const worktree: Workspace = {...workspace, confinement: 'worktree'};
const FETCH: Access = {kind: 'fetch', host: 'example.com', url: 'https://example.com/'};

const READING = {launch: 'plain', checkpoint: false, environment: 'reading'};

describe('permissions', () => {
  it('allow reading inside the workspace and ask outside of it, also behind a link', async () => {
    expect(await verdict('default', {kind: 'read', path: 'a.ts'})).toBe('allow');
    expect(await verdict('default', {kind: 'read', path: '../outside/secret'})).toBe('ask');
    expect(await verdict('default', {kind: 'read', path: 'link/secret'})).toBe('ask');
    expect(await verdict('acceptEdits', {kind: 'read', path: '/etc/passwd'})).toBe('ask');
    const wide = {...workspace, extraRoots: [outside]};
    expect(await verdict('default', {kind: 'read', path: '../outside/secret'}, {in: wide})).toBe('allow');
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

  it('allow a command that is proven to only read inside the workspace', async () => {
    expect(await run('git log --oneline | head -3')).toMatchObject({verdict: 'allow', attempts: [READING]});
    expect(await run('cat a.ts')).toMatchObject({verdict: 'allow', attempts: [READING]});
    expect((await run('cat /etc/passwd')).verdict).toBe('ask');
    expect((await run('cat ../outside/secret')).verdict).toBe('ask');
    expect((await run('cat link/secret')).verdict).toBe('ask');
    expect((await run('cat link/../outside/secret')).verdict).toBe('ask');
    expect((await run('cat link*')).verdict).toBe('ask');
    // In /proc/self each process finds another directory.
    for (const place of ['/proc/self/cwd/a.ts', '/proc/self/cwd/../work/a.ts', '/dev/stdin', '/proc/self/environ']) {
      expect((await run(`cat ${place}`)).verdict, place).toBe('ask');
    }
    expect((await run('cat l*/secret')).verdict).toBe('ask');
    expect((await run('cd link && cat secret')).verdict).toBe('ask');
    expect((await run('grep -r x . > /dev/null')).verdict).toBe('allow');
    expect((await run('ls > list.txt')).verdict).toBe('ask');
    expect((await run('ls > list.txt', {mode: 'acceptEdits'})).verdict).toBe('allow');
    expect((await run('ls > .git/hooks/pre-commit', {mode: 'acceptEdits'})).verdict).toBe('ask');
    expect((await run('ls > ../x', {mode: 'acceptEdits'})).verdict).toBe('ask');
  });

  it('ask when a pattern matches a file that is named like an option', async () => {
    mkdirSync(path.join(root, 'names'), {recursive: true});
    writeFileSync(path.join(root, 'names/a.ts'), '');
    for (const command of ['cd names && sort *', 'cat names/*', 'grep -c x names/*.ts']) {
      expect((await run(command)).verdict, command).toBe('allow');
    }
    writeFileSync(path.join(root, 'names/-oa.ts'), '');
    for (const command of ['cd names && sort *', 'cat names/*', 'sort *.ts']) {
      expect((await run(command, {in: {...workspace, cwd: path.join(root, 'names')}})).verdict, command).toBe(
        command.includes('names') ? 'allow' : 'ask',
      );
      expect((await run(command)).verdict, command).toBe(command.includes('names') ? 'ask' : 'allow');
    }
    expect((await run('cd names; sort --output=*')).verdict).toBe('ask');
  });

  it('ask about a command that searches through a folder with keys in it', async () => {
    mkdirSync(path.join(root, '.keys'), {recursive: true});
    const secretPaths = [path.join(root, '.keys')];
    expect((await run('grep -r x .', {secretPaths})).verdict).toBe('ask');
    expect((await run('cat .k*/x', {secretPaths})).verdict).toBe('ask');
    expect((await run('cat a.ts', {secretPaths})).verdict).toBe('allow');
    rmSync(path.join(root, '.keys'), {recursive: true});
  });

  it('ask about it outside the workspace, too, where a rule allows reading', async () => {
    const keys = path.join(outside, 'keys');
    mkdirSync(keys, {recursive: true});
    const options = {rules: {allow: [`read_file(/${path.dirname(outside)}/**)`]}, secretPaths: [keys]};
    for (const command of [`grep -r x ${outside}`, `rg x ${outside}`, `cat ${outside}/k*/*`, `cat ${outside}/*`]) {
      expect((await run(command, options)).verdict, command).toBe('ask');
    }
    for (const command of [`ls ${outside}`, `cat ${outside}/secret`, `find ${outside} -name x`]) {
      expect((await run(command, options)).verdict, command).toBe('allow');
    }
  });

  it('ask about a git command when the settings of the repository name a program', async () => {
    const repository = path.join(root, 'repository');
    mkdirSync(path.join(repository, '.git/objects'), {recursive: true});
    writeFileSync(path.join(repository, '.git/HEAD'), 'ref: refs/heads/main\n');
    const settings = (text: string) => writeFileSync(path.join(repository, '.git/config'), text);
    const inside = {in: {...workspace, cwd: repository}};
    settings('[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/external.git\n');
    expect((await run('git diff', inside)).verdict).toBe('allow');
    expect((await run('git -C repository status')).verdict).toBe('allow');
    const hostile = [
      '[diff]\n\texternal = ./x',
      '[diff "a]b"] TextConv = ./x',
      '[filter "x"]\n\tclean = ./x',
      '[filter "x"]\n  process=./x',
      '[include]\n\tpath = ../x',
      '[includeIf "gitdir:/"]\n\tpath = ../x',
      '[core]\n\tworktree = /',
      '[gpg]\n\tprogram = ./x',
      '[diff "x"]\r\n\tcommand = ./x\r\n',
    ];
    for (const text of hostile) {
      settings(text);
      expect((await run('git diff', inside)).verdict, text).toBe('ask');
      expect((await run('git -C repository status')).verdict, text).toBe('ask');
      expect((await run('git diff', {in: {...inside.in, confinement: 'read-only'}, sandbox: false})).verdict).toBe(
        'deny',
      );
    }
    settings(
      '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n[core]\n\tfsmonitor = ./x\n',
    );
    expect((await run('git status', inside)).verdict).toBe('allow');
    // A rule allows the second part, so both run in the environment of the agent, in which git uses that setting.
    const rules = {allow: ['bash(npm test)']};
    expect((await run('git status && npm test', {...inside, rules})).verdict).toBe('ask');
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
  it('of a read-only agent is the sandbox; without one it must be proven to only read', async () => {
    expect((await run('make', {in: confined})).verdict).toBe('allow');
    expect(await run('make', {in: confined, sandbox: false})).toMatchObject({
      verdict: 'deny',
      because: expect.stringMatching(/^make: it may run anything; without a sandbox .* \(mini-cc doctor/),
    });
    expect(await run('ls', {in: confined, sandbox: false})).toMatchObject({verdict: 'allow', attempts: [READING]});
    expect((await run('ls > x', {in: confined, sandbox: false})).verdict).toBe('deny');
    expect((await run('cat /etc/passwd', {in: confined, sandbox: false})).verdict).toBe('deny');
  });

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
    expect(await run('ls', {mode, sandbox: false})).toMatchObject({verdict: 'allow', attempts: [READING]});
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
