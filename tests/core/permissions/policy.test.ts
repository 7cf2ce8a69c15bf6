import {mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {AgentEventBody, PermissionMode} from '../../../src/core/events.ts';
import {PermissionPolicy} from '../../../src/core/permissions/policy.ts';
import {createPermit, type Denial} from '../../../src/core/permit.ts';
import {Questions} from '../../../src/core/questions.ts';
import type {Access, Workspace} from '../../../src/core/tool.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-permissions-')));
const root = path.join(base, 'work');
const outside = path.join(base, 'outside');
mkdirSync(root);
mkdirSync(outside);
writeFileSync(path.join(outside, 'secret'), 'x');
symlinkSync(outside, path.join(root, 'link'));
symlinkSync(path.join(outside, 'not-yet'), path.join(root, 'dangling'));
symlinkSync('circle', path.join(root, 'circle'));

const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env: {}};
const confined: Workspace = {...workspace, confinement: 'read-only'};

function verdict(
  mode: PermissionMode,
  access: Access,
  options: {tool?: string; allowed?: string[]; disallowed?: string[]; in?: Workspace} = {},
) {
  const rules = {allowed: new Set(options.allowed), disallowed: new Set(options.disallowed)};
  const policy = new PermissionPolicy(mode, rules, {ownFolders: () => [], secretPlaces: []});
  return policy.decide(
    {callId: 'c', input: {}, tool: options.tool ?? 'a_tool', title: 't', accesses: [access]},
    options.in ?? workspace,
  ).verdict;
}

describe('permissions', () => {
  it('lets reading inside the workspace pass and asks outside it, also through a link', () => {
    expect(verdict('default', {kind: 'read', path: 'a.ts'})).toBe('allow');
    expect(verdict('default', {kind: 'read', path: '../outside/secret'})).toBe('ask');
    expect(verdict('default', {kind: 'read', path: 'link/secret'})).toBe('ask');
    expect(verdict('acceptEdits', {kind: 'read', path: '/etc/passwd'})).toBe('ask');
    expect(
      verdict('default', {kind: 'read', path: '../outside/secret'}, {in: {...workspace, extraRoots: [outside]}}),
    ).toBe('allow');
  });

  it('asks before it reads where keys are kept, also inside the workspace, and refuses it to a read-only agent', () => {
    const places = {ownFolders: () => [], secretPlaces: [path.join(root, '.ssh')]};
    const policy = new PermissionPolicy('acceptEdits', {allowed: new Set(), disallowed: new Set()}, places);
    const request = {
      ...{callId: 'c', input: {}, tool: 'read_file', title: 't'},
      accesses: [{kind: 'read', path: '.ssh/id_rsa'}] as const,
    };
    expect(policy.decide(request, workspace).verdict).toBe('ask');
    expect(policy.decide(request, confined).verdict).toBe('deny');
  });

  it('asks before it writes or runs, by mode', () => {
    expect(verdict('default', {kind: 'write', path: 'a.ts'})).toBe('ask');
    expect(verdict('acceptEdits', {kind: 'write', path: 'a.ts'})).toBe('allow');
    expect(verdict('acceptEdits', {kind: 'write', path: 'link/a.ts'})).toBe('ask');
    // What such a link leads to would be made by the write.
    expect(verdict('acceptEdits', {kind: 'write', path: 'dangling'})).toBe('ask');
    expect(() => verdict('acceptEdits', {kind: 'write', path: 'circle'})).toThrow('too many links');
    expect(verdict('acceptEdits', {kind: 'run', command: 'ls'})).toBe('ask');
    expect(verdict('plan', {kind: 'write', path: 'a.ts'})).toBe('deny');
    expect(verdict('plan', {kind: 'run', command: 'ls'})).toBe('deny');
    expect(verdict('bypassPermissions', {kind: 'write', path: '/etc/passwd'})).toBe('allow');
  });

  it('always asks for protected files, whatever is allowed', () => {
    for (const file of ['.git/config', '.mini-cc/agents/x.json', '.claude/settings.json', 'sub/.bashrc']) {
      expect(verdict('acceptEdits', {kind: 'write', path: file}, {allowed: ['a_tool']})).toBe('ask');
    }
  });

  it('takes allowed and disallowed tools by name; a refusal wins', () => {
    const run: Access = {kind: 'run', command: 'ls'};
    expect(verdict('default', run, {tool: 'bash', allowed: ['bash']})).toBe('allow');
    expect(verdict('bypassPermissions', run, {tool: 'bash', allowed: ['bash'], disallowed: ['bash']})).toBe('deny');
  });

  it('never asks for a read-only agent: it refuses what it may not do', () => {
    for (const mode of ['default', 'bypassPermissions'] as const) {
      expect(verdict(mode, {kind: 'write', path: 'a.ts'}, {in: confined})).toBe('deny');
      expect(verdict(mode, {kind: 'read', path: '/etc/passwd'}, {in: confined})).toBe('deny');
      expect(verdict(mode, {kind: 'run', command: 'rm -rf /'}, {in: confined})).toBe('allow');
    }
  });
});

describe('a permit', () => {
  function asking(interactive: boolean) {
    const events: AgentEventBody[] = [];
    const denials: Denial[] = [];
    const questions = new Questions();
    const policy = new PermissionPolicy(
      'default',
      {allowed: new Set(), disallowed: new Set()},
      {ownFolders: () => [], secretPlaces: []},
    );
    const deps = {
      policy,
      questions: interactive ? questions : undefined,
      onDenied: (denial: Denial) => void denials.push(denial),
    };
    const permit = createPermit(deps, '[code] mend it', workspace, (event) => void events.push(event));
    return {permit, events, denials, questions, policy};
  }
  const request = {
    callId: 'c',
    input: {command: 'npm test'},
    tool: 'bash',
    title: 'npm test',
    accesses: [{kind: 'run', command: 'npm test'}] as const,
  };
  const never = new AbortController().signal;
  const asked = (events: AgentEventBody[]) => events.flatMap((event) => (event.type === 'ask' ? [event.question] : []));

  it('asks the person, names the agent, and shows the command', async () => {
    const {permit, events, questions} = asking(true);
    const answer = permit(request, never);
    const [question] = asked(events);
    expect(question).toMatchObject({agent: '[code] mend it', detail: 'npm test', detailType: 'command'});
    expect(question?.options.map((option) => option.choice)).toEqual(['yes', 'session', 'no']);
    questions.answer(question!.id, {choice: 'yes'});
    expect(await answer).toEqual({allowed: true});
  });

  it('does not ask again for the same command after a yes for this session, but for another', async () => {
    const {permit, events, questions} = asking(true);
    const first = permit(request, never);
    questions.answer(asked(events)[0]!.id, {choice: 'session'});
    await first;
    expect(await permit(request, never)).toEqual({allowed: true});
    void permit({...request, accesses: [{kind: 'run', command: 'npm test; rm -rf x'}]}, never);
    expect(asked(events)).toHaveLength(2);
  });

  it('asks once for what one yes for this session covers, also of questions that wait already', async () => {
    const {permit, events, questions} = asking(true);
    const [first, second] = [permit(request, never), permit(request, never)];
    expect(asked(events)).toHaveLength(2);
    questions.answer(asked(events)[0]!.id, {choice: 'session'});
    expect(await first).toEqual({allowed: true});
    expect(await second).toEqual({allowed: true});
    expect(events.filter((event) => event.type === 'ask_end')).toHaveLength(2);
  });

  it("gives the user's word to the model with a no, and notes the denial", async () => {
    const {permit, events, questions, denials} = asking(true);
    const answer = permit(request, never);
    questions.answer(asked(events)[0]!.id, {choice: 'no', note: 'use pnpm'});
    expect(await answer).toMatchObject({allowed: false, message: expect.stringContaining('use pnpm')});
    expect(denials).toMatchObject([{agent: '[code] mend it', tool: 'bash', input: {command: 'npm test'}}]);
  });

  it('withdraws the question when the run is stopped; a later answer counts for nothing', async () => {
    const {permit, events, questions} = asking(true);
    const stop = new AbortController();
    const answer = permit(request, stop.signal);
    stop.abort();
    expect(await answer).toMatchObject({allowed: false});
    expect(events.at(-1)).toMatchObject({type: 'ask_end', answer: 'withdrawn'});
    questions.answer(asked(events)[0]!.id, {choice: 'yes'});
    expect(events.filter((event) => event.type === 'ask_end')).toHaveLength(1);
  });

  it('refuses what it would ask where nobody can be asked', async () => {
    const {permit, denials} = asking(false);
    expect(await permit(request, never)).toMatchObject({
      allowed: false,
      message: expect.stringContaining('nobody can be asked'),
    });
    expect(denials).toHaveLength(1);
  });
});
