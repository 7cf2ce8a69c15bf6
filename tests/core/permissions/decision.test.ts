import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import {until} from '../../support/wait.ts';
import {permissionFixture} from './fixture.ts';

const {permitFixture, root, workspace} = permissionFixture();

describe('a decision', () => {
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
    const {permit, events, questions} = permitFixture();
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    const [question] = asked(events);
    expect(question).toMatchObject({agent: '[code] fix it', detail: 'npm test', detailType: 'command'});
    expect(question?.options.map((option) => option.choice)).toEqual(['yes', 'session', 'no']);
    questions.answer(question!.id, {choice: 'yes'});
    expect(await answer).toMatchObject({verdict: 'allow'});
  });

  it("pauses the run's time limit while the person is asked, and lets the call be prepared", async () => {
    const {permit, events, questions} = permitFixture();
    const paused: string[] = [];
    const deadline = {pause: () => void paused.push('pause'), resume: () => void paused.push('resume')};
    const onAsked = () => void paused.push('prepare');
    const answer = permit({...request, deadline, onAsked}, never);
    await until(() => asked(events).length === 1);
    expect(paused).toEqual(['pause', 'prepare']);
    questions.answer(asked(events)[0]!.id, {choice: 'session'});
    await answer;
    await permit({...request, deadline, onAsked}, never);
    expect(paused).toEqual(['pause', 'prepare', 'resume']);
  });

  it('does not ask again about the same command after "yes for this session", but asks about another one', async () => {
    const {permit, events, questions} = permitFixture();
    const first = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'session'});
    await first;
    expect(await permit(request, never)).toMatchObject({verdict: 'allow'});
    void permit({...request, accesses: [{kind: 'run', command: 'npm test; rm -rf x'}]}, never);
    await until(() => asked(events).length === 2);
  });

  it('ends the other questions that an answer "yes for this session" covers', async () => {
    const {permit, events, questions} = permitFixture();
    const [first, second] = [permit(request, never), permit(request, never)];
    await until(() => asked(events).length === 2);
    questions.answer(asked(events)[0]!.id, {choice: 'session'});
    expect(await first).toMatchObject({verdict: 'allow'});
    expect(await second).toMatchObject({verdict: 'allow'});
    expect(events.filter((event) => event.type === 'ask_end')).toHaveLength(2);
  });

  it("passes the user's note with a no to the model, and notes the denial", async () => {
    const {permit, events, questions, denials} = permitFixture();
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'no', note: 'use pnpm'});
    expect(await answer).toMatchObject({verdict: 'deny', message: expect.stringContaining('use pnpm')});
    expect(denials).toMatchObject([{agent: '[code] fix it', tool: 'bash', input: {command: 'npm test'}}]);
  });

  it('withdraws the question when the run is stopped; a later answer has no effect', async () => {
    const {permit, events, questions} = permitFixture();
    const stop = new AbortController();
    const answer = permit(request, stop.signal);
    await until(() => asked(events).length === 1);
    stop.abort();
    expect(await answer).toMatchObject({verdict: 'deny'});
    expect(events.at(-1)).toMatchObject({type: 'ask_end', answer: 'withdrawn'});
    questions.answer(asked(events)[0]!.id, {choice: 'yes'});
    expect(events.filter((event) => event.type === 'ask_end')).toHaveLength(1);
  });

  it('refuses a call that needs a question in a session without a person', async () => {
    const {permit, denials} = permitFixture({interactive: false});
    expect(await permit(request, never)).toMatchObject({
      verdict: 'deny',
      message: expect.stringContaining('nobody can be asked'),
    });
    expect(denials).toHaveLength(1);
  });

  it.each([
    [{kind: 'run', command: "npm run 'a b'"}, "--allowed-tools 'bash(npm run '\\''a b'\\'')' allows it"],
    [{kind: 'run', command: `make ${'x'.repeat(300)}`}, "--allowed-tools 'bash' allows it"],
    [{kind: 'write', path: 'src/a.ts'}, "--allowed-tools 'edit_file(/src/**)' allows it"],
    [{kind: 'write', path: '/elsewhere'}, "--allowed-tools 'edit_file(//elsewhere)' allows it"],
    [{kind: 'fetch', host: 'example.com'}, "--allowed-tools 'web_fetch(domain:example.com)' allows it"],
    [{kind: 'write', path: '/tmp/z/a b.ts'}, "--allowed-tools 'edit_file(//tmp/z/a\\ b.ts)' allows it"],
    [{kind: 'read', path: '/tmp/z/a.ts'}, "--allowed-tools 'read_file(//tmp/z/a.ts)' allows it"],
    [{kind: 'run', command: 'cat ../outside/secret'}, "--allowed-tools 'bash(cat ../outside/secret)' allows it"],
    [{kind: 'run', command: 'echo a > /tmp/z/a.ts'}, "--allowed-tools 'edit_file(//tmp/z/a.ts)' allows it"],
    [
      {kind: 'run', command: 'cat /tmp/z/a.ts | sort > /tmp/z/b.ts'},
      "--allowed-tools 'bash(cat /tmp/z/a.ts | sort > /tmp/z/b.ts)' allows it",
    ],
    [{kind: 'write', path: '.git/config'}, 'Only --permission-mode bypassPermissions allows it'],
    [{kind: 'run', command: 'git push'}, 'A person has to allow it each time: start mini-cc without -p'],
  ] as const)('names the flag that would allow %j, where no person can be asked', async (access, flag) => {
    const rules = {ask: ['bash(git push:*)']};
    const {permit, denials} = permitFixture({interactive: false, rules});
    const tool = {run: 'bash', read: 'read_file', write: 'edit_file', fetch: 'web_fetch'}[access.kind];
    const call = {...request, tool, accesses: [access]};
    expect(await permit(call, never)).toMatchObject({verdict: 'deny', message: expect.stringContaining(flag)});
    expect(denials[0]?.reason).toContain(flag);
    const rule = /^--allowed-tools '(.*)' allows it$/.exec(flag)?.[1]?.replaceAll("'\\''", "'");
    if (rule === undefined) return;
    const allowed = permitFixture({interactive: false, rules: {...rules, allow: [rule]}});
    expect(await allowed.permit(call, never)).toMatchObject({verdict: 'allow'});
  });

  it('says how the call runs, and which files it may touch', async () => {
    const {permit} = permitFixture({mode: 'acceptEdits'});
    const ls = {...request, accesses: [{kind: 'run', command: 'ls'}] as const};
    expect(await permit(ls, never)).toMatchObject({
      verdict: 'allow',
      attempts: [{launch: 'read-only', checkpoint: false}],
      places: [],
      writes: [],
    });
    const edit = {...request, tool: 'edit_file', accesses: [{kind: 'write', path: 'src/../a.ts'}] as const};
    expect(await permit(edit, never)).toMatchObject({
      verdict: 'allow',
      attempts: [{launch: 'plain', checkpoint: true}],
      places: [`${root}/a.ts`],
      writes: [`${root}/a.ts`],
    });
  });

  it('tries an allowed command that seems to only read in the sandbox first, then outside with a checkpoint', async () => {
    const {permit} = permitFixture({mode: 'bypassPermissions'});
    const attempts = async (command: string, more: {unconfined?: true} = {}) => {
      const decision = await permit({...request, accesses: [{kind: 'run', command, ...more}]}, never);
      return decision.verdict === 'allow' ? decision.attempts : [];
    };
    const outside = {launch: 'plain', checkpoint: true};
    expect(await attempts('cat a.ts')).toEqual([{launch: 'plain', checkpoint: false}]);
    // The pattern matches a file whose name is an option of rg.
    writeFileSync(path.join(root, '--pre=sh'), '');
    onTestFinished(() => rmSync(path.join(root, '--pre=sh')));
    expect(await attempts('rg x *=sh')).toEqual([{launch: 'read-only', checkpoint: false}, outside]);
    expect(await attempts('rg x *=sh', {unconfined: true})).toEqual([outside]);
    expect(await attempts('touch a.ts')).toEqual([outside]);
    expect(await attempts('cat a.ts > b.ts')).toEqual([outside]);
  });

  it('does not run a program of the project without a checkpoint, in place of one that only reads', async () => {
    const at = {...workspace, env: {...workspace.env, PATH: `${root}/node_modules/.bin:/usr/bin:/bin`}};
    const {permit} = permitFixture({mode: 'bypassPermissions', in: at});
    mkdirSync(path.join(root, 'node_modules/.bin'), {recursive: true});
    writeFileSync(path.join(root, 'node_modules/.bin/cat'), '', {mode: 0o755});
    onTestFinished(() => rmSync(path.join(root, 'node_modules'), {recursive: true}));
    const decision = await permit({...request, accesses: [{kind: 'run', command: 'cat a.ts'}]}, never);
    expect(decision).toMatchObject({attempts: [{launch: 'read-only'}, {launch: 'plain', checkpoint: true}]});
  });

  it('returns the input that the person changed, and then allows it without another question', async () => {
    const {permit, events, questions} = permitFixture();
    const first = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'yes', input: {command: 'npm run lint'}});
    expect(await first).toEqual({
      verdict: 'changed',
      input: {command: 'npm run lint'},
      opinion: {by: 'person', says: 'allow'},
    });
    const lint = {...request, accesses: [{kind: 'run', command: 'npm run lint'}] as const};
    expect(await permit({...lint, changed: {by: 'person', says: 'allow'} as const}, never)).toMatchObject({
      verdict: 'allow',
    });
    expect(asked(events)).toHaveLength(1);
  });

  it('runs as the mode says at the time of the answer, not of the question', async () => {
    const {permit, events, questions, policy} = permitFixture();
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    policy.mode = 'plan';
    questions.answer(asked(events)[0]!.id, {choice: 'yes'});
    expect(await answer).toMatchObject({verdict: 'allow', attempts: [{launch: 'read-only', checkpoint: false}]});
  });

  it('refuses an input that an answer changed when a rule denies it', async () => {
    const {permit} = permitFixture({rules: {deny: ['bash(rm:*)']}});
    const changed = {
      ...request,
      accesses: [{kind: 'run', command: 'rm -rf x'}] as const,
      changed: {by: 'person', says: 'allow'} as const,
    };
    expect(await permit(changed, never)).toMatchObject({verdict: 'deny'});
  });

  it("is made by the mode and for the run of the agent's definition", async () => {
    const edit = {...request, tool: 'edit_file', accesses: [{kind: 'write', path: 'a.ts'}] as const};
    const accepting = permitFixture({interactive: false, agent: {permissionMode: 'acceptEdits'}});
    expect(await accepting.permit(edit, never)).toMatchObject({verdict: 'allow'});
    const reader = permitFixture({mode: 'bypassPermissions', agent: {readOnly: true}});
    expect(await reader.permit(edit, never)).toMatchObject({verdict: 'deny'});
    const {permit, events} = permitFixture({agent: {runId: 'run-1'}});
    void permit(edit, never);
    await until(() => asked(events).length === 1);
    expect(asked(events)[0]).toMatchObject({runId: 'run-1'});
  });

  describe('on a call that would fail', () => {
    const edit = {...request, tool: 'edit_file', accesses: [{kind: 'write', path: 'a.ts'}] as const};
    const findProblem = async (places: readonly string[]) => `${places.join()} has no such text`;

    it('is a refusal without a question, and no denial', async () => {
      const {permit, events, denials} = permitFixture();
      expect(await permit({...edit, findProblem}, never)).toMatchObject({
        verdict: 'deny',
        message: `${root}/a.ts has no such text`,
      });
      expect([events, denials]).toEqual([[], []]);
    });

    it.each([
      ['a file that the agent may not read', [{kind: 'write', path: '../outside/a.ts'}], findProblem],
      ['a call without a problem', edit.accesses, async () => undefined],
    ] as const)('is asked about for %s', async (_, accesses, find) => {
      const {permit, events} = permitFixture();
      void permit({...edit, accesses, findProblem: find}, never);
      await until(() => asked(events).length === 1);
    });

    it('tells nothing of the file where no person can be asked', async () => {
      const {permit} = permitFixture({interactive: false});
      expect(await permit({...edit, findProblem}, never)).toMatchObject({
        message: expect.stringContaining('nobody can be asked'),
      });
    });
  });

  it('is a refusal by the person, with a note that is more than blanks', async () => {
    const {permit, events, questions} = permitFixture();
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'no', note: '  '});
    expect(await answer).toMatchObject({
      ...{verdict: 'deny', byPerson: true},
      message: expect.stringContaining('Do not try the same by other means'),
    });
  });

  it('names only files that are written among the writes, and saves them before it, but not in a worktree', async () => {
    const accesses = [
      {kind: 'read', path: 'b.ts'},
      {kind: 'write', path: 'a.ts'},
    ] as const;
    const decide = async (confinement: 'none' | 'worktree') => {
      const {permit} = permitFixture({mode: 'acceptEdits', in: {...workspace, confinement}});
      return permit({...request, tool: 'edit_file', accesses}, never);
    };
    expect(await decide('none')).toMatchObject({
      ...{places: [`${root}/b.ts`, `${root}/a.ts`], writes: [`${root}/a.ts`]},
      attempts: [{launch: 'plain', checkpoint: true}],
    });
    expect(await decide('worktree')).toMatchObject({attempts: [{launch: 'plain', checkpoint: false}]});
  });

  it('lets a search read what no rule refuses', async () => {
    const {permit} = permitFixture({rules: {deny: ['read_file(*.pem)']}});
    const decision = await permit({...request, tool: 'grep', accesses: [{kind: 'read', path: '.'}]}, never);
    const mayRead = decision.verdict === 'allow' ? decision.mayRead : undefined;
    expect([`${root}/a.ts`, `${root}/a.pem`].map((file) => mayRead?.(file))).toEqual([true, false]);
  });
});
