/** The decision about a call holds until the call has run. */
import {chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {FileLocks} from '../../src/tools/files/change-file.ts';
import {createEditFile} from '../../src/tools/files/edit-file.ts';
import {readFileTool} from '../../src/tools/files/read-file.ts';
import {createWriteFile} from '../../src/tools/files/write-file.ts';
import {globTool} from '../../src/tools/search/glob.ts';
import {grepTool} from '../../src/tools/search/grep.ts';
import {type Fixture, fixture} from './fixture.ts';

const none = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''});
const bash = createBash(none, new ProcessGroups());
const READING = {attempt: {launch: 'plain', checkpoint: false, environment: 'reading'}} as const;

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
    const {text, isError} = await at.call(write, {path: 'src/b.ts', content: 'two\n'}, permitted);
    expect(text).toMatch(/^The path now leads to .*outside\/b\.ts, which was not permitted\./);
    expect(isError).toBe(true);
    expect(existsSync(path.join(at.outside, 'b.ts'))).toBe(false);
    const edit = createEditFile(new FileLocks());
    const edited = await at.call(edit, {path: 'src/a.ts', old_string: 'one', new_string: 'two'}, permitted);
    expect(edited.text).toContain('was not permitted');
    expect(readFileSync(path.join(at.outside, 'a.ts'), 'utf8')).toBe('one\n');
  });

  test('is the one that is read', async () => {
    const at = fixture();
    expect((await at.call(readFileTool, {path: 'src/a.ts'}, swapBytes(at))).text).toContain('was not permitted');
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
  expect((await call(grepTool, {pattern: 'word', path: '.env'}, given)).text).toBe('No matches');
});

describe('a command that is proven to only read', () => {
  const program = (file: string, marker: string) => {
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, `#!/bin/sh\ntouch ${marker}\n`);
    chmodSync(file, 0o755);
  };

  test('runs without a sandbox, where a read-only agent may run nothing else', async () => {
    const {call} = fixture({confinement: 'read-only'});
    expect((await call(bash, {command: 'echo it runs'}, READING)).text).toBe('it runs');
    expect((await call(bash, {command: 'echo it runs'})).text).toContain('runs only in a sandbox');
  });

  test("uses no program of the project, and no variable of the user's environment that could change it", async () => {
    const {call, root, workspace} = fixture();
    const marker = path.join(root, 'ran');
    for (const name of ['ls', 'rg', 'git']) program(path.join(root, 'bin', name), marker);
    writeFileSync(path.join(root, 'startup'), `touch ${marker}\n`);
    const env = {
      ...workspace.env,
      PATH: `bin:${root}/bin:${workspace.env.PATH}`,
      BASH_ENV: path.join(root, 'startup'),
      GIT_EXTERNAL_DIFF: path.join(root, 'bin/git'),
      'BASH_FUNC_ls%%': `() { touch ${marker}; }`,
      SECRET: 'x',
    };
    const given = {...READING, workspace: {...workspace, env}};
    const {text} = await call(bash, {command: 'ls; git --version; echo "[$SECRET]"; pwd'}, given);
    expect(text).toBe(`bin\nstartup\n${text.split('\n')[2]}\n[]\n${root}`);
    expect(existsSync(marker)).toBe(false);
    await call(bash, {command: 'ls'}, {workspace: {...workspace, env}});
    expect(existsSync(marker)).toBe(true);
  });

  test("lets git run no program that the repository's settings name, and write nothing", async () => {
    const {call, root} = fixture();
    const marker = path.join(root, 'ran');
    program(path.join(root, 'evil'), marker);
    const git = (...args: string[]) => execa('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
    await git('init', '-q');
    writeFileSync(path.join(root, 'a.ts'), 'one\n');
    await git('add', '.');
    await git('commit', '-q', '-m', 'first');
    writeFileSync(path.join(root, 'a.ts'), 'two\n');
    for (const key of ['core.fsmonitor', 'core.pager', 'pager.diff', 'gpg.program']) {
      await git('config', key, path.join(root, 'evil'));
    }
    await git('config', 'core.hooksPath', root);
    await git('config', 'log.showSignature', 'true');
    program(path.join(root, 'post-index-change'), marker);
    const index = readFileSync(path.join(root, '.git/index'));
    for (const command of ['git status', 'git diff', 'git log -p', 'git show', 'git branch', 'git ls-files -m']) {
      expect((await call(bash, {command}, READING)).isError, command).toBeUndefined();
    }
    expect(existsSync(marker)).toBe(false);
    expect(readFileSync(path.join(root, '.git/index')).equals(index)).toBe(true);
  });

  test('does not treat a folder that looks like a bare repository as one', async () => {
    const {call, root} = fixture();
    await execa('git', ['init', '-q', '--bare', path.join(root, 'fake')]);
    const {text} = await call(bash, {command: 'cd fake && git status'}, READING);
    expect(text).toMatch(/safe\.bareRepository/);
  });
});
