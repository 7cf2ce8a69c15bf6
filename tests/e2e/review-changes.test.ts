/** What `mini-cc review` takes as the change, in repositories of every shape; the offline model answers. */
import {chmod, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {runCli} from '../support/run-cli.ts';
import type {Workspace} from '../support/workspace.ts';
import {commitAll, testFolder} from './review-fixture.ts';

/** A line whose import is not used, which the offline model finds in any file that is part of the change. */
const unused = (name: string) => `import ${name}\n`;

/** Returns the places that are found, without a key; or the whole run when it did not end well. */
async function review({path: cwd}: Workspace, ...args: readonly string[]) {
  const run = await runCli(['review', '--json', ...args], {cwd});
  if (run.code !== 0) return `exit ${run.code}: ${run.stderr.split('\n').at(-2)}`;
  const {findings, files, complete} = JSON.parse(run.stdout);
  const places = findings.map(({file, line}: {file: string; line: number}) => `${file}:${line}`).sort();
  return {places, files, complete, said: run.stderr};
}

test('a merge: the range over it, each of its parents, and a merge that stopped at a conflict', async () => {
  const workspace = await testFolder();
  const {git, write} = workspace;
  await write('a.py', 'x = 1\n');
  await commitAll(workspace, 'Start');
  await git('checkout', '--quiet', '-b', 'topic');
  await write('topic.py', unused('sys'));
  await commitAll(workspace, 'Topic');
  await git('checkout', '--quiet', 'main');
  await write('main.py', unused('json'));
  await commitAll(workspace, 'Main');
  await git('checkout', '--quiet', 'topic');
  await git('merge', '--quiet', '--message', 'Merge', 'main');
  // What came with the merge is on main, and no part of the change against main.
  expect(await review(workspace)).toMatchObject({places: ['topic.py:1']});
  expect(await review(workspace, 'main..HEAD')).toMatchObject({places: ['topic.py:1']});
  expect(await review(workspace, 'HEAD^1..HEAD')).toMatchObject({places: ['main.py:1']});
  expect(await review(workspace, 'HEAD^2..HEAD')).toMatchObject({places: ['topic.py:1']});
  expect(await review(workspace, 'HEAD^2...HEAD^1')).toMatchObject({places: ['topic.py:1']});
  await git('checkout', '--quiet', 'main');
  await write('topic.py', unused('re'));
  await commitAll(workspace, 'Conflict');
  await expect(git('merge', 'topic')).rejects.toThrow();
  expect(await git('status', '--porcelain')).toContain('AA topic.py');
  const stopped = await review(workspace);
  expect(stopped).toMatchObject({files: 1, complete: true});
  // The index with its conflict is as it was.
  expect(await git('status', '--porcelain')).toContain('AA topic.py');
});

test('no commit yet, a detached HEAD, a repository without a main branch, a folder in it, and no repository', async () => {
  const workspace = await testFolder();
  const {git, write} = workspace;
  await write('sub/a.py', unused('os'));
  expect(await review(workspace)).toMatch(/exit 2: .*is in no git repository: name files or folders/);
  expect(await review(workspace, 'HEAD')).toMatch(/exit 2: .*no such path: "HEAD"/);
  expect(await review(workspace, 'sub')).toMatchObject({places: ['sub/a.py:1']});
  await git('init', '--quiet', '--initial-branch=work');
  const unborn = await review(workspace);
  expect(unborn).toMatchObject({
    places: ['sub/a.py:1'],
    said: expect.stringContaining('no commit yet: all files are new'),
  });
  expect(await review(workspace, 'HEAD')).toMatch(/exit 2: .*"HEAD" is no path, ref or range/);
  expect(await review(workspace, '--base', 'main')).toMatch(/exit 2: .*--base: there is no ref "main"/);
  await commitAll(workspace, 'Start');
  await write('b.py', unused('re'));
  const inside = {...workspace, path: path.join(workspace.path, 'sub')};
  // Paths are those of the repository, wherever the command is given.
  expect(await review(inside)).toMatchObject({
    places: ['b.py:1'],
    said: expect.stringContaining('no main branch here (on work): compared with HEAD'),
  });
  expect(await review(inside, '..')).toMatchObject({places: ['b.py:1']});
  expect(await review(inside, '.')).toMatchObject({files: 0});
  await git('checkout', '--quiet', '--detach');
  expect(await review(workspace)).toMatchObject({
    places: ['b.py:1'],
    said: expect.stringContaining('no main branch here: compared with HEAD'),
  });
});

test('a rename with a change, a deletion, a binary, a mode, an empty file and odd names', async () => {
  const workspace = await testFolder();
  const {git, write} = workspace;
  const body = Array.from({length: 20}, (_, index) => `x${index} = ${index}\n`).join('');
  for (const name of ['old.py', 'gone.py', 'tool.py']) await write(name, body);
  await writeFile(path.join(workspace.path, 'logo.png'), Buffer.from([0x89, 0x50, 0, 1, 2]));
  await commitAll(workspace, 'Start');
  await rename(path.join(workspace.path, 'old.py'), path.join(workspace.path, 'new name é.py'));
  await write('new name é.py', unused('os') + body);
  await rm(path.join(workspace.path, 'gone.py'));
  await writeFile(path.join(workspace.path, 'logo.png'), Buffer.from([0x89, 0x50, 0, 9, 9]));
  await chmod(path.join(workspace.path, 'tool.py'), 0o755);
  await write('empty.py', '');
  await write('"quoted"\t#%.py', unused('re'));
  await git('add', '--all');
  const found = await review(workspace);
  expect(found).toMatchObject({places: ['"quoted"\t#%.py:1', 'new name é.py:1'], complete: true});
  await git('commit', '--quiet', '--message', 'All of it');
  expect(await review(workspace, 'HEAD~1..HEAD')).toMatchObject({
    places: ['"quoted"\t#%.py:1', 'new name é.py:1'],
    files: (found as {files: number}).files,
  });
  // The same change as a diff: of git, of git without prefixes, and of one that renames only.
  for (const flags of [[], ['--no-prefix'], ['--find-renames', '--binary']]) {
    const diff = await git('diff', ...flags, 'HEAD~1', 'HEAD');
    const {code, stdout} = await runCli(['review', '-', '--json'], {cwd: workspace.path, input: diff});
    const places = JSON.parse(stdout).findings.map(({file}: {file: string}) => file);
    expect([code, places.sort()]).toEqual([0, ['"quoted"\t#%.py', 'new name é.py']]);
  }
});
