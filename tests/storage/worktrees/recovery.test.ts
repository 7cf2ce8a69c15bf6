/** Worktrees after a crash of mini-cc, which a lock without a live process simulates. */
import {existsSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import path from 'node:path';
import {expect, test} from 'vitest';
import {listRunsWithWorktree, recoverWorktree} from '../../../src/storage/worktrees/git-worktrees.ts';
import {git, put, read, repository, worktrees} from './fixture.ts';

/** The state after a kill: the lock exists, and its process does not. */
async function killed(root: string, work: (top: string) => void) {
  const {open, session} = worktrees(root);
  const tree = await open();
  work(tree.top);
  const folder = path.join(session, 'worktrees', 'run-1');
  const lock = {version: 1, pid: process.pid, started: 'another time', host: hostname()};
  writeFileSync(path.join(folder, 'lock'), JSON.stringify(lock));
  return {session, folder, top: tree.top};
}

test('changes and commits are kept, the line says where, and the worktree is removed', async () => {
  const root = repository();
  const {session, folder} = await killed(root, (top) => {
    put(top, {'a.ts': 'A\n'});
    git(top, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '--all', '--message=work');
    put(top, {'new.ts': 'new\n'});
  });
  expect(listRunsWithWorktree(session)).toEqual(['run-1']);
  const patch = path.join(session, 'subagents/run-1/changes.patch');
  const told = await recoverWorktree(session, 'run-1');
  expect(told).toContain(
    `[code] run-1: mini-cc ended before the run did. Nothing was applied. The changes are kept as a patch; to apply what fits: git -C ${root} apply --reject ${patch}\nIts commit is kept too, of trunk: `,
  );
  expect([existsSync(folder), listRunsWithWorktree(session)]).toEqual([false, []]);
  git(root, 'apply', patch);
  expect([read(root, 'a.ts'), read(root, 'new.ts')]).toEqual(['A\n', 'new\n']);
  expect(await recoverWorktree(session, 'run-1')).toBeUndefined();
});

test('single ignored files are kept too, and ignored folders are named', async () => {
  const root = repository({'.gitignore': 'ignored/\n*.env\n'});
  const {session} = await killed(root, (top) => put(top, {'local.env': 'MEANT=1\n', 'ignored/built.js': 'x'}));
  const told = await recoverWorktree(session, 'run-1');
  expect(told).toContain('Nothing was applied. Not kept, since git ignores it: ignored/. The changes are kept');
  git(root, 'apply', path.join(session, 'subagents/run-1/changes.patch'));
  expect(read(root, 'local.env')).toBe('MEANT=1\n');
});

test('an unchanged or incomplete worktree is removed without a line', async () => {
  const root = repository();
  const {session, folder} = await killed(root, () => undefined);
  expect(await recoverWorktree(session, 'run-1')).toBeUndefined();
  mkdirSync(path.join(folder, 'tree/half'), {recursive: true});
  expect(await recoverWorktree(session, 'run-1')).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
});

test('the worktree of a live mini-cc is left alone', async () => {
  const root = repository();
  const {open, session} = worktrees(root);
  const tree = await open();
  put(tree.top, {'a.ts': 'A\n'});
  expect(await recoverWorktree(session, 'run-1')).toBeUndefined();
  expect((await tree.bringBack([])).applied).toEqual([path.join(root, 'a.ts')]);
});

test('an unreadable worktree stays, the line says so, and no run starts in its place', async () => {
  const root = repository();
  const {session, folder} = await killed(root, (top) => put(top, {'a.ts': 'A\n'}));
  rmSync(path.join(folder, 'state.git'), {recursive: true});
  const told = await recoverWorktree(session, 'run-1');
  expect(told).toMatch(/^\[code\] run-1: the changes in its worktree could not be kept \(.*\)\. They are still in /);
  expect(read(folder, `tree/${path.basename(root)}/a.ts`)).toBe('A\n');
  await expect(worktrees(root, {sessionFolder: () => session}).open()).rejects.toThrow('could not be kept');
});

test('a run that continues after a crash starts in a new tree, and its earlier changes are kept', async () => {
  const root = repository();
  const {session} = await killed(root, (top) => put(top, {'a.ts': 'A\n'}));
  const tree = await worktrees(root, {sessionFolder: () => session}).open();
  expect(tree.notes[0]).toContain('mini-cc ended before the run did. Nothing was applied.');
  expect(read(tree.top, 'a.ts')).toBe('one\ntwo\nthree\n');
});
