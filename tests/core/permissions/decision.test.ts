import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {AnswerCall, BeforeCall} from '../../../src/core/contract/permission.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {SavedRules} from '../../../src/storage/saved-rules.ts';
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

  it('offers to save a rule, unless the rule would contain a key', async () => {
    const key = 'sk-canary-0123456789';
    const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-rules-'));
    const store = new SavedRules(folder, folder, new Redactor([{name: 'SOME_KEY', value: key}]));
    const {permit, events} = permitFixture({store});
    void permit(request, never);
    const login = `npm login --token ${key}`;
    void permit({...request, accesses: [{kind: 'run', command: login}]}, never);
    await until(() => asked(events).length === 2);
    const offered = asked(events).map(({options}) => options.some(({choice}) => choice === 'always'));
    expect(offered).toEqual([true, false]);
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
    [{kind: 'fetch', host: 'example.com', url: ''}, "--allowed-tools 'web_fetch(domain:example.com)' allows it"],
    [{kind: 'write', path: '.git/config'}, 'Only --permission-mode bypassPermissions allows it'],
    [{kind: 'run', command: 'git push'}, 'A person has to allow it each time: start mini-cc without -p'],
  ] as const)('names the flag that would allow %j, where no person can be asked', async (access, flag) => {
    const {permit, denials} = permitFixture({interactive: false, rules: {ask: ['bash(git push:*)']}});
    const tool = {run: 'bash', write: 'edit_file', fetch: 'web_fetch'}[access.kind];
    const decision = await permit({...request, tool, accesses: [access]}, never);
    expect(decision).toMatchObject({verdict: 'deny', message: expect.stringContaining(flag)});
    expect(denials[0]?.reason).toContain(flag);
  });

  it('saves a rule for later sessions, and shows the rule in the question', async () => {
    const kept: string[] = [];
    const store = {
      source: 'the store',
      canSave: () => true,
      add: async (rules: readonly string[]) => void kept.push(...rules),
    };
    const {permit, events, questions, policy} = permitFixture({store});
    const first = permit(request, never);
    await until(() => asked(events).length === 1);
    const [question] = asked(events);
    expect(question!.options.map(({digit, label}) => `${digit} ${label}`)).toEqual([
      '1 yes',
      '2 yes, this command for this session',
      '3 yes, always in this project: bash(npm test)',
      '4 no, and say why',
    ]);
    questions.answer(question!.id, {choice: 'always'});
    expect(await first).toMatchObject({verdict: 'allow'});
    expect(kept).toEqual(['bash(npm test)']);
    expect(policy.rules.list()).toEqual([
      {kind: 'allow', text: 'bash(npm test)', tool: 'bash', pattern: 'npm test', source: 'the store'},
    ]);
    expect(await permit(request, never)).toMatchObject({verdict: 'allow'});
  });

  it('still allows this call when its rule cannot be written, and says so', async () => {
    const store = {source: 'the store', canSave: () => true, add: () => Promise.reject(new Error('the disk is full'))};
    const {permit, events, questions, policy} = permitFixture({store});
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'always'});
    expect(await answer).toMatchObject({verdict: 'allow'});
    expect(events.at(-1)).toMatchObject({type: 'notice', text: expect.stringContaining('the disk is full')});
    expect(policy.rules.list()).toEqual([]);
  });

  it('offers no rule, and no yes for the session, for a call that is asked about each time', async () => {
    const store = {source: 'the store', canSave: () => true, add: async () => undefined};
    const {permit, events} = permitFixture({store, rules: {ask: ['bash(npm:*)']}});
    void permit(request, never);
    await until(() => asked(events).length === 1);
    expect(asked(events)[0]!.options.map(({choice}) => choice)).toEqual(['yes', 'no']);
    void permit({...request, tool: 'write_file', accesses: [{kind: 'write', path: '.git/config'}]}, never);
    await until(() => asked(events).length === 2);
    expect(asked(events)[1]!.options.map(({choice}) => choice)).toEqual(['yes', 'session', 'no']);
  });

  it('says once, with the first question about a command, how to be asked less, where a sandbox works and is off', async () => {
    const make = {...request, accesses: [{kind: 'run', command: 'make'}] as const};
    const hints = async (options: Parameters<typeof permitFixture>[0]) => {
      const {permit, events} = permitFixture(options);
      const edit = {...request, tool: 'edit_file', accesses: [{kind: 'write', path: 'a'}] as const};
      for (const each of [edit, make, make]) void permit(each, never);
      await until(() => asked(events).length === 3);
      return asked(events).map(({hint}) => hint);
    };
    const hint = '/sandbox auto runs commands confined to the workspace without asking';
    expect(await hints({})).toEqual([undefined, hint, undefined]);
    expect(await hints({sandbox: false})).toEqual([undefined, undefined, undefined]);
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
    expect(await attempts('rg x *')).toEqual([{launch: 'read-only', checkpoint: false}, outside]);
    expect(await attempts('rg x *', {unconfined: true})).toEqual([outside]);
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

  it('goes back when the person changes an input that a hook changed before', async () => {
    const {permit, events, questions} = permitFixture();
    const answer = permit({...request, changed: {by: 'hook'}}, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'yes', input: {command: 'ls'}});
    expect(await answer).toMatchObject({verdict: 'changed', input: {command: 'ls'}});
  });

  it('keeps nothing about the input that was shown when the answer changes it', async () => {
    const kept: string[] = [];
    const store = {
      source: 'the store',
      canSave: () => true,
      add: async (rules: readonly string[]) => void kept.push(...rules),
    };
    const {permit, events, questions, policy} = permitFixture({store});
    for (const choice of ['session', 'always'] as const) {
      const answer = permit(request, never);
      await until(() => asked(events).length === 1);
      questions.answer(asked(events)[0]!.id, {choice, input: {command: 'npm run lint'}});
      expect(await answer).toMatchObject({verdict: 'changed'});
      expect(events.map(({type}) => type)).toEqual(['ask', 'ask_end']);
      events.length = 0;
    }
    expect(kept).toEqual([]);
    expect(policy.granted).toEqual([]);
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

  it('saves the rule that comes with the answer, not the one that was offered', async () => {
    const kept: string[] = [];
    const store = {
      source: 'the store',
      canSave: () => true,
      add: async (rules: readonly string[]) => void kept.push(...rules),
    };
    const {permit, events, questions} = permitFixture({store});
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'always', rule: 'bash(npm:*)'});
    expect(await answer).toMatchObject({verdict: 'allow'});
    expect(kept).toEqual(['bash(npm:*)']);
  });

  describe('with hooks that look at the call first', () => {
    const hooked = (answer: Awaited<ReturnType<BeforeCall>>, options: Parameters<typeof permitFixture>[0] = {}) =>
      permitFixture({interactive: false, ...options, beforeCall: [async () => answer]});

    it('is a denial by one of them, with its reason', async () => {
      const {permit, denials} = hooked({decision: 'deny', because: 'not on Fridays'}, {mode: 'bypassPermissions'});
      expect(await permit(request, never)).toMatchObject({
        verdict: 'deny',
        message: 'Permission denied: not on Fridays.',
      });
      expect(denials).toMatchObject([{reason: 'not on Fridays'}]);
    });

    it('needs no question when one allows the call, except for deny rules and protected files', async () => {
      const allow = {decision: 'allow'} as const;
      expect(await hooked(allow).permit(request, never)).toMatchObject({
        ...{verdict: 'allow', attempts: [{launch: 'plain', checkpoint: true}]},
      });
      const {permit} = hooked(allow, {rules: {deny: ['bash(npm:*)']}});
      expect(await permit(request, never)).toMatchObject({verdict: 'deny'});
      const hook = {
        ...request,
        tool: 'write_file',
        accesses: [{kind: 'write', path: '.git/hooks/pre-commit'}] as const,
      };
      expect(await hooked(allow).permit(hook, never)).toMatchObject({verdict: 'deny'});
    });

    it('needs a question when one asks, also when the mode would allow the call', async () => {
      const {permit} = hooked({decision: 'ask'}, {mode: 'bypassPermissions'});
      expect(await permit(request, never)).toMatchObject({
        verdict: 'deny',
        message: expect.stringContaining('nobody can be asked'),
      });
    });

    it('offers no yes for the session when one asks about a call that the mode would allow', async () => {
      const {permit, events} = hooked({decision: 'ask'}, {mode: 'bypassPermissions', interactive: true});
      void permit({...request, changed: {by: 'hook', says: 'ask'}}, never);
      await until(() => asked(events).length === 1);
      expect(asked(events)[0]!.options.map(({choice}) => choice)).toEqual(['yes', 'no']);
    });

    it('is asked about when one asks and changes the input too', async () => {
      const changing = {decision: 'ask', input: {command: 'ls'}} as const;
      const {permit, denials} = hooked(changing, {mode: 'bypassPermissions'});
      const first = await permit(request, never);
      expect(first).toMatchObject({verdict: 'changed', input: {command: 'ls'}});
      const changed = first.verdict === 'changed' ? first.opinion : undefined;
      const again = {...request, accesses: [{kind: 'run', command: 'ls'}] as const, ...(changed && {changed})};
      expect(await permit(again, never)).toMatchObject({verdict: 'deny'});
      expect(denials).toMatchObject([{reason: expect.stringContaining('is asked about by a hook')}]);
    });

    it('writes no protected file when one allows it and changes the input', async () => {
      const {permit} = hooked({});
      const write = {
        ...request,
        tool: 'write_file',
        accesses: [{kind: 'write', path: '.git/hooks/pre-commit'}] as const,
      };
      const byHook = {...write, changed: {by: 'hook', says: 'allow'} as const};
      expect(await permit(byHook, never)).toMatchObject({verdict: 'deny'});
      const byPerson = {...write, changed: {by: 'person', says: 'allow'} as const};
      expect(await permit(byPerson, never)).toMatchObject({verdict: 'allow'});
    });

    it('is judged as the mode says that was chosen while a hook looked at it', async () => {
      const {permit, policy} = permitFixture({
        mode: 'bypassPermissions',
        interactive: false,
        beforeCall: [
          async () => {
            policy.mode = 'plan';
            return {};
          },
        ],
      });
      expect(await permit(request, never)).toMatchObject({verdict: 'allow', attempts: [{launch: 'read-only'}]});
    });

    it('stays one question when the mode changes', async () => {
      const {permit, policy, questions, events} = hooked({decision: 'ask'}, {interactive: true});
      const answer = permit(request, never);
      await until(() => asked(events).length === 1);
      policy.mode = 'bypassPermissions';
      await questions.recheck();
      questions.answer(asked(events)[0]!.id, {choice: 'yes'});
      expect(await answer).toMatchObject({verdict: 'allow'});
      expect(asked(events)).toHaveLength(1);
    });

    it('returns the input that one changed', async () => {
      const {permit} = hooked({input: {command: 'ls'}});
      expect(await permit(request, never)).toEqual({verdict: 'changed', input: {command: 'ls'}, opinion: {by: 'hook'}});
    });
  });

  describe('with a hook that answers questions', () => {
    const answered = (answer: Awaited<ReturnType<AnswerCall>>, options: Parameters<typeof permitFixture>[0] = {}) =>
      permitFixture({interactive: false, ...options, answerCall: async () => answer});

    it('is what the hook says: allowed, refused, or allowed with another input', async () => {
      expect(await answered({decision: 'allow'}).permit(request, never)).toMatchObject({
        ...{verdict: 'allow', because: 'a hook allowed it', attempts: [{launch: 'plain'}]},
      });
      const {permit, denials} = answered({decision: 'deny', because: 'not today', stops: 'enough'});
      expect(await permit(request, never)).toMatchObject({verdict: 'deny', because: 'not today', stops: 'enough'});
      expect(denials).toMatchObject([{reason: 'not today'}]);
      expect(await answered({decision: 'allow', input: {command: 'ls'}}).permit(request, never)).toEqual({
        ...{verdict: 'changed', input: {command: 'ls'}},
        opinion: {by: 'hook', says: 'allow'},
      });
    });

    it('is asked of the person when the hook says nothing', async () => {
      const {permit, events, questions} = answered({}, {interactive: true});
      const answer = permit(request, never);
      await until(() => asked(events).length === 1);
      questions.answer(asked(events)[0]!.id, {choice: 'yes'});
      expect(await answer).toMatchObject({verdict: 'allow', because: 'the user allowed it'});
    });

    it('is not asked of the hook when only a person may allow it, nor again when a hook changed the input', async () => {
      const {permit} = answered({decision: 'allow'});
      const write = {...request, tool: 'write_file', accesses: [{kind: 'write', path: '.git/config'}] as const};
      expect(await permit(write, never)).toMatchObject({verdict: 'deny'});
      expect(await permit({...request, changed: {by: 'hook'}}, never)).toMatchObject({verdict: 'deny'});
    });
  });

  it('ends the run when a hook that looks at the call stops it', async () => {
    const stopping: BeforeCall = async () => ({decision: 'deny', stops: 'enough'});
    const {permit} = permitFixture({beforeCall: [stopping]});
    expect(await permit(request, never)).toMatchObject({
      verdict: 'deny',
      because: 'a hook refuses it',
      stops: 'enough',
    });
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

  it('says in the question why it is asked, unless the title says so already', async () => {
    const {permit, events} = permitFixture({rules: {ask: ['bash(git push:*)']}});
    void permit(request, never);
    void permit({...request, accesses: [{kind: 'run', command: 'git push'}]}, never);
    await until(() => asked(events).length === 2);
    const [plain, ruled] = asked(events);
    expect(plain).not.toHaveProperty('because');
    expect(ruled).toMatchObject({because: 'runs a command: the rule ask bash(git push:*) (a test)'});
  });

  it('names the rule that it offers, and where a note may be written', async () => {
    const store = {source: 'the store', canSave: () => true, add: async () => undefined};
    const {permit, events} = permitFixture({store});
    void permit(request, never);
    await until(() => asked(events).length === 1);
    expect(asked(events)[0]).toMatchObject({call: {rule: 'bash(npm test)'}});
    expect(
      asked(events)[0]!
        .options.filter(({takesNote}) => takesNote)
        .map(({choice}) => choice),
    ).toEqual(['no']);
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

  it('is made anew, without a second look by hooks, when the mode changes while a hook looks at the call', async () => {
    let looks = 0;
    const {permit, policy} = permitFixture({
      interactive: false,
      beforeCall: [
        async () => {
          looks += 1;
          policy.mode = 'bypassPermissions';
          return {};
        },
      ],
    });
    expect(await permit(request, never)).toMatchObject({verdict: 'allow'});
    expect(looks).toBe(1);
  });

  it.each([
    [[{kind: 'run', command: 'make'}], 'Run this command?', {detail: 'make', detailType: 'command'}],
    [
      [
        {kind: 'read', path: 'b.ts'},
        {kind: 'run', command: 'make'},
      ],
      'Run this command?',
      {detail: 'make', detailType: 'command'},
    ],
    [[{kind: 'write', path: 'a.ts', preview: '+a'}], 'Edit a.ts?', {detail: '+a', detailType: 'diff'}],
    [[{kind: 'write', path: 'a.ts'}], 'Edit a.ts?', {detail: 'a.ts', detailType: 'text'}],
    [
      [{kind: 'mcp', server: 'notes', detail: 'adds a note', confined: false}],
      'Edit a.ts?',
      {detail: 'adds a note', detailType: 'text'},
    ],
  ] as const)('asks about %j: %s', async (accesses, title, detail) => {
    const {permit, events} = permitFixture();
    void permit({...request, tool: 'edit_file', title: 'a.ts', accesses}, never);
    await until(() => asked(events).length === 1);
    expect(asked(events)[0]).toMatchObject({title, ...detail});
  });

  it('offers a long rule cut to 60 characters, in one line, and saves it only when that is the answer', async () => {
    const kept: string[] = [];
    const store = {
      ...{source: 'the store', canSave: () => true},
      add: async (rules: readonly string[]) => void kept.push(...rules),
    };
    const offer = async (command: string) => {
      const {permit, events, questions} = permitFixture({store});
      const answer = permit({...request, accesses: [{kind: 'run', command}]}, never);
      await until(() => asked(events).length === 1);
      questions.answer(asked(events)[0]!.id, {choice: 'session'});
      await answer;
      return asked(events)[0]!.options.find(({choice}) => choice === 'always')?.label;
    };
    const label = (rule: string) => `yes, always in this project: ${rule}`;
    const sixty = `bash(make ${'x'.repeat(49)})`;
    expect(await offer(`make ${'x'.repeat(49)}`)).toBe(label(sixty));
    expect(await offer(`make ${'x'.repeat(50)}`)).toBe(label(`bash(make ${'x'.repeat(49)}…`));
    expect(await offer('make \n  b')).toBe(label('bash(make b)'));
    expect(kept).toEqual([]);
  });
});
