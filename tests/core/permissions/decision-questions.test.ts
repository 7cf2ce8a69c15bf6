/** What the question about a call offers, and which rules its answer keeps. */
import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {SavedRules} from '../../../src/storage/saved-rules.ts';
import {until} from '../../support/wait.ts';
import {permissionFixture} from './fixture.ts';

const {permitFixture} = permissionFixture();

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

  it('saves a rule for later sessions, and shows the rule in the question', async () => {
    const kept: string[] = [];
    const store = {
      source: 'the store',
      canSave: () => true,
      remove: async () => undefined,
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
    const store = {
      source: 'the store',
      canSave: () => true,
      remove: async () => undefined,
      add: () => Promise.reject(new Error('the disk is full')),
    };
    const {permit, events, questions, policy} = permitFixture({store});
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'always'});
    expect(await answer).toMatchObject({verdict: 'allow'});
    expect(events.at(-1)).toMatchObject({type: 'notice', text: expect.stringContaining('the disk is full')});
    expect(policy.rules.list()).toEqual([]);
  });

  it('offers no rule, and no yes for the session, for a call that is asked about each time', async () => {
    const store = {source: 'the store', canSave: () => true, remove: async () => undefined, add: async () => undefined};
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

  it('keeps nothing about the input that was shown when the answer changes it', async () => {
    const kept: string[] = [];
    const store = {
      source: 'the store',
      canSave: () => true,
      remove: async () => undefined,
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

  it('saves the rule that comes with the answer, not the one that was offered', async () => {
    const kept: string[] = [];
    const store = {
      source: 'the store',
      canSave: () => true,
      remove: async () => undefined,
      add: async (rules: readonly string[]) => void kept.push(...rules),
    };
    const {permit, events, questions} = permitFixture({store});
    const answer = permit(request, never);
    await until(() => asked(events).length === 1);
    questions.answer(asked(events)[0]!.id, {choice: 'always', rules: ['bash(npm:*)']});
    expect(await answer).toMatchObject({verdict: 'allow'});
    expect(kept).toEqual(['bash(npm:*)']);
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

  it.each([
    ['new file.txt', ''],
    ['.git/a hook', 'writes a protected file:'],
    ['/else where', 'writes outside the workspace:'],
  ])('says of a file with a space in its name, %s, only what the title does not', async (file, because) => {
    const {permit, events} = permitFixture({});
    const input = {path: file, content: 'x'};
    const accesses = [{kind: 'write', path: file}] as const;
    void permit({callId: 'c', tool: 'write_file', title: file, input, accesses}, never);
    await until(() => asked(events).length === 1);
    expect((asked(events)[0]!.because ?? '').replace(/ \/.*/, '')).toBe(because);
  });

  it('names the rule that it offers, and where a note may be written', async () => {
    const store = {source: 'the store', canSave: () => true, remove: async () => undefined, add: async () => undefined};
    const {permit, events} = permitFixture({store});
    void permit(request, never);
    await until(() => asked(events).length === 1);
    expect(asked(events)[0]).toMatchObject({call: {rules: ['bash(npm test)']}});
    expect(
      asked(events)[0]!
        .options.filter(({takesNote}) => takesNote)
        .map(({choice}) => choice),
    ).toEqual(['no']);
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
    [[{kind: 'write', path: 'a.ts', preview: async () => '+a'}], 'Edit a.ts?', {detail: '+a', detailType: 'diff'}],
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
      remove: async () => undefined,
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
    expect(await offer('make "a \n  b"')).toBe(label('bash(make "a b")'));
    expect(kept).toEqual([]);
  });
});
