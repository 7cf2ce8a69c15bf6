/** Git without a sandbox: only in repositories that name no program and are made of no parts that lie elsewhere. */
import {mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {beforeAll, describe, expect, it} from 'vitest';
import type {Workspace} from '../../../../src/core/contract/permission.ts';
import {type DecideOptions, permissionFixture} from '../fixture.ts';

const {outside, root, run, workspace} = permissionFixture();

const repository = path.join(root, 'repository');
const inside: Workspace = {...workspace, cwd: repository};
const git = (...args: string[]) =>
  execa('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    env: {GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1'},
  });

beforeAll(async () => {
  mkdirSync(path.join(root, 'src'), {recursive: true});
  mkdirSync(repository);
  for (const file of ['a', 'b', 'src/a.ts', 'repository/a']) writeFileSync(path.join(root, file), 'x\n');
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-q', '-m', 'one');
  rmSync(path.join(repository, '.git/hooks'), {recursive: true, force: true});
});

describe('git without a sandbox', () => {
  const bare: DecideOptions = {sandbox: false, in: inside};
  const settings = path.join(repository, '.git/config');
  const PLAIN_SETTINGS = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/external.git\n';
  const expectAsked = async (name: string) => {
    expect((await run('git log', bare)).verdict, name).toBe('ask');
    expect((await run('git log', {...bare, in: {...inside, confinement: 'read-only'}})).verdict, name).toBe('deny');
  };

  it('passes with settings that name no program, and not with others, however they are spelled', async () => {
    writeFileSync(settings, PLAIN_SETTINGS);
    expect((await run('git diff', bare)).verdict).toBe('allow');
    for (const text of [
      ...[
        '[diff]\n\texternal = ./x',
        '[diff "a]b"] TextConv = ./x',
        '[filter "x"]\n\tclean = ./x',
        '[include]\n\tpath = ../x',
      ],
      ...[
        '[includeIf "gitdir:/"]\n\tpath = ../x',
        '[core]\n\tworktree = /',
        '[gpg]\n\tprogram = ./x',
        '[core]\nfsmonitor=x',
      ],
      ...[
        '[diff "x"]\r\n\tcommand = ./x\r\n',
        '[diff "x"]\n\r\ttextconv = ./x',
        '[blame]\n\tignoreRevsFile = /etc/passwd',
      ],
      ...[
        '[core]\n\tpager = x',
        '[pager]\n\tlog = x',
        '[alias]\n\tlog = !x',
        '[core]\n\tbare = true',
        '[log]\nshowSignature',
      ],
      ...[
        '[extensions]\n\tpartialClone = origin',
        '[remote "o"]\n\tpromisor = true',
        '[core]\n\thooksPath = x',
        '[x',
        '\0',
      ],
      ...[
        '[core]\n\tattributesFile = /x',
        '[core]\n\texcludesFile = /x',
        '[core "x"]\n\tbare = false',
        '[hook "x"]\ncommand = y',
      ],
      ...[
        '[diff "x"]\\\n\n textconv = x',
        '\ufeff[diff "x"]\ntextconv = x',
        '[core]bare=false\\\n\n[diff "x"]textconv=x',
      ],
    ]) {
      writeFileSync(settings, text);
      await expectAsked(text);
    }
    writeFileSync(settings, PLAIN_SETTINGS);
  });

  it('passes only where the parts of the repository lie where git looks for them', async () => {
    const dot = path.join(repository, '.git');
    const tries: readonly (readonly [string, () => void, () => void])[] = [
      ...(['objects/info/alternates', 'hooks/post-index-change'] as const).map((name) => {
        const file = path.join(dot, name);
        const put = () => {
          mkdirSync(path.dirname(file), {recursive: true});
          writeFileSync(file, `${outside}\n`);
        };
        return [name, put, () => rmSync(file)] as const;
      }),
      ...(['refs/zz', 'objects/zz', 'logs/zz', 'info/zz', 'zz'] as const).map((name) => {
        const file = path.join(dot, name);
        const put = () => {
          rmSync(file, {recursive: true, force: true});
          symlinkSync(outside, file);
        };
        return [`link ${name}`, put, () => rmSync(file)] as const;
      }),
    ];
    for (const [name, put, remove] of tries) {
      put();
      await expectAsked(name);
      remove();
      expect((await run('git log', bare)).verdict, name).toBe('allow');
    }
  });

  it('passes where the objects of others are those that mini-cc shares with a worktree', async () => {
    const alternates = path.join(repository, '.git/objects/info/alternates');
    mkdirSync(path.dirname(alternates), {recursive: true});
    writeFileSync(alternates, `${outside}/objects\n`);
    const seeing = (folder: string) => run('git log', {...bare, in: {...inside, seen: [folder]}});
    expect((await seeing(outside)).verdict).toBe('allow');
    expect((await seeing(`${outside}/other`)).verdict).toBe('ask');
    rmSync(alternates);
  });

  it('does not pass by a file .git, in a folder that looks like a bare repository, or with a gitlink', async () => {
    const folder = path.join(root, 'odd');
    const at: DecideOptions = {sandbox: false, in: {...workspace, cwd: folder}};
    mkdirSync(folder);
    for (const text of [`gitdir: ${repository}/.git\n`, `gitdir: ${repository}/.git \n`, 'x']) {
      writeFileSync(path.join(folder, '.git'), text);
      expect((await run('git log', at)).verdict, text).toBe('ask');
    }
    rmSync(path.join(folder, '.git'));
    symlinkSync(path.join(repository, '.git'), path.join(folder, '.git'));
    expect(
      await run('git log', {sandbox: false, in: {...workspace, cwd: folder, confinement: 'read-only'}}),
    ).toMatchObject({
      ...{verdict: 'deny', because: expect.stringContaining(`git: ${folder}/.git is a link;`)},
    });
    rmSync(path.join(folder, '.git'));
    for (const name of ['objects', 'refs']) mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    expect((await run('git log', at)).verdict).toBe('ask');
    expect((await run('cd odd && git log', {sandbox: false})).verdict).toBe('ask');
    const sub = path.join(repository, 'sub');
    await execa('git', ['clone', '-q', repository, sub]);
    await git('add', 'sub');
    await expectAsked('gitlink');
    await git('rm', '-q', '-f', '--cached', 'sub');
    rmSync(sub, {recursive: true});
    expect((await run('git log', bare)).verdict).toBe('allow');
  });

  it('does not pass with variables that lead git elsewhere', async () => {
    for (const name of ['GIT_DIR', 'GIT_CONFIG_COUNT', 'GIT_EXTERNAL_DIFF', 'GIT_OBJECT_DIRECTORY', 'GIT_WORK_TREE']) {
      const env = {...workspace.env, [name]: 'x'};
      expect((await run('git log', {...bare, in: {...inside, env}})).verdict, name).toBe('ask');
    }
  });
});
