import {execFileSync} from 'node:child_process';
import {chmodSync, copyFileSync, readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, it, onTestFinished, vi} from 'vitest';
import {git, readSetting} from '../../../src/storage/trees/git.ts';
import {findRepository} from '../../../src/storage/trees/repository.ts';
import {WorkspaceFingerprint} from '../../../src/storage/workspace-fingerprint.ts';
import {countGit} from '../../support/count-git.ts';
import {countStarts} from '../../support/count-starts.ts';
import {emptyFolder, typescriptProject, type Workspace} from '../../support/workspace.ts';

const AUTHOR = {GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'a@b'};

/** The user has no git settings, so that only those of the repository matter. */
beforeEach(async () => {
  const home = await emptyFolder();
  onTestFinished(home.remove);
  vi.stubEnv('HOME', home.path);
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
});
afterEach(() => void vi.unstubAllEnvs());

/** Programs that note in `ran` that they were started. */
async function createPrograms() {
  const ran = await emptyFolder();
  onTestFinished(ran.remove);
  const program = async (name: string, rest = 'cat') => {
    const file = await ran.write(`bin/${name}`, `#!/bin/sh\n: >'${ran.path}/ran-${name}'\n${rest}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  return {
    program,
    ran: () => readdirSync(ran.path).filter((name) => name.startsWith('ran-')),
    forget: () => {
      for (const name of readdirSync(ran.path)) if (name.startsWith('ran-')) rmSync(path.join(ran.path, name));
    },
  };
}

const HOOKS = ['pre-commit', 'post-commit', 'post-checkout', 'post-index-change', 'reference-transaction'];

async function hostileProject() {
  const {program, ran, forget} = await createPrograms();
  const project = await typescriptProject();
  onTestFinished(project.remove);
  await project.write('image.png', 'one\n');
  await project.write('.gitattributes', '*.ts filter=evil\n*.md filter=long diff=evil merge=evil\n');
  await project.git('add', '--all');
  await project.git('commit', '--quiet', '--message', 'Before');
  for (const hook of HOOKS) {
    await program(`hook-${hook}`);
    copyFileSync(await program(`hook-${hook}`), path.join(project.path, '.git/hooks', hook));
  }
  // Git also uses settings of included files.
  await project.git('config', 'include.path', 'more');
  const set = (key: string, value: string) => project.git('config', '--file', '.git/more', key, value);
  await set('core.fsmonitor', await program('fsmonitor', 'exit 1'));
  await set('filter.evil.clean', await program('clean'));
  await set('filter.evil.smudge', await program('smudge'));
  await set('filter.evil.required', 'true');
  await set('filter.long.process', await program('process', 'exit 1'));
  await set('diff.external', await program('diff-external'));
  await set('diff.evil.textconv', `${await program('textconv')} <`);
  await set('merge.evil.driver', `${await program('merge-driver')} %A`);
  await set('commit.gpgSign', 'true');
  await set('log.showSignature', 'true');
  await set('gpg.program', await program('gpg'));
  await set('core.pager', await program('pager'));
  await set('core.editor', await program('editor'));
  await set('core.sshCommand', await program('ssh'));
  return {project, ran, forget};
}

/** Changes files without changing their size, so that git has to read them. */
async function touch(project: Workspace): Promise<void> {
  await project.write('src/greet.ts', (await project.read('src/greet.ts')).replace('greet', 'GREET'));
  await project.write('README.md', (await project.read('README.md')).replace('Greeter', 'GREETER'));
}

describe('a repository whose settings name programs', () => {
  it('makes ordinary git run them', async () => {
    const {project, ran} = await hostileProject();
    await project.git('branch', 'other');
    await touch(project);
    for (const part of ['src', 'README.md']) await project.git('status', part).catch(() => undefined);
    const some = ['ran-clean', 'ran-fsmonitor', 'ran-process', 'ran-hook-reference-transaction'];
    expect(ran()).toEqual(expect.arrayContaining(some));
  });

  it('does not make the workspace fingerprint run them', async () => {
    const {project, ran, forget} = await hostileProject();
    await touch(project);
    forget();
    const fingerprint = new WorkspaceFingerprint(project.path);
    const first = await fingerprint.take();
    expect(await fingerprint.take()).toBe(first);
    expect(ran()).toEqual([]);
  });

  it('does not make calls of git run them', async () => {
    const {project, ran, forget} = await hostileProject();
    await touch(project);
    forget();
    const out = await emptyFolder();
    onTestFinished(out.remove);
    const ask = async (...args: string[]) => ({args, ...(await git(project.path, args, {env: AUTHOR}))});
    const added = await ask('update-index', '--add', 'src/greet.ts', 'README.md');
    const written = await ask('write-tree');
    const committed = await ask('commit-tree', '-p', 'HEAD', '-m', 'Touched', `${written.stdout}`.trim());
    const touched = `${committed.stdout}`.trim();
    const patch = await ask('diff-tree', '-p', '--binary', 'HEAD', touched, '--', 'README.md');
    const answers = [
      ...[added, written, committed, patch],
      await ask('ls-files', '--modified', '--others'),
      await ask('show', touched),
      await ask('log', '-p', touched),
      await ask('worktree', 'add', '--detach', path.join(out.path, 'tree'), 'HEAD'),
      await ask('checkout', 'HEAD', '--', '.'),
      await ask('checkout', '--force', '-b', 'side', 'HEAD'),
      await ask('merge', '--no-ff', '--no-edit', '-m', 'Merged', touched),
    ];
    expect(answers.filter(({exitCode}) => exitCode !== 0)).toEqual([]);
    const tree = path.join(out.path, 'tree');
    const applied = await git(tree, ['apply', '--3way', '-'], {input: patch.stdout});
    expect(applied).toMatchObject({exitCode: 0});
    expect(await git(tree, ['ls-files', '--modified'])).toMatchObject({exitCode: 0});
    expect(patch.stdout.toString()).toContain('+# GREETER');
    expect(ran()).toEqual([]);
  });

  it('is asked by no command that starts git in submodules, whose settings may name programs too', async () => {
    for (const command of ['status', 'add', 'commit', 'diff', 'stash']) {
      await expect(git('/', [command])).rejects.toThrow(`git ${command} would start git in submodules`);
    }
  });

  it('does not make the workspace fingerprint run a filter of a submodule', async () => {
    const {program, ran, forget} = await createPrograms();
    const [project, part] = [await typescriptProject(), await typescriptProject()];
    onTestFinished(project.remove);
    onTestFinished(part.remove);
    await project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part.path, 'part');
    await project.git('commit', '--quiet', '--message', 'Part');
    await project.write('.git/modules/part/info/attributes', '* filter=evil\n');
    await project.git('-C', 'part', 'config', 'filter.evil.clean', await program('clean'));
    const fingerprint = new WorkspaceFingerprint(project.path);
    const before = await fingerprint.take();
    const spoil = async (word: string) => project.write('part/README.md', `# ${word}\n`.padEnd(60, '.'));
    await spoil('one');
    const one = await fingerprint.take();
    await project.write('part/src/greet.ts', (await project.read('part/src/greet.ts')).replace('greet', 'GREET'));
    await spoil('two');
    expect(new Set([before, one, await fingerprint.take()]).size).toBe(3);
    expect(ran()).toEqual([]);
    forget();
    await project.git('status');
    expect(ran()).toEqual(['ran-clean']);
  });

  it('does not make mini-cc fetch missing objects', async () => {
    const {program, ran} = await createPrograms();
    const project = await typescriptProject();
    onTestFinished(project.remove);
    const blob = (await project.git('rev-parse', 'HEAD:README.md')).trim();
    rmSync(path.join(project.path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    await project.git('config', 'extensions.partialClone', 'origin');
    await project.git('config', 'core.repositoryFormatVersion', '1');
    await project.git('config', 'remote.origin.url', 'file:///nowhere');
    await project.git('config', 'remote.origin.promisor', 'true');
    await project.git('config', 'remote.origin.uploadpack', await program('uploadpack', 'exit 1'));
    await project.git('config', 'protocol.allow', 'always');
    const answer = await git(project.path, ['show', 'HEAD:README.md']);
    expect([answer.exitCode, ran()]).toEqual([128, []]);
    await project.git('show', 'HEAD:README.md').catch(() => undefined);
    expect(ran()).toEqual(['ran-uploadpack']);
  });

  it('is not used as a repository when it is a bare one among the files of a project', async () => {
    const {program, ran} = await createPrograms();
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    await folder.git('init', '--quiet', '--bare', '.');
    await folder.git('config', 'core.fsmonitor', await program('fsmonitor', 'exit 1'));
    expect(await git(folder.path, ['ls-files'])).toMatchObject({exitCode: 128});
    expect(ran()).toEqual([]);
  });
});

describe('a repository whose settings name another work tree', () => {
  it('has only the files beside its .git, not those of the other work tree', async () => {
    const home = await emptyFolder();
    onTestFinished(home.remove);
    await home.write('.ssh/id_rsa', 'a key');
    await home.write('project/a.txt', 'a');
    const at = path.join(home.path, 'project');
    execFileSync('git', ['init', '--quiet'], {cwd: at});
    execFileSync('git', ['config', 'core.worktree', home.path], {cwd: at});
    const told = async (...args: string[]) => (await git(path.join(at), args)).stdout.toString();
    expect(await told('rev-parse', '--show-toplevel')).toBe(`${at}\n`);
    expect(await told('ls-files', '--others')).toBe('a.txt\n');
    await told('update-index', '--add', 'a.txt');
    expect(await told('ls-files')).toBe('a.txt\n');
    expect(await findRepository(at)).toMatchObject({top: at, prefix: ''});
  });

  it('is an ordinary submodule when the work tree is its own folder', async () => {
    const [project, part] = [await typescriptProject(), await typescriptProject()];
    onTestFinished(project.remove);
    onTestFinished(part.remove);
    await project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part.path, 'part');
    const within = path.join(project.path, 'part', 'src');
    const {stdout} = await git(within, ['rev-parse', '--show-toplevel']);
    expect(stdout.toString()).toBe(`${path.join(project.path, 'part')}\n`);
    expect(await git(within, ['ls-files', '--modified', '--others'])).toMatchObject({
      exitCode: 0,
      stdout: Buffer.from(''),
    });
  });
});

describe('mini-cc’s own git', () => {
  it('runs the filters that the user set for all repositories, also when the repository names others', async () => {
    const {program, ran} = await createPrograms();
    const project = await typescriptProject();
    onTestFinished(project.remove);
    execFileSync('git', ['config', '--global', 'filter.large.clean', await program('own')]);
    await project.git('config', 'filter.large.clean', await program('other'));
    await project.write('.gitattributes', '*.bin filter=large\n');
    await project.write('a.bin', 'x');
    expect(await git(project.path, ['hash-object', '-w', 'a.bin'])).toMatchObject({exitCode: 0});
    expect(ran()).toEqual(['ran-own']);
  });

  it('uses the given folder, not the repository of a git hook that started mini-cc', async () => {
    const [here, other] = [await typescriptProject(), await typescriptProject({git: false})];
    onTestFinished(here.remove);
    onTestFinished(other.remove);
    vi.stubEnv('GIT_DIR', path.join(here.path, '.git'));
    expect((await git(other.path, ['rev-parse', 'HEAD'])).exitCode).not.toBe(0);
    const told = await git(other.path, ['rev-parse', 'HEAD'], {env: {GIT_DIR: path.join(here.path, '.git')}});
    expect(told.exitCode).toBe(0);
  });

  it('reports in one line why git gave no answer', async () => {
    const folder = await typescriptProject();
    onTestFinished(folder.remove);
    await folder.write('.git/config', '[broken');
    await expect(git(folder.path, ['ls-files'])).rejects.toThrow(/^git config: fatal: bad config/);
    await expect(git('/nowhere', ['ls-files'])).rejects.toMatchObject({code: 'GIT_FAILED'});
    await expect(findRepository(folder.path)).rejects.toThrow(/^git config: fatal: bad config/);
  });

  it('reads the settings by the start that finds the repository, for the calls after it too', async () => {
    const project = await typescriptProject();
    onTestFinished(project.remove);
    await project.git('config', 'core.autocrlf', 'input');
    const [asked, started, known] = [countGit(), countStarts(), {}];
    expect(await findRepository(path.join(project.path, 'src'), {known})).toMatchObject({
      top: project.path,
      prefix: 'src',
    });
    expect([asked().length, started()]).toEqual([2, 1]);
    expect(await readSetting(project.path, 'core.autocrlf', {known})).toBe('input');
    expect(await readSetting(project.path, 'core.none', {known})).toBeUndefined();
    expect(started()).toBe(0);
    expect(await findRepository(path.dirname(project.path), {known: {}})).toBeUndefined();
  });
});
