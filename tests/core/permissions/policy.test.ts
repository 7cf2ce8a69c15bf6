import {mkdirSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {PermissionMode} from '../../../src/core/contract/events.ts';
import type {Access, Workspace} from '../../../src/core/contract/permission.ts';
import {permissionSandbox} from '../../support/sandbox.ts';
import {createPolicy, permissionFixture} from './fixture.ts';

const {decide, outside, root, run, verdict, workspace} = permissionFixture();

const confined: Workspace = {...workspace, confinement: 'read-only'};
const workspaceWrite: Workspace = {...workspace, confinement: 'workspace-write'};
const worktree: Workspace = {...workspace, confinement: 'worktree'};
const FETCH: Access = {kind: 'fetch', host: 'example.com'};

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

/** What a rule decides by mode, for an agent that asks and for one that never does. */
const READER = {agent: {readOnly: true}} as const;

describe('a rule for a whole tool', () => {
  it.each([
    [{deny: ['todo_write']}, {}, 'deny'],
    [{deny: ['todo_write']}, {mode: 'bypassPermissions'}, 'deny'],
    [{ask: ['todo_write']}, {}, 'ask'],
    [{ask: ['todo_write']}, {mode: 'bypassPermissions'}, 'allow'],
    [{ask: ['todo_write']}, READER, 'deny'],
    [{}, READER, 'allow'],
  ] as const)('%j, with %j, decides: %s', async (rules, options, expected) => {
    expect((await decide({kind: 'none'}, {rules, ...options})).verdict).toBe(expected);
  });

  it('asks each time', async () => {
    expect(await decide({kind: 'none'}, {rules: {ask: ['todo_write']}})).toMatchObject({onlyOnce: true});
  });

  it('refuses a call whose path leads nowhere, too', async () => {
    const circle = {kind: 'read', path: 'circle'} as const;
    expect((await decide(circle, {rules: {deny: ['read_file']}})).verdict).toBe('deny');
  });
});

describe('a request to a host', () => {
  it.each([
    [{}, {}, 'ask'],
    [{}, {mode: 'bypassPermissions'}, 'allow'],
    [{}, READER, 'deny'],
    [{allow: ['web_fetch']}, {}, 'allow'],
    [{allow: ['web_fetch']}, READER, 'deny'],
    [{allow: ['web_fetch(domain:example.com)']}, {}, 'allow'],
    [{allow: ['web_fetch(domain:example.org)']}, {}, 'ask'],
    [{allow: ['web_fetch'], ask: ['web_fetch(domain:example.com)']}, {}, 'ask'],
    [{ask: ['web_fetch(domain:example.com)']}, {mode: 'bypassPermissions'}, 'allow'],
    [{deny: ['web_fetch(domain:example.com)']}, {mode: 'bypassPermissions'}, 'deny'],
    [{allow: ['web_fetch'], deny: ['web_fetch(domain:example.com)']}, {}, 'deny'],
  ] as const)('under the rules %j, with %j: %s', async (rules, options, expected) => {
    expect((await decide(FETCH, {rules, ...options})).verdict).toBe(expected);
  });

  it('is asked about each time where a rule asks about the host', async () => {
    expect(await decide(FETCH, {rules: {ask: ['web_fetch(domain:*)']}})).toMatchObject({onlyOnce: true});
  });
});

describe('a tool of an MCP server', () => {
  const call: Access = {kind: 'mcp', server: 'notes', detail: '', confined: false};

  it.each([
    [{}, {}, 'ask'],
    [{}, {mode: 'bypassPermissions'}, 'allow'],
    [{}, {mode: 'plan'}, 'deny'],
    [{}, READER, 'deny'],
    [{allow: ['mcp__notes__add']}, {}, 'allow'],
    [{allow: ['mcp__notes']}, {}, 'allow'],
    [{allow: ['mcp__notes__add']}, {mode: 'plan'}, 'deny'],
    [{allow: ['mcp__other']}, {}, 'ask'],
  ] as const)('under the rules %j, with %j: %s', async (rules, options, expected) => {
    expect((await decide(call, {rules, ...options})).verdict).toBe(expected);
    // What its read-only sandbox confines may run in each mode.
    expect((await decide({...call, confined: true}, {rules, ...options})).verdict).toBe('allow');
  });

  it('is offered as a rule for that tool', async () => {
    expect(await decide(call)).toMatchObject({rules: ['mcp__notes__add']});
  });
});

it('refuses a dispatch to an agent that never asks where a rule asks about it', async () => {
  const dispatch: Access = {kind: 'dispatch', agent: 'reviewer'};
  const rules = {ask: ['Task(reviewer)']};
  expect((await decide(dispatch, {rules, ...READER})).verdict).toBe('deny');
  expect((await decide(dispatch, {rules, mode: 'bypassPermissions'})).verdict).toBe('allow');
  expect((await decide(dispatch, READER)).verdict).toBe('allow');
});

describe('a change of what verdicts depend on', () => {
  const command = {kind: 'run', command: 'make'} as const;
  const request = {callId: 'c', input: {}, tool: 'bash', title: 't', accesses: [command]};
  const verdictOf = async (policy: ReturnType<typeof createPolicy>) =>
    (await policy.judge(request, workspace, {sandbox: permissionSandbox()})).verdict;
  const store = {source: 'the store', canSave: () => true, remove: async () => undefined, add: async () => undefined};

  it.each<[string, (policy: ReturnType<typeof createPolicy>) => void | Promise<void>, string]>([
    [
      'the mode',
      (policy) => {
        policy.mode = 'bypassPermissions';
      },
      'allow',
    ],
    ['a grant', (policy) => policy.grant(request, workspace), 'allow'],
    ['a saved rule', (policy) => policy.saveRules(['bash(make)']), 'allow'],
    ['what the command of the turn allows', (policy) => policy.allowInTurn(['bash(make)']), 'allow'],
    ['a rule of the driver', (policy) => policy.setDriverRules({deny: ['bash(make)']}), 'deny'],
    ['something elsewhere', (policy) => policy.noteChange(), 'ask'],
  ])('is counted and takes effect: %s', async (_, change, expected) => {
    const policy = createPolicy({store});
    expect(await verdictOf(policy)).toBe('ask');
    const before = policy.changes;
    await change(policy);
    expect(policy.changes).not.toBe(before);
    expect(await verdictOf(policy)).toBe(expected);
  });

  it('ends with the turn for what its command allowed; a turn that allows nothing changes nothing', async () => {
    const policy = createPolicy({});
    policy.allowInTurn([]);
    expect(policy.changes).toBe(0);
    policy.allowInTurn(['bash(make)']);
    policy.allowInTurn([]);
    expect(await verdictOf(policy)).toBe('ask');
  });

  it('by a grant for a tool of an MCP server covers that tool alone', async () => {
    const policy = createPolicy({});
    const call = (tool: string) => ({
      ...request,
      tool,
      accesses: [{kind: 'mcp', server: 'notes', detail: '', confined: false}] as const,
    });
    policy.grant(call('mcp__notes__add'), workspace);
    const agent = {sandbox: permissionSandbox()};
    expect((await policy.judge(call('mcp__notes__add'), workspace, agent)).verdict).toBe('allow');
    expect((await policy.judge(call('mcp__notes__drop'), workspace, agent)).verdict).toBe('ask');
  });
});

it('hides files that rules deny to read from confined attempts alone', () => {
  const policy = createPolicy({rules: {deny: ['read_file(*.pem)']}});
  const [confinedOne, plain] = [
    {launch: 'read-only', checkpoint: false},
    {launch: 'plain', checkpoint: true},
  ] as const;
  expect(policy.maskDeniedFiles([confinedOne, plain], workspace)).toEqual([
    {...confinedOne, masked: {paths: []}},
    plain,
  ]);
  expect(policy.maskDeniedFiles([confinedOne], workspace)).toMatchObject([{masked: {paths: []}}]);
  expect(policy.maskDeniedFiles([plain], workspace)).toEqual([plain]);
  expect(createPolicy({}).maskDeniedFiles([confinedOne], workspace)).toEqual([confinedOne]);
});
