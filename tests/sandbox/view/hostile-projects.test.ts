/** What a hostile project says about itself shows it nothing of the user's. */
import {execFileSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import type {Claim} from '../../../src/core/contract/permission.ts';
import {alternatesClaims} from '../../../src/sandbox/view/repository-folders.ts';
import {hasSandbox} from '../../support/sandbox.ts';
import {ViewFixture} from './fixture.ts';

const usable = await hasSandbox();
const f = new ViewFixture();
afterAll(() => f.close());
const hostile = f.at('home/clones/hostile');
const victim = f.at('home/work/victim');

beforeAll(() => {
  f.makeRepository('home/work/victim');
  f.put('home/work/victim/.git/canary', 'CANARY');
});
beforeEach(() => {
  rmSync(hostile, {recursive: true, force: true});
  f.put('home/clones/hostile/a.txt', 'one\n');
});

/** What a command sees of the victim's repository and of the user's keys. */
const LOOK = `cat ${victim}/.git/canary ${victim}/a.txt ~/private/key ~/.ssh/id 2>&1; ls -A ~/work ~/private; git log --oneline`;

describe.runIf(usable)('a project does not show another repository', () => {
  const DISGUISES: Readonly<Record<string, () => void>> = {
    'by a .git file that names its git folder': () => f.put('home/clones/hostile/.git', `gitdir: ${victim}/.git\n`),
    'by a .git file that names a worktree of it': () => {
      f.git('home/work/victim', 'worktree', 'add', '--quiet', '--force', '--detach', '../own-tree');
      f.put('home/clones/hostile/.git', `gitdir: ${victim}/.git/worktrees/own-tree\n`);
    },
    'by a link .git': () => f.link('home/clones/hostile/.git', `${victim}/.git`),
    'by a folder .git whose commondir names it': () => {
      f.git('home/clones/hostile', 'init', '--quiet');
      f.put('home/clones/hostile/.git/commondir', `${victim}/.git\n`);
    },
    'by a .git file that names a folder of its own with that commondir': () => {
      f.git('home/clones/hostile', 'init', '--quiet', '--bare', 'g');
      f.put('home/clones/hostile/g/commondir', `${victim}/.git\n`);
      f.put('home/clones/hostile/g/gitdir', `${hostile}/.git\n`);
      f.put('home/clones/hostile/.git', 'gitdir: g\n');
    },
    'by alternates that the user does not trust': () => {
      f.git('home/clones/hostile', 'init', '--quiet');
      f.put('home/clones/hostile/.git/objects/info/alternates', `${victim}/.git/objects\n${f.home}/private\n`);
    },
    'by a virtual environment whose Python lies there': () => {
      f.put('home/clones/hostile/.venv/pyvenv.cfg', `home = ${victim}\n`);
      f.link('home/clones/hostile/.venv/bin/python', `${f.home}/private/key`);
    },
    'by links': () => {
      f.link('home/clones/hostile/node_modules/.bin/x', `${f.home}/private/key`);
      f.link('home/clones/hostile/keys', `${f.home}/private`);
    },
  };
  test.each(Object.keys(DISGUISES))('%s', async (name) => {
    DISGUISES[name]!();
    const env = {PATH: `${hostile}/node_modules/.bin:/usr/bin:/bin`};
    for (const root of [hostile, path.join(hostile, 'sub')]) {
      f.put('home/clones/hostile/sub/b.txt', 'two\n');
      const {text} = await f.run(`${LOOK}; cat ${hostile}/a.txt`, {root, env});
      expect(text).not.toMatch(/CANARY|second|victim\n/);
    }
    // The control: the same command shows it outside.
    expect(f.runPlainly(LOOK, {root: hostile, env}).text).toMatch(/CANARY.*CANARY/s);
  });
});

describe.runIf(usable)('a broken .git stops no command', () => {
  const BROKEN: Readonly<Record<string, () => void>> = {
    'a pipe': () => void execFileSync('mkfifo', [path.join(hostile, '.git')]),
    'a file without a path': () => void f.put('home/clones/hostile/.git', 'gitdir: '),
    'a path that ends in a blank': () => void f.put('home/clones/hostile/.git', `gitdir: ${victim}/.git \n`),
    'a huge file': () => void f.put('home/clones/hostile/.git', `gitdir: ${'x'.repeat(2_000_000)}`),
    'a folder that may not be read': () => void f.put('home/clones/hostile/.git/x', '', 0o000),
    'a link in a circle': () => f.link('home/clones/hostile/.git', '.git'),
    'a file with a zero byte': () => void f.put('home/clones/hostile/.git', 'gitdir: a\0b\n'),
  };
  test.each(Object.keys(BROKEN))('%s', async (name) => {
    BROKEN[name]!();
    expect(await f.run('cat a.txt', {root: hostile})).toEqual({text: 'one\n', exitCode: 0});
  });
});

test('alternates of another repository need trust, for exactly what they name', () => {
  f.git('home/clones', 'clone', '--quiet', '--shared', victim, 'shared');
  const root = f.at('home/clones/shared');
  const [claim] = alternatesClaims(root, f.home);
  expect(claim).toEqual({
    ...{file: `${root}/.git/objects/info/alternates`, key: 'alternates'},
    value: [`${victim}/.git/objects`],
  } satisfies Claim);
  expect(alternatesClaims(victim, f.home)).toEqual([]);
});

test.runIf(usable)(
  'a repository around the workspace is shown only up to the home, and not in a folder of others',
  async () => {
    f.git('home', 'init', '--quiet');
    f.put('open/project/a.txt', 'one\n');
    f.put('open/other.txt', 'CANARY');
    execFileSync('git', ['init', '--quiet', f.at('open')], {env: f.env});
    const look = `cat ~/private/key ${f.at('open/other.txt')}; ls -A ~ ${f.at('open')}`;
    expect((await f.run(look, {root: hostile})).text).not.toMatch(/CANARY|private\n|\.git\n/);
    expect((await f.run(look, {root: f.at('open/project')})).text).toContain('CANARY');
    execFileSync('chmod', ['1777', f.at('open')]);
    expect((await f.run(look, {root: f.at('open/project')})).text).not.toContain('CANARY');
    rmSync(f.at('home/.git'), {recursive: true});
  },
);
