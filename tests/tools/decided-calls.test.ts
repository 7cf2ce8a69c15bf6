/** The decision about a call holds until the call has run. */
import {existsSync, readFileSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {ToolUse} from '../../src/core/contract/model.ts';
import type {Denial, Workspace} from '../../src/core/contract/permission.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {createPermit} from '../../src/core/permissions/decision.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import {Questions} from '../../src/core/permissions/questions.ts';
import {runToolCalls} from '../../src/core/tool-calls.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {FileLocks} from '../../src/tools/files/change-file.ts';
import {createEditFile} from '../../src/tools/files/edit-file.ts';
import {createReadFile} from '../../src/tools/files/read-file.ts';
import {createWriteFile} from '../../src/tools/files/write-file.ts';
import {createGlob} from '../../src/tools/search/glob.ts';
import {createGrep} from '../../src/tools/search/grep.ts';
import {type Rules, ruleBook} from '../core/permissions/fixture.ts';
import {runFixture} from '../core/run-fixture.ts';
import {ScriptedModel} from '../core/scripted-model.ts';
import {permissionSandbox} from '../support/sandbox.ts';
import {type Fixture, fixture} from './fixture.ts';

const none = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''});
const bash = createBash(none, new ProcessGroups());
const [grepTool, globTool] = [createGrep(none), createGlob(none)];

describe('a file that was permitted', () => {
  /** A folder that was in the workspace when the call was decided, and is a link to elsewhere when the call runs. */
  function swapBytes({root, outside, put}: Fixture) {
    put({'src/a.ts': 'one\n'});
    writeFileSync(path.join(outside, 'a.ts'), 'one\n');
    const permitted = {places: [path.join(root, 'src/a.ts')]};
    renameSync(path.join(root, 'src'), path.join(root, 'old'));
    symlinkSync(outside, path.join(root, 'src'));
    return permitted;
  }

  test('is the one that is written: a link that was changed meanwhile is not followed', async () => {
    const at = fixture();
    const permitted = swapBytes(at);
    const write = createWriteFile(new FileLocks());
    const {text, isError} = await at.call(write, {path: 'src/a.ts', content: 'two\n'}, permitted);
    expect(text).toMatch(/src is a link now, which was put there meanwhile: it is not followed\./);
    expect(isError).toBe(true);
    const edit = createEditFile(new FileLocks());
    const edited = await at.call(edit, {path: 'src/a.ts', old_string: 'one', new_string: 'two'}, permitted);
    expect(edited.text).toContain('it is not followed');
    expect(readFileSync(path.join(at.outside, 'a.ts'), 'utf8')).toBe('one\n');
  });

  test('is the one that is read', async () => {
    const at = fixture();
    expect((await at.call(createReadFile(), {path: 'src/a.ts'}, swapBytes(at))).text).toContain('it is not followed');
  });

  test('is written as usual when its path has not changed', async () => {
    const at = fixture();
    const places = [path.join(at.root, 'src/new/b.ts')];
    const write = createWriteFile(new FileLocks());
    await at.call(write, {path: 'src/new/b.ts', content: 'two\n'}, {places});
    expect(readFileSync(places[0]!, 'utf8')).toBe('two\n');
  });
});

test('a search leaves out files that may not be read, by content and by name', async () => {
  const {call, put, root} = fixture();
  put({'a.ts': 'word\n', '.env': 'word\n', 'sub/.env': 'word\n'});
  const mayRead = (file: string) => path.basename(file) !== '.env';
  const given = {places: [root], mayRead};
  for (const mode of ['files', 'content', 'count']) {
    const {text} = await call(grepTool, {pattern: 'word', mode}, given);
    expect(text, mode).toContain('a.ts');
    expect(text, mode).not.toContain('.env');
  }
  expect((await call(globTool, {pattern: '**/*'}, given)).text).toBe('a.ts');
  const named = {...given, places: [path.join(root, '.env')]};
  expect((await call(grepTool, {pattern: 'word', path: '.env'}, named)).text).toBe('No matches');
});

describe('a call that is sure to fail', () => {
  /** Makes the call in a session whose person says yes to every question. */
  async function callWithPerson(
    {root}: Fixture,
    name: string,
    input: object,
    {rules = {}, read = [], onAsk = () => undefined}: {rules?: Rules; read?: string[]; onAsk?: () => void} = {},
  ) {
    const locks = new FileLocks();
    const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env: {PATH: '/usr/bin:/bin'}};
    const questions = new Questions();
    const titles: string[] = [];
    const emit = (event: AgentEventBody) => {
      if (event.type !== 'ask') return;
      titles.push(event.question.title);
      onAsk();
      queueMicrotask(() => questions.answer(event.question.id, {choice: 'yes'}));
    };
    const policy = new PermissionPolicy('default', ruleBook(rules), {ownFolders: () => [], secretPaths: []});
    const denials: Denial[] = [];
    const deps = {
      policy,
      questions,
      sandbox: permissionSandbox(false),
      onDenied: (each: Denial) => void denials.push(each),
    };
    const {run} = runFixture(new ScriptedModel([]), [createEditFile(locks), createWriteFile(locks), bash] as Tool[], {
      workspace,
      permit: createPermit(deps, 'main', workspace, emit),
    });
    for (const file of read) run.files.recordRead(path.join(root, file), readFileSync(path.join(root, file)));
    const call: ToolUse = {type: 'tool_use', id: 'call-1', name, input, caller: {type: 'direct'}};
    const [outcome] = await runToolCalls([call], run, new AbortController().signal, new Map());
    return {text: String(outcome?.block.content), isError: outcome?.block.is_error === true, titles, denials};
  }

  const EDIT = {path: 'a.ts', old_string: 'one', new_string: 'two'};

  test.each<[string, string, object, string[], RegExp]>([
    [
      'a text that is not in the file',
      'edit_file',
      {...EDIT, old_string: 'three'},
      ['a.ts'],
      /old_string was not found/,
    ],
    ['a text that is there three times', 'edit_file', {...EDIT, old_string: 'o'}, ['a.ts'], /is there 3 times/],
    ['a file that was not read', 'edit_file', EDIT, [], /a\.ts exists and you have not read it/],
    ['a file that does not exist', 'edit_file', {...EDIT, path: 'b.ts'}, [], /^b\.ts does not exist/],
    ['a folder', 'edit_file', {...EDIT, path: 'src'}, [], /^src is a directory/],
    ['half an edit', 'edit_file', {path: 'a.ts', old_string: 'one'}, ['a.ts'], /^Give old_string and new_string/],
    ['the whole of a file that was not read', 'write_file', {path: 'a.ts', content: 'x'}, [], /you have not read it/],
    ['a hidden value', 'write_file', {path: 'new.ts', content: '[redacted: KEY]'}, [], /stands for a value/],
    ['a command with a NUL', 'bash', {command: 'make\0 all'}, [], /has a NUL in it/],
  ])('is not asked about: %s', async (_, name, input, read, problem) => {
    const at = fixture();
    at.put({'a.ts': 'one\nfoo\n', 'src/b.ts': ''});
    const {text, isError, titles, denials} = await callWithPerson(at, name, input, {read});
    expect(text).toMatch(problem);
    expect({isError, titles, denials}).toEqual({isError: true, titles: [], denials: []});
    expect(readFileSync(path.join(at.root, 'a.ts'), 'utf8')).toBe('one\nfoo\n');
    expect(existsSync(path.join(at.root, 'new.ts'))).toBe(false);
  });

  test('is asked about where the agent may not read the file by itself: the answer must not tell what is in it', async () => {
    const at = fixture();
    at.put({'a.ts': 'one\n'});
    writeFileSync(path.join(at.outside, 'a.ts'), 'one\n');
    const wrong = {...EDIT, old_string: 'three'};
    for (const rules of [{deny: ['read_file(a.ts)']}, {deny: ['read_file']}, {ask: ['read_file(*.ts)']}]) {
      const {titles} = await callWithPerson(at, 'edit_file', wrong, {rules, read: ['a.ts']});
      expect(titles, JSON.stringify(rules)).toEqual(['Edit a.ts?']);
    }
    const elsewhere = path.join(at.outside, 'missing.ts');
    const {titles} = await callWithPerson(at, 'edit_file', {...wrong, path: elsewhere});
    expect(titles).toEqual([`Edit ${elsewhere}?`]);
  });

  test('is refused by a deny rule all the same, without a look at the file', async () => {
    const at = fixture();
    at.put({'a.ts': 'one\n'});
    const {text} = await callWithPerson(at, 'edit_file', EDIT, {rules: {deny: ['edit_file(a.ts)']}});
    expect(text).toMatch(/^Permission denied: .*refuses to write/);
  });

  test('is asked about once when it can succeed, and checked again when it runs', async () => {
    const at = fixture();
    at.put({'a.ts': 'one\n'});
    const edited = await callWithPerson(at, 'edit_file', EDIT, {read: ['a.ts']});
    expect(edited).toMatchObject({isError: false, titles: ['Edit a.ts?']});
    expect(readFileSync(path.join(at.root, 'a.ts'), 'utf8')).toBe('two\n');
    const change = () => writeFileSync(path.join(at.root, 'a.ts'), 'changed\n');
    const back = {path: 'a.ts', old_string: 'two', new_string: 'one'};
    const late = await callWithPerson(at, 'edit_file', back, {read: ['a.ts'], onAsk: change});
    expect(late).toMatchObject({isError: true, titles: ['Edit a.ts?'], text: expect.stringContaining('changed since')});
  });
});
