/** A workspace on its way to another machine and back, without a queue between. */

import {spawn, spawnSync} from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import {EXPORTED_PATCH, GitWorktrees} from '../../../src/storage/worktrees/git-worktrees.ts';
import {ShippedTrees} from '../../../src/storage/worktrees/shipped-trees.ts';
import {TreeCache} from '../../../src/storage/worktrees/tree-cache.ts';
import {countGit} from '../../support/count-git.ts';
import {countStarts} from '../../support/count-starts.ts';
import {freePort} from '../../support/queue.ts';
import {until} from '../../support/wait.ts';
import {emptyFolder, type Workspace} from '../../support/workspace.ts';

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-trees-')));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

async function repository(): Promise<Workspace> {
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  await workspace.git('init', '-q', '-b', 'main');
  await workspace.git('config', 'user.name', 'a');
  await workspace.git('config', 'user.email', 'a@example.com');
  await workspace.write('a.txt', 'one\n');
  await workspace.write('.gitignore', 'built\n');
  await workspace.git('add', '-A');
  await workspace.git('commit', '-qm', 'first');
  return workspace;
}

function trees(workspace: Workspace, hidden: readonly string[] = []) {
  const folder = temporaryFolder();
  return new ShippedTrees({
    root: workspace.path,
    folders: {trees: () => path.join(folder, 'shipped'), run: (runId) => path.join(folder, runId)},
    hidden: () => hidden,
    isProtected: (file) => file.startsWith('.mini-cc/'),
    writing: (_, _files, work) => work(),
  });
}

/** Counts what is asked for. */
function source(from: ShippedTrees, state: Awaited<ReturnType<ShippedTrees['capture']>>) {
  const asked: string[] = [];
  return {
    asked,
    readPatch: () => {
      asked.push('patch');
      return from.readPatch(state);
    },
    readBundle: () => {
      asked.push('bundle');
      return from.readBundle(state);
    },
  };
}

const {signal} = new AbortController();

it('a tree arrives byte by byte with what is not committed, and the second time nothing is asked for', async () => {
  const workspace = await repository();
  const bytes = Buffer.from([0, 255, 13, 10, 7]);
  writeFileSync(path.join(workspace.path, 'binary'), bytes);
  await workspace.write('a.txt', 'one\r\ntwo');
  await workspace.write('built/x', 'ignored');
  await workspace.write('hidden/key', 'no');
  symlinkSync('a.txt', path.join(workspace.path, 'link'));
  const shipped = trees(workspace, [path.join(workspace.path, 'hidden')]);
  const state = await shipped.capture(signal);
  const cache = new TreeCache(temporaryFolder());
  const first = source(shipped, state);
  // Two at once: it is made once.
  const [{root}, same] = await Promise.all([cache.open(state, first), cache.open(state, first)]);
  expect(same.root).toBe(root);
  expect(first.asked.toSorted()).toEqual(['bundle', 'patch']);
  expect(readFileSync(path.join(root, 'binary'))).toEqual(bytes);
  expect(readFileSync(path.join(root, 'link'), 'utf8')).toBe('one\r\ntwo');
  expect(['built', 'hidden'].filter((name) => existsSync(path.join(root, name)))).toEqual([]);
  const again = source(shipped, await shipped.capture(signal));
  const found = await new TreeCache(path.dirname(path.dirname(path.dirname(root)))).open(state, again);
  expect(found.root).toBe(root);
  expect(again.asked).toEqual([]);
  expect(cache.list()).toEqual([`${path.basename(workspace.path)}@${state.key.slice(0, 12)}`]);
  // Another state of the same repository needs its patch alone.
  await workspace.write('a.txt', 'three\n');
  const next = await shipped.capture(signal);
  expect(next.key).not.toBe(state.key);
  const third = source(shipped, next);
  await cache.open(next, third);
  expect(third.asked).toEqual(['patch']);
});

/** Serves a bare repository over git's own protocol. @returns its address */
async function serveByGit(folder: string): Promise<string> {
  const port = await freePort();
  const flags = ['--export-all', '--listen=127.0.0.1', `--port=${port}`, `--base-path=${path.dirname(folder)}`];
  const daemon = spawn('git', ['daemon', ...flags, folder], {stdio: 'ignore', detached: true});
  onTestFinished(() => void process.kill(-daemon.pid!, 'SIGKILL'));
  const url = `git://127.0.0.1:${port}/${path.basename(folder)}`;
  await until(() => spawnSync('git', ['ls-remote', url], {stdio: 'ignore'}).status === 0, 'an answer of git');
  return url;
}

it('a tree whose folder is a link, or that is larger than what is laid out, is refused', async () => {
  const workspace = await repository();
  const outside = temporaryFolder();
  symlinkSync(outside, path.join(workspace.path, 'link'));
  await workspace.write('zeros', '0'.repeat(1_000_000));
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  const open = (change: object, limits?: ConstructorParameters<typeof TreeCache>[1]) =>
    new TreeCache(temporaryFolder(), limits).open({...state, ...change}, source(shipped, state));
  for (const prefix of ['link', 'link/new']) {
    await expect(open({prefix})).rejects.toThrow(/its folder is a link in its tree/);
  }
  expect(readdirSync(outside)).toEqual([]);
  for (const limits of [
    {files: 300, bytes: 999_999},
    {files: 1, bytes: 2_000_000},
  ]) {
    await expect(open({}, limits)).rejects.toThrow(/and at most \d+ files of \d+ MB together are laid out/);
  }
  expect((await open({}, {files: 300, bytes: 2_000_000})).start).toBe(state.start);
});

it('the base is fetched from a remote that has it; one with a password is not named', async () => {
  const workspace = await repository();
  const remote = temporaryFolder();
  await workspace.git('init', '-q', '--bare', remote);
  await workspace.git('remote', 'add', 'origin', remote);
  await workspace.git('push', '-q', 'origin', 'main');
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  expect(state.remotes).toEqual([remote]);
  // A path would be one of the other machine.
  const there = source(shipped, state);
  await new TreeCache(temporaryFolder()).open(state, there);
  expect(there.asked).toEqual(['bundle', 'patch']);
  const url = await serveByGit(remote);
  await workspace.git('remote', 'set-url', 'origin', url);
  const served = await shipped.capture(signal);
  expect(served.remotes).toEqual([url]);
  const asked = source(shipped, served);
  await new TreeCache(temporaryFolder()).open(served, asked);
  expect(asked.asked).toEqual(['patch']);
  await workspace.git('remote', 'set-url', 'origin', 'https://me:token@example.com/x.git');
  expect((await shipped.capture(signal)).remotes).toEqual([]);
});

it('a tree that is not what it says is not used', async () => {
  const workspace = await repository();
  await workspace.write('b.txt', 'b\n');
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  const cache = new TreeCache(temporaryFolder());
  const forged = {...source(shipped, state), readPatch: async () => Buffer.alloc(0)};
  await expect(cache.open(state, forged)).rejects.toThrow(/the tree that came is/);
  expect(cache.list()).toEqual([]);
});

it('changes come back into a workspace that changed meanwhile, or are kept with the reason', async () => {
  const workspace = await repository();
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  const owner = {agentId: 'run', label: '[code] x'};
  const patch = (await workspace
    .git('diff', '--no-index', '/dev/null', await workspace.write('made.txt', 'made\n'))
    .catch((error: {stdout: string}) => error.stdout)) as string;
  rmSync(path.join(workspace.path, 'made.txt'));
  const added = Buffer.from(patch.replaceAll(path.join(workspace.path, 'made.txt').slice(1), 'made.txt'));
  const brought = await shipped.bringBack(owner, state, added);
  expect(brought).toEqual({applied: [path.join(workspace.path, 'made.txt')], notes: []});
  expect(await workspace.read('made.txt')).toBe('made\n');
  // After a crash between the change and its record it is brought back again, and is there already.
  expect(await shipped.bringBack(owner, state, added)).toEqual(brought);
  expect(await workspace.read('made.txt')).toBe('made\n');
  await workspace.write('made.txt', 'made by another\n');
  const late = await shipped.bringBack(owner, state, added);
  expect(late.applied).toEqual([]);
  expect(late.kept?.why).toBe('conflict in made.txt');
});

it('what is left of a patch is applied when a crash cut it off in the middle', async () => {
  const workspace = await repository();
  await workspace.write('b.txt', 'two\n');
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  const change = (name: string, from: string, to: string) =>
    `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
  const patch = Buffer.from(change('a.txt', 'one', 'ONE') + change('b.txt', 'two', 'TWO'));
  await workspace.write('a.txt', 'ONE\n');
  const brought = await shipped.bringBack({agentId: 'run', label: '[code] x'}, state, patch);
  expect(brought).toEqual({applied: ['a.txt', 'b.txt'].map((name) => path.join(workspace.path, name)), notes: []});
  expect(await workspace.read('b.txt')).toBe('TWO\n');
});

it('a run at a cached tree has an ordinary checkout, gives back what it changed, and starts git seldom', async () => {
  const workspace = await repository();
  await workspace.write('built', 'tracked, though it is ignored\n');
  await workspace.git('add', '-f', 'built');
  await workspace.git('commit', '-qm', 'second');
  await workspace.write('a.txt', 'not committed\n');
  await workspace.write('new/untracked.txt', 'new\n');
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  const cached = await new TreeCache(temporaryFolder()).open(state, source(shipped, state));
  const session = temporaryFolder();
  const worktrees = new GitWorktrees({
    ...{root: cached.root, sessionFolder: () => session, hidden: () => [], isProtected: () => false, cached},
    ...{warn: () => undefined, writing: (_, _files, work) => work()},
  });
  const asked = countGit();
  const owner = {agentId: 'run', label: '[code] run'};
  const tree = await worktrees.open(owner, signal);
  expect(asked()).toEqual([]);
  vi.unstubAllEnvs();
  const git = async (...args: string[]) => (await workspace.git('-C', tree.top, ...args)).trimEnd();
  expect(await git('status', '--porcelain')).toBe(' M a.txt\n?? new/');
  expect(await git('log', '--format=%s', 'main')).toBe('second\nfirst');
  writeFileSync(path.join(tree.top, 'a.txt'), 'changed there\n');
  rmSync(path.join(tree.top, 'new'), {recursive: true});
  const counted = countStarts();
  const brought = await tree.bringBack([]);
  expect(brought).toEqual({
    applied: ['a.txt', 'new/untracked.txt'].map((name) => path.join(cached.repository.top, name)),
    notes: [],
  });
  expect(counted()).toBeLessThan(9);
  const patch = readFileSync(path.join(session, 'subagents', 'run', EXPORTED_PATCH));
  await shipped.bringBack(owner, state, patch);
  expect(counted()).toBeLessThan(11);
  expect(await workspace.read('a.txt')).toBe('changed there\n');
  expect(await workspace.read('built')).toBe('tracked, though it is ignored\n');
  expect(existsSync(path.join(workspace.path, 'new'))).toBe(false);
  tree.discard();
  await worktrees.settled();
});

/** Each file with its kind, whether it may be run, and its bytes. What git keeps for itself is left out. */
function listFiles(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(root, {recursive: true, encoding: 'utf8'})) {
    const file = path.join(root, name);
    const stat = lstatSync(file);
    if (stat.isDirectory() || /(?:^|\/)\.git(?:\/|$)/.test(name)) continue;
    const content = stat.isSymbolicLink() ? `-> ${readlinkSync(file)}` : readFileSync(file).toString('latin1');
    found[name] = `${(stat.mode & 0o100) !== 0 && !stat.isSymbolicLink() ? 'x' : '-'} ${content}`;
  }
  return found;
}

it('odd names, modes, links, deletions, line ends, pointers of LFS and submodules arrive as they are', async () => {
  const workspace = await repository();
  const at = (name: string) => path.join(workspace.path, name);
  const odd = [' blank ', '-dash', 'quo"te', "a'b", 'tab\there', 'line\nbreak', 'ümläut/日本', '*glob?', '$HOME', '#x'];
  for (const name of odd) await workspace.write(name, `${name}\n`);
  await workspace.write('.gitattributes', '* text=auto\n*.psd filter=lfs diff=lfs merge=lfs -text\n');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
  await workspace.write('picture.psd', pointer);
  await workspace.write('dos.txt', 'a\r\nb\r\n');
  await workspace.write('run.sh', '#!/bin/sh\n');
  await workspace.write('gone.txt', 'gone\n');
  await workspace.write('moved.txt', 'moved\n');
  const inner = await repository();
  await workspace.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'inner');
  await workspace.git('add', '-A');
  await workspace.git('commit', '-qm', 'odd');
  rmSync(at('gone.txt'));
  renameSync(at('moved.txt'), at('moved here.txt'));
  chmodSync(at('run.sh'), 0o755);
  symlinkSync('nowhere at all', at('dangling'));
  writeFileSync(at('dos.txt'), 'a\r\nc\r\n');
  writeFileSync(at(odd[5]!), Buffer.from([0, 10, 255]));
  await workspace.write('new\nname', 'new\n');
  const shipped = trees(workspace);
  const state = await shipped.capture(signal);
  const {root} = await new TreeCache(temporaryFolder()).open(state, source(shipped, state));
  const own = Object.entries(listFiles(workspace.path)).filter(([name]) => !name.startsWith('inner/'));
  expect(listFiles(root)).toEqual(Object.fromEntries(own));
  expect(own.length).toBeGreaterThan(odd.length + 7);
  // A submodule's commit is known, and its files are not there, as in any fresh worktree.
  expect(existsSync(path.join(root, 'inner'))).toBe(true);
});

it('a workspace without any commit, and one that is a folder of its repository, arrive too', async () => {
  const bare = await emptyFolder();
  onTestFinished(bare.remove);
  await bare.git('init', '-q');
  await bare.write('only.txt', 'here\n');
  const workspace = await repository();
  await workspace.write('packages/one/x.txt', 'x\n');
  for (const [from, root] of [
    [bare, bare.path],
    [workspace, path.join(workspace.path, 'packages/one')],
  ] as const) {
    const shipped = trees({...from, path: root});
    const state = await shipped.capture(signal);
    const {root: there} = await new TreeCache(temporaryFolder()).open(state, source(shipped, state));
    expect(listFiles(there)).toEqual(listFiles(root));
  }
});
