/** The files that a run finds in its worktree, and how its changes come back. */
import {chmodSync, existsSync, lstatSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {formatFileName} from '../../../src/core/util/paths.ts';
import type {WorktreeDeps} from '../../../src/storage/worktrees/git-worktrees.ts';
import {folder, git, gitFiles, put, read, repository, worktrees} from './fixture.ts';

test('a worktree starts with the current files of the workspace, and has the same uncommitted changes', async () => {
  const root = repository({'gone.ts': 'gone\n', 'run.sh': '#!/bin/sh\n'});
  put(root, {
    'a.ts': 'one\nTWO\nthree\n',
    'new.ts': 'new\n',
    'staged.ts': 'staged\n',
    'ignored/x': 'x',
    bin: Buffer.from([0, 255, 10]),
  });
  rmSync(path.join(root, 'gone.ts'));
  chmodSync(path.join(root, 'run.sh'), 0o755);
  symlinkSync('src/b.ts', path.join(root, 'link.ts'));
  git(root, 'add', 'staged.ts');
  git(root, 'branch', 'other');
  const before = gitFiles(root);
  const tree = await worktrees(root).open();
  expect(tree).toMatchObject({root: tree.top, notes: []});
  expect(path.basename(tree.top)).toBe(path.basename(root));
  expect(read(tree.top, 'a.ts')).toBe('one\nTWO\nthree\n');
  expect(existsSync(path.join(tree.top, 'ignored'))).toBe(false);
  expect(readlinkSync(path.join(tree.top, 'link.ts'))).toBe('src/b.ts');
  expect(git(tree.top, 'status', '--porcelain').split('\n').sort()).toEqual([
    '',
    ' D gone.ts',
    ' M a.ts',
    ' M run.sh',
    '?? bin',
    '?? link.ts',
    '?? new.ts',
    '?? staged.ts',
  ]);
  expect(git(tree.top, 'log', '--format=%s %an')).toBe('first Ann\n');
  expect(git(tree.top, 'branch')).toBe('  other\n* trunk\n');
  expect(git(tree.top, 'remote')).toBe('');
  expect(gitFiles(root)).toEqual(before);
});

test('all kinds of changes come back, committed or not, and the .git of the workspace is unchanged', async () => {
  const root = repository({
    'old.ts': 'old\n',
    'gone.ts': 'gone\n',
    'run.sh': '#!/bin/sh\n',
    bin: Buffer.from([0, 1, 2]),
  });
  put(root, {'a.ts': 'one\nTWO\nthree\n'});
  const before = {git: gitFiles(root), status: git(root, 'status', '--porcelain')};
  const {run, session} = worktrees(root);
  const brought = await run((top) => {
    put(top, {
      'a.ts': 'one\nTWO\nthree\nfour\n',
      bin: Buffer.from([0, 9, 255]),
      'deep/new.ts': 'new\n',
      'ignored/y': 'y',
    });
    git(top, 'add', '.');
    git(top, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '--message=work');
    renameSync(path.join(top, 'old.ts'), path.join(top, 'renamed.ts'));
    rmSync(path.join(top, 'gone.ts'));
    chmodSync(path.join(top, 'run.sh'), 0o755);
    symlinkSync('a.ts', path.join(top, 'link'));
  });
  expect(brought.kept).toBeUndefined();
  expect(brought.applied.map((file) => path.relative(root, file)).sort()).toEqual([
    'a.ts',
    'bin',
    'deep/new.ts',
    'gone.ts',
    'link',
    'old.ts',
    'renamed.ts',
    'run.sh',
  ]);
  expect(read(root, 'a.ts')).toBe('one\nTWO\nthree\nfour\n');
  expect(read(root, 'deep/new.ts')).toBe('new\n');
  expect(read(root, 'renamed.ts')).toBe('old\n');
  expect(existsSync(path.join(root, 'old.ts'))).toBe(false);
  expect(existsSync(path.join(root, 'gone.ts'))).toBe(false);
  expect(existsSync(path.join(root, 'ignored'))).toBe(false);
  expect(statSync(path.join(root, 'run.sh')).mode & 0o100).toBe(0o100);
  expect(lstatSync(path.join(root, 'link')).isSymbolicLink()).toBe(true);
  expect(gitFiles(root)).toEqual(before.git);
  expect(existsSync(path.join(session, 'worktrees'))).toBe(false);
});

test('a file may have any name', async () => {
  const names = [
    'with space.ts',
    'quote"s\\.ts',
    'two\nlines.ts',
    '-dash.ts',
    'größe/日本.ts',
    ':(top)magic.ts',
    '*.ts',
  ];
  const filesWith = (text: string, folder = '') =>
    Object.fromEntries(names.map((name) => [path.join(folder, name), text]));
  const root = repository({...filesWith('one\n'), 'other.ts': 'other\n'});
  const {run} = worktrees(root);
  const brought = await run((top) => put(top, {...filesWith('two\n'), ...filesWith('new\n', 'new')}));
  const changed = [...names, ...names.map((name) => path.join('new', name))];
  expect([...brought.applied].sort()).toEqual(changed.map((name) => path.join(root, name)).sort());
  for (const name of names) {
    expect([read(root, name), read(root, `new/${name}`)]).toEqual(['two\n', 'new\n']);
  }
  expect(read(root, 'other.ts')).toBe('other\n');
  // A conflict names three files.
  for (const some of [names.slice(0, 3), names.slice(3, 6), names.slice(6)]) {
    const kept = await run((top) => {
      put(top, Object.fromEntries(some.map((name) => [name, 'four\n'])));
      put(root, Object.fromEntries(some.map((name) => [name, 'five\n'])));
    });
    expect(kept.kept?.why).toBe(`conflict in ${[...some].sort().map(formatFileName).join(', ')}`);
  }
});

test('an unchanged worktree leaves nothing', async () => {
  const root = repository();
  const {run, left} = worktrees(root);
  expect(await run(() => undefined)).toEqual({applied: [], notes: []});
  expect(left()).toEqual([]);
});

test('when a file changed in the workspace meanwhile, nothing is applied, and all changes are kept as a patch', async () => {
  const root = repository();
  const {run, session} = worktrees(root);
  const brought = await run((top) => {
    put(top, {'a.ts': 'ONE\ntwo\nthree\n', 'new.ts': 'new\n'});
    put(root, {'a.ts': 'one\ntwo\nTHREE\n'});
  });
  const patch = path.join(session, 'subagents', 'run-1', 'changes.patch');
  expect(brought).toMatchObject({applied: [], kept: {patch, why: 'conflict in a.ts'}});
  expect(brought.kept?.explanation).toBe(
    `Nothing was applied: a.ts changed in the workspace since this run began. The changes are kept as a patch; to apply what fits: git -C ${root} apply --reject ${patch}`,
  );
  expect(read(root, 'a.ts')).toBe('one\ntwo\nTHREE\n');
  expect(existsSync(path.join(root, 'new.ts'))).toBe(false);
  expect(statSync(patch).mode & 0o777).toBe(0o600);
  expect(() => git(root, 'apply', '--reject', patch)).toThrow('Applied patch new.ts cleanly');
  expect(read(root, 'new.ts')).toBe('new\n');
  expect(read(root, 'a.ts.rej')).toContain('+ONE');
});

test('changes at two places of one file are both applied; changes of adjacent lines are a conflict', async () => {
  const lines = Array.from({length: 20}, (_, index) => `line ${index}\n`);
  const text = (change: Record<number, string>) => lines.map((line, index) => change[index] ?? line).join('');
  const root = repository({'long.ts': text({}), 'src/b.ts': 'b\n'});
  const {run} = worktrees(root);
  const brought = await run((top) => {
    put(top, {'long.ts': text({2: 'mine\n'}), 'src/b.ts': 'B\n'});
    put(root, {'long.ts': text({17: 'theirs\n'})});
  });
  expect(brought.kept).toBeUndefined();
  expect(read(root, 'long.ts')).toBe(text({2: 'mine\n', 17: 'theirs\n'}));
  expect(read(root, 'src/b.ts')).toBe('B\n');
  const beside = await run((top) => {
    put(top, {'long.ts': text({2: 'mine again\n', 17: 'theirs\n'})});
    put(root, {'long.ts': text({2: 'mine\n', 4: 'near\n', 17: 'theirs\n'})});
  });
  expect(beside.kept?.why).toBe('conflict in long.ts');
  expect(read(root, 'long.ts')).toBe(text({2: 'mine\n', 4: 'near\n', 17: 'theirs\n'}));
});

test('a file that was created, removed or replaced by a link meanwhile is a conflict', async () => {
  const root = repository({'c.ts': 'c\n', 'd/e.ts': 'e\n'});
  const {run} = worktrees(root);
  const elsewhere = folder('elsewhere');
  const brought = await run((top) => {
    put(top, {'new.ts': 'mine\n', 'c.ts': 'C\n', 'src/b.ts': 'B\n', 'd/e.ts': 'E\n'});
    put(root, {'new.ts': 'theirs\n'});
    put(elsewhere, {'e.ts': 'e\n'});
    rmSync(path.join(root, 'c.ts'));
    rmSync(path.join(root, 'd'), {recursive: true});
    symlinkSync(elsewhere, path.join(root, 'd'));
  });
  expect(brought.kept?.why).toBe('conflict in c.ts, d/e.ts, new.ts');
  expect(read(root, 'src/b.ts')).toBe('b\n');
  expect(read(elsewhere, 'e.ts')).toBe('e\n');
});

test('of two runs on the same lines the second is kept as a patch; runs on other files both come back', async () => {
  const root = repository();
  const {open} = worktrees(root);
  const trees = await Promise.all([open('run-1'), open('run-2'), open('run-3')]);
  put(trees[0]!.top, {'a.ts': 'ONE\ntwo\nthree\n'});
  put(trees[1]!.top, {'a.ts': 'one\ntwo\nTHREE\n'});
  put(trees[2]!.top, {'src/b.ts': 'B\n'});
  const brought = await Promise.all(trees.map((tree) => tree.bringBack([])));
  expect(brought.map(({kept}) => kept?.why)).toEqual([undefined, 'conflict in a.ts', undefined]);
  expect([read(root, 'a.ts'), read(root, 'src/b.ts')]).toEqual(['ONE\ntwo\nthree\n', 'B\n']);
});

test('a change that a person makes while other runs still write is not overwritten', async () => {
  const root = repository();
  const writing: WorktreeDeps['writing'] = async (_owner, _files, work) => {
    put(root, {'a.ts': 'one\ntwo\nthree, by hand\n'});
    await work();
  };
  const {run} = worktrees(root, {writing});
  const brought = await run((top) => put(top, {'a.ts': 'ONE\ntwo\nthree\n', 'src/b.ts': 'B\n'}));
  expect(brought.kept?.why).toBe('conflict in a.ts');
  expect([read(root, 'a.ts'), read(root, 'src/b.ts')]).toEqual(['one\ntwo\nthree, by hand\n', 'b\n']);
});

test('changes of protected files are kept as a patch, and the others come back', async () => {
  const root = repository();
  const {run} = worktrees(root);
  const brought = await run((top) => put(top, {'a.ts': 'A\n', '.claude/settings.json': '{}\n'}));
  expect(brought).toMatchObject({
    applied: [path.join(root, 'a.ts')],
    kept: {why: '.claude/settings.json is protected'},
  });
  expect(existsSync(path.join(root, '.claude'))).toBe(false);
  git(root, 'apply', brought.kept!.patch);
  expect(read(root, '.claude/settings.json')).toBe('{}\n');
});

test('a session in a subdirectory works there, and changes outside of it are kept as a patch', async () => {
  const root = repository({'packages/x/i.ts': 'i\n'});
  const {open} = worktrees(path.join(root, 'packages/x'));
  const tree = await open();
  expect(tree.root).toBe(path.join(tree.top, 'packages/x'));
  expect(tree.inWorkspace(path.join(tree.root, 'i.ts'))).toBe(path.join(root, 'packages/x/i.ts'));
  expect(tree.inWorkspace('/etc/hosts')).toBeUndefined();
  put(tree.root, {'i.ts': 'I\n', '../y.ts': 'y\n'});
  const brought = await tree.bringBack([]);
  expect(brought.applied).toEqual([path.join(root, 'packages/x/i.ts')]);
  expect(brought.kept?.why).toBe('packages/y.ts is outside the workspace');
  expect(existsSync(path.join(root, 'packages/y.ts'))).toBe(false);
});

test('files come back byte by byte, without filters and line end conversion, and modes stay', async () => {
  const root = repository();
  put(root, {'.gitattributes': '* text=auto\n*.bin filter=shout\n', 'crlf.txt': 'a\r\nb\r\n', 'x.bin': 'quiet\n'});
  git(root, 'config', 'filter.shout.clean', 'tr a-z A-Z');
  git(root, 'config', 'core.autocrlf', 'input');
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message=more');
  chmodSync(path.join(root, 'a.ts'), 0o640);
  const {run} = worktrees(root);
  const brought = await run((top) => {
    expect([read(top, 'crlf.txt'), read(top, 'x.bin')]).toEqual(['a\r\nb\r\n', 'quiet\n']);
    put(top, {'crlf.txt': 'a\r\nb\r\nc\r\n', 'x.bin': 'quieter\n', 'a.ts': 'A\n'});
  });
  expect(brought.kept).toBeUndefined();
  expect([read(root, 'crlf.txt'), read(root, 'x.bin')]).toEqual(['a\r\nb\r\nc\r\n', 'quieter\n']);
  expect(statSync(path.join(root, 'a.ts')).mode & 0o777).toBe(0o640);
});

test('changes come back also when the run removed its .git', async () => {
  const root = repository();
  const {run} = worktrees(root);
  const brought = await run((top) => {
    rmSync(path.join(top, '.git'), {recursive: true});
    put(top, {'a.ts': 'A\n'});
  });
  expect(brought.applied).toEqual([path.join(root, 'a.ts')]);
});

test('the files of a repository that the run created come back, and its .git is kept', async () => {
  const root = repository();
  const {run, session} = worktrees(root);
  const brought = await run((top) => {
    put(top, {'empty/x.ts': 'x\n', 'full/y.ts': 'y\n'});
    git(path.join(top, 'empty'), 'init', '--quiet');
    git(path.join(top, 'full'), 'init', '--quiet');
    git(path.join(top, 'full'), 'add', '.');
    git(path.join(top, 'full'), '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '--message=inner');
  });
  const kept = path.join(session, 'subagents/run-1/repositories');
  expect([read(root, 'empty/x.ts'), read(root, 'full/y.ts')]).toEqual(['x\n', 'y\n']);
  expect(existsSync(path.join(root, 'full/.git'))).toBe(false);
  expect(brought.notes).toContain(`full/ was a git repository of its own: its .git is in ${kept}/full/`);
  expect(git(path.join(kept, 'full'), 'log', '--format=%s')).toBe('inner\n');
});

test('commits of all branches, of a detached HEAD, and stashes are kept as a bundle', async () => {
  const root = repository();
  const {run, session} = worktrees(root);
  const commit = (top: string, message: string) =>
    git(top, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '--all', `--message=${message}`);
  const brought = await run((top) => {
    git(top, 'checkout', '--quiet', '-b', 'aside');
    put(top, {'a.ts': 'on a branch\n'});
    commit(top, 'aside');
    git(top, 'checkout', '--quiet', '--detach', 'trunk');
    put(top, {'src/b.ts': 'B\n'});
    commit(top, 'on no branch');
    put(top, {'src/b.ts': 'stashed\n'});
    git(top, 'stash', '--quiet');
  });
  expect(brought.applied).toEqual([path.join(root, 'src/b.ts')]);
  const file = path.join(session, 'subagents/run-1/commits.bundle');
  expect(brought.notes).toEqual([
    `Its 4 commits are kept too, of aside, refs/stash, on-no-branch: git -C ${root} fetch ${file} refs/heads/aside`,
  ]);
  git(root, 'fetch', '--quiet', file, 'refs/heads/aside');
  expect(git(root, 'show', 'FETCH_HEAD:a.ts')).toBe('on a branch\n');
});
