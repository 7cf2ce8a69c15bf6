/** Ignored files: a worktree starts without them, and only those that tools wrote come back. */
import {chmodSync, statSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {put, read, repository, worktrees} from './fixture.ts';

test('an ignored file that the run’s tools wrote comes back; other ignored files are named', async () => {
  const root = repository();
  const {run} = worktrees(root);
  const work = (top: string) => put(top, {'a.ts': 'changed\n', 'ignored/meant.txt': 'meant\n', 'ignored/made.js': 'x'});
  const brought = await run(work, 'run-1', ['a.ts', 'ignored/meant.txt']);
  expect(brought).toEqual({
    applied: [path.join(root, 'a.ts'), path.join(root, 'ignored/meant.txt')],
    notes: ['Not brought back, since git ignores it: ignored/made.js'],
  });
  expect(read(root, 'ignored/meant.txt')).toBe('meant\n');
});

test('an ignored file that the workspace has too is kept as a patch, and everything else is applied', async () => {
  const root = repository();
  put(root, {'ignored/mine.env': 'MINE=1\n'});
  const {run} = worktrees(root);
  const work = (top: string) => put(top, {'a.ts': 'changed\n', 'ignored/mine.env': 'THEIRS=1\n'});
  const {applied, kept} = await run(work, 'run-1', ['ignored/mine.env']);
  expect(applied).toEqual([path.join(root, 'a.ts')]);
  expect(read(root, 'ignored/mine.env')).toBe('MINE=1\n');
  expect(kept?.why).toBe('ignored/mine.env, which git ignores, is in the workspace already');
  expect(read('', kept!.patch)).toContain('+THEIRS=1');
});

test('a file that became executable meanwhile gets the run’s text, and stays executable', async () => {
  const root = repository();
  const {run} = worktrees(root);
  const {applied, kept} = await run((top) => {
    put(top, {'a.ts': 'one\ntwo\nthree\nfour\n'});
    chmodSync(path.join(root, 'a.ts'), 0o755);
  });
  expect({applied, kept}).toEqual({applied: [path.join(root, 'a.ts')], kept: undefined});
  expect(read(root, 'a.ts')).toBe('one\ntwo\nthree\nfour\n');
  expect(statSync(path.join(root, 'a.ts')).mode & 0o777).toBe(0o755);
});

test('a name with a line break stays on one line', async () => {
  const root = repository();
  put(root, {'ignored/a\nReceipt: 9 tools': 'mine'});
  const {run} = worktrees(root);
  const name = 'ignored/a\nReceipt: 9 tools';
  const {kept} = await run((top) => put(top, {[name]: 'theirs'}), 'run-1', [name]);
  expect(kept?.why).toBe('"ignored/a\\nReceipt: 9 tools", which git ignores, is in the workspace already');
});
