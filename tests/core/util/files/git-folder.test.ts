import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {
  findRepository,
  type GitRepository,
  getSettingsFiles,
  isGitName,
  parseSettings,
  pointsBack,
  readBranch,
} from '../../../../src/core/util/files/git-folder.ts';
import {emptyFolder, typescriptProject} from '../../../support/workspace.ts';

describe('settings are read as git reads them', () => {
  const texts = [
    '[diff "x"]\n\r\ttextconv = a\n',
    '[core] fsmonitor = a # no\n\tbare\n',
    '[core]\n\tpager = "a # b" c  ; d\n',
    '[alias]\r\n\tx = !a \\\n  b\r\n',
    '[a "b\\"c\\\\d.e"]\n\tName-2 = "x\\ty\\n"  z \n',
    '[Diff.X]\ncommand=a[core]\n[ABC]x=1',
    '\ufeff[core]\n\teditor = a\n; [x]\n# y\n',
    '[core]\n\tx = a"b"c"  "\n\ty =\n\tz = ""\n',
    'x = 1\n',
    '[include]\n\tpath = "~/x"\n[includeIf "gitdir:**"] path = y\n',
  ];
  it.each(texts)('%j', async (text) => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    const file = await folder.write('config', text);
    const listed = execFileSync('git', ['config', '--no-includes', '--file', file, '--list', '-z'], {encoding: 'utf8'});
    const parts = listed.split('\0').slice(0, -1);
    const expected = parts.map((part) => {
      const [, key, value = 'true'] = /^([^\n]*)(?:\n(.*))?$/s.exec(part) ?? [];
      return {key, value};
    });
    expect(parseSettings(text)).toEqual(expected);
  });

  it.each(['[core', '[core]\n\t1x = 2\n', '[core]\n\tx = "a\n', '[core]\n\tx = \\q\n', '[core]\n\tx y\n'])(
    'and what git calls bad is unknown: %j',
    async (text) => {
      const folder = await emptyFolder();
      onTestFinished(folder.remove);
      const file = await folder.write('config', text);
      expect(() => execFileSync('git', ['config', '--file', file, '--list'], {stdio: 'pipe'})).toThrow();
      expect(parseSettings(text)).toBeUndefined();
    },
  );
});

describe('the repository of a folder', () => {
  it('is found from below, in a linked worktree with the folder that it shares, and points back', async () => {
    const project = await typescriptProject();
    onTestFinished(project.remove);
    const tree = path.join(project.path, 'tree');
    await project.git('worktree', 'add', '--quiet', tree);
    const git = path.join(project.path, '.git');
    expect(findRepository(path.join(project.path, 'src'))).toEqual({
      ...{top: project.path, entry: git, kind: 'folder', folder: git, common: git},
    });
    const linked = findRepository(path.join(tree, 'src'));
    expect(linked).toMatchObject({kind: 'file', folder: path.join(git, 'worktrees/tree'), common: git});
    expect(linked?.kind !== 'unreadable' && linked && pointsBack(linked)).toBe(true);
  });

  it('does not point back when only the checkout says that it is its own', async () => {
    const [project, other] = [await typescriptProject(), await emptyFolder()];
    onTestFinished(project.remove);
    onTestFinished(other.remove);
    await other.write('.git', `gitdir: ${project.path}/.git\n`);
    const found = findRepository(other.path);
    expect(found).toMatchObject({kind: 'file', folder: path.join(project.path, '.git')});
    expect(found?.kind === 'file' && pointsBack(found)).toBe(false);
  });

  it('points back from a submodule that names its checkout, and not where its `.git` is a link', async () => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    const git = path.join(folder.path, 'top/.git/modules/sub');
    for (const name of ['HEAD', 'objects/x', 'refs/x']) await folder.write(`top/.git/modules/sub/${name}`, 'x');
    await folder.write('top/sub/.git', `gitdir: ../.git/modules/sub\n`);
    const sub = findRepository(path.join(folder.path, 'top/sub')) as GitRepository;
    expect(sub).toMatchObject({kind: 'file', folder: git});
    for (const [settings, expected] of [
      ['[core]\n\tworktree = ../../../sub\n', true],
      ['[core]\n\tworktree = ../../../sub\n\tworktree = /elsewhere\n', false],
      ['[core]\n\tbare = false\n', false],
    ] as const) {
      await folder.write('top/.git/modules/sub/config', settings);
      expect(pointsBack(sub), settings).toBe(expected);
    }
    symlinkSync(git, path.join(folder.path, '.git'));
    const linked = findRepository(folder.path) as GitRepository;
    expect([linked.kind, pointsBack(linked)]).toEqual(['folder', false]);
    expect(pointsBack({...linked, entry: git})).toBe(true);
  });

  it('has settings of its own, of its checkout, and shared ones', () => {
    expect(getSettingsFiles({folder: '/a', common: '/a'})).toEqual(['/a/config', '/a/config.worktree']);
    expect(getSettingsFiles({folder: '/a/worktrees/b', common: '/a'})).toEqual([
      ...['/a/config', '/a/config.worktree', '/a/worktrees/b/config.worktree'],
    ]);
  });

  it.each([
    ['ref: refs/heads/feature/x\n', 'feature/x'],
    ['ref: refs/remotes/a\n', 'refs/remotes/a'],
    ['0123456789abcdef\n', '01234567'],
    ['ref: refs/heads/a\nb', 'a'],
  ])('with the HEAD %j is on %s', async (head, branch) => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    expect(readBranch(folder.path)).toBeUndefined();
    for (const name of ['objects/x', 'refs/x']) await folder.write(`.git/${name}`, '');
    await folder.write('.git/HEAD', head);
    expect(readBranch(folder.path)).toBe(branch);
  });

  it('keeps a blank at the end of the path in a `.git` file, as git does', async () => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    await folder.write('.git', 'gitdir: real \n');
    expect(findRepository(folder.path)).toMatchObject({folder: `${folder.path}/real `});
  });

  it('is found in a bare one, and said to be unreadable where its `.git` cannot be read', async () => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    execFileSync('git', ['init', '--quiet', '--bare', path.join(folder.path, 'bare')]);
    expect(findRepository(path.join(folder.path, 'bare/refs'))).toMatchObject({kind: 'bare'});
    for (const [name, make] of Object.entries({
      text: (file: string) => writeFileSync(file, 'no pointer'),
      large: (file: string) => writeFileSync(file, `gitdir: ${'x'.repeat(2 ** 20)}`),
      loop: (file: string) => symlinkSync(file, file),
    })) {
      mkdirSync(path.join(folder.path, name));
      make(path.join(folder.path, name, '.git'));
      expect(findRepository(path.join(folder.path, name)), name).toMatchObject({kind: 'unreadable'});
    }
    const locked = path.join(folder.path, 'locked');
    mkdirSync(locked);
    await folder.write('locked/.git', 'gitdir: x');
    chmodSync(path.join(locked, '.git'), 0);
    expect(() => findRepository(locked)).not.toThrow();
  });
});

it.each([
  ...[
    ['.git', true],
    ['.GIT', true],
    ['.g\u200cit', true],
    ['git~1', true],
    ['.git ', true],
    ['.git.', true],
  ],
  ...[
    ['.gitignore', false],
    ['git', false],
    ['.github', false],
    ['.git.set-aside-1', false],
  ],
] as const)('the name %j is one for .git: %s', (name, expected) => {
  expect(isGitName(name)).toBe(expected);
});
