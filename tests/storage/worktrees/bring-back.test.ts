/** Ignored files: a worktree starts without them, and only those that tools wrote come back. */
import {execFileSync} from 'node:child_process';
import {chmodSync, lstatSync, readdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {git, put, read, repository, worktrees} from './fixture.ts';

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

test('files that git refuses are named and kept, and all others come back', async () => {
  const root = repository();
  const {run} = worktrees(root);
  const refused = ['.GIT/x', 'git~1/x', 'src/.git /k', 'sub/.git/y', 'sub/.Git'];
  const names = [...refused, 'ok.ts', 'a\nb', 'c\\d', 'src/new.ts', 'ignored/pipe.txt'];
  const brought = await run((top) => {
    put(top, {'a.ts': 'changed\n', ...Object.fromEntries(names.map((name) => [name, `${name}\n`]))});
    execFileSync('mkfifo', ['fifo', 'src/fifo', 'ignored/fifo'], {cwd: top});
    symlinkSync('a.ts', path.join(top, '.gitmodules'));
  });
  const applied = ['a\nb', 'a.ts', 'c\\d', 'ok.ts', 'src/new.ts'].map((name) => path.join(root, name));
  expect(brought.applied).toEqual(applied);
  expect(read(root, 'a\nb')).toBe('a\nb\n');
  const notes = brought.notes.join('\n');
  const kept = /since git refuses it: .* and 3 more, now in (.*)/.exec(notes)![1]!;
  for (const name of refused) expect(read(kept, name)).toBe(`${name}\n`);
  expect(lstatSync(path.join(kept, '.gitmodules')).isSymbolicLink()).toBe(true);
  expect(notes).toContain('since git cannot keep it: fifo, src/fifo');
});

test('a name that is not UTF-8 keeps no others, and comes back by hand', async () => {
  const root = repository();
  const {run} = worktrees(root);
  const name = Buffer.from('odd-\xff', 'latin1');
  const {applied, kept} = await run((top) => {
    put(top, {'a.ts': 'changed\n'});
    writeFileSync(Buffer.concat([Buffer.from(`${top}/`), name]), 'odd\n');
  });
  expect(applied).toEqual([path.join(root, 'a.ts')]);
  expect(kept?.why).toContain('is not in UTF-8');
  git(root, 'apply', kept!.patch);
  expect(readdirSync(root, {encoding: 'buffer'}).some((each) => each.equals(name))).toBe(true);
});

test('files of the workspace that git refuses do not keep a run from starting', async () => {
  const root = repository();
  put(root, {'.GIT/x': 'mine\n'});
  const {run} = worktrees(root);
  const {applied, notes} = await run((top) => put(top, {'a.ts': 'changed\n'}));
  expect({applied, notes}).toEqual({applied: [path.join(root, 'a.ts')], notes: []});
  expect(read(root, '.GIT/x')).toBe('mine\n');
});
