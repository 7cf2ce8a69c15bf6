/** Worktrees of unusual repositories: each works, or the error says why not. */
import {chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {until} from '../../support/wait.ts';
import {folder, git, gitFiles, NEVER, put, read, repository, worktrees} from './fixture.ts';

test('without a repository, or with a bare one, the error says so', async () => {
  const plain = folder('plain');
  await expect(worktrees(plain).open()).rejects.toThrow(
    `isolation: worktree needs a git repository: ${plain} is not in one (git init creates one)`,
  );
  const bare = folder('bare');
  git(bare, 'init', '--quiet', '--bare');
  const {open, left} = worktrees(bare);
  await expect(open()).rejects.toThrow(`isolation: worktree needs a git repository with files: ${bare} is a bare one`);
  expect(left()).toEqual([]);
});

test('a repository without a commit works: all files are new', async () => {
  const root = folder('unborn');
  git(root, 'init', '--quiet', '--initial-branch=trunk');
  put(root, {'a.ts': 'a\n'});
  const {run} = worktrees(root);
  const brought = await run((top) => {
    expect(git(top, 'status', '--short')).toBe('?? a.ts\n');
    put(top, {'a.ts': 'A\n'});
  });
  expect(brought.applied).toEqual([path.join(root, 'a.ts')]);
  expect(read(root, 'a.ts')).toBe('A\n');
});

test('a checkout works that is a worktree itself, with a detached HEAD, of a shallow clone, with SHA-256', async () => {
  const far = folder('far');
  git(far, 'init', '--quiet', '--object-format=sha256', '--initial-branch=trunk');
  put(far, {'a.ts': 'a\n'});
  git(far, 'add', '.');
  for (const message of ['first', 'second']) {
    git(far, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--quiet', '--allow-empty', `--message=${message}`);
  }
  const near = folder('near');
  git(near, 'clone', '--quiet', '--depth=1', `file://${far}`, 'main');
  git(path.join(near, 'main'), 'worktree', 'add', '--quiet', '--detach', '../second');
  const root = path.join(near, 'second');
  const {run} = worktrees(root);
  const brought = await run((top) => {
    expect(git(top, 'log', '--format=%s%d')).toMatch(/^second \(.*HEAD.*\)\n$/);
    expect(git(top, 'status', '--short')).toBe('');
    put(top, {'a.ts': 'A\n'});
  });
  expect(brought.applied).toEqual([path.join(root, 'a.ts')]);
  expect(read(path.join(near, 'main'), 'a.ts')).toBe('a\n');
});

test('files that a sparse checkout leaves out are not deleted, in the worktree and afterwards', async () => {
  const root = repository({'other/c.ts': 'c\n'});
  git(root, 'sparse-checkout', 'set', 'src');
  const {run} = worktrees(root);
  const brought = await run((top) => {
    expect(existsSync(path.join(top, 'other'))).toBe(false);
    expect(git(top, 'status', '--short')).toBe('');
    put(top, {'src/b.ts': 'B\n'});
  });
  expect(brought).toEqual({applied: [path.join(root, 'src/b.ts')], notes: []});
});

test('a repository that lost a content of its files works: the files have it', async () => {
  const root = repository();
  const id = git(root, 'rev-parse', 'HEAD:a.ts').trim();
  rmSync(path.join(root, '.git/objects', id.slice(0, 2), id.slice(2)));
  const {run} = worktrees(root);
  const brought = await run((top) => {
    expect(read(top, 'a.ts')).toBe('one\ntwo\nthree\n');
    put(top, {'src/b.ts': 'B\n'});
  });
  expect(brought).toEqual({applied: [path.join(root, 'src/b.ts')], notes: []});
});

test('a file that git does not know has its permissions in the worktree', async () => {
  const root = repository();
  put(root, {'private.key': 'k\n'});
  chmodSync(path.join(root, 'private.key'), 0o600);
  const tree = await worktrees(root).open();
  expect(statSync(path.join(tree.top, 'private.key')).mode & 0o777).toBe(0o600);
});

test('a submodule is an empty folder, and an untracked nested repository is named', async () => {
  const inner = repository();
  const root = repository();
  git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', inner, 'sub');
  git(root, 'commit', '--quiet', '--message=sub');
  put(root, {'nested/x': 'x'});
  git(path.join(root, 'nested'), 'init', '--quiet');
  const tree = await worktrees(root).open();
  expect(readdirSync(path.join(tree.top, 'sub'))).toEqual([]);
  expect(git(tree.top, 'status', '--short')).toBe('');
  expect(tree.notes).toEqual(['not in the worktree, since it is a git repository of its own: nested/']);
  put(tree.top, {'a.ts': 'A\n'});
  expect(await tree.bringBack([])).toEqual({applied: [path.join(root, 'a.ts')], notes: []});
  expect(read(root, 'sub/a.ts')).toBe('one\ntwo\nthree\n');
});

test('files that confined commands must not see are not in the worktree, and stay unchanged', async () => {
  const root = repository({'keys/tracked': 'secret\n'});
  put(root, {'.env': 'SECRET=1\n'});
  const hidden = () => [path.join(root, '.env'), path.join(root, 'keys'), path.dirname(root)];
  const {run} = worktrees(root, {hidden});
  const brought = await run((top) => {
    expect([existsSync(path.join(top, '.env')), existsSync(path.join(top, 'keys'))]).toEqual([false, false]);
    expect(git(top, 'status', '--short')).toBe('');
    put(top, {'a.ts': 'A\n', '.env': 'SECRET=2\n', 'keys/new': 'x'});
  });
  expect(brought.kept?.explanation).toContain('.env is protected; keys/new is protected: these changes were not');
  expect(existsSync(path.join(root, 'keys/new'))).toBe(false);
  expect([read(root, '.env'), read(root, 'keys/tracked'), read(root, 'a.ts')]).toEqual([
    'SECRET=1\n',
    'secret\n',
    'A\n',
  ]);
});

test('the worktree’s git does not name the main checkout, and has no settings that run programs', async () => {
  const root = repository();
  git(root, 'remote', 'add', 'origin', root);
  git(root, 'config', 'core.fsmonitor', 'touch /tmp/never');
  git(root, 'config', 'core.hooksPath', '/tmp/never');
  git(root, 'config', 'filter.x.smudge', 'touch /tmp/never');
  git(root, 'config', 'core.autocrlf', 'input');
  const tree = await worktrees(root).open();
  const settings = git(tree.top, 'config', '--local', '--list');
  for (const taken of ['user.name=Ann', 'user.email=ann@example.com', 'core.autocrlf=input']) {
    expect(settings).toContain(taken);
  }
  expect(settings).not.toMatch(/never|remote|filter|hooks/);
  const inside = gitFiles(tree.top);
  const naming = Object.keys(inside).filter((name) => inside[name]!.includes(root));
  expect(naming).toEqual(['objects/info/alternates']);
});

test('a run that is stopped during the creation of its worktree leaves nothing', async () => {
  const root = repository(Object.fromEntries(Array.from({length: 300}, (_, n) => [`many/${n}.ts`, `${n}\n`])));
  const {open, left, settled} = worktrees(root);
  const stop = new AbortController();
  const opening = open('run-1', stop.signal);
  await until(() => left().length > 0, 'the first file of the worktree');
  stop.abort(new Error('stopped'));
  await expect(opening).rejects.toThrow();
  await settled();
  expect(left()).toEqual([]);
  expect((await open('run-1', NEVER)).top).toContain('run-1');
});

test('a failure while applying leaves the workspace as it was, and all changes are kept', async () => {
  const root = repository();
  put(root, {'ignored/keep': 'keep\n'});
  const {run} = worktrees(root);
  const brought = await run((top) => {
    put(top, {'a.ts': 'A\n', ignored: 'a file where a folder is\n', 'added/x.ts': 'x\n'});
    rmSync(path.join(top, 'src/b.ts'));
  });
  expect(brought.applied).toEqual([]);
  expect(brought.kept?.explanation).toMatch(/^Nothing was applied: .*ignored/);
  expect([read(root, 'a.ts'), read(root, 'src/b.ts'), read(root, 'ignored/keep')]).toEqual([
    'one\ntwo\nthree\n',
    'b\n',
    'keep\n',
  ]);
  expect(git(root, 'status', '--short')).toBe('');
});

test('a worktree that cannot be written is an error, and leaves nothing', async () => {
  const root = repository();
  const {open, session} = worktrees(root);
  writeFileSync(path.join(session, 'worktrees'), 'in the way');
  await expect(open()).rejects.toThrow(/ENOTDIR|EEXIST/);
  rmSync(path.join(session, 'worktrees'));
  mkdirSync(path.join(session, 'worktrees'));
  expect((await open()).notes).toEqual([]);
});
