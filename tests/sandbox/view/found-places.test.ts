/** Which places confined commands are shown, found by looking at files alone: no command runs. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {traceLinks} from '../../../src/core/permissions/files/resolve-links.ts';
import {flattenGitSettings} from '../../../src/sandbox/view/git-settings.ts';
import {SessionFolder} from '../../../src/sandbox/view/session-folder.ts';
import {getPackageStores} from '../../../src/sandbox/view/system-folders.ts';
import {findToolFolders} from '../../../src/sandbox/view/tool-folders.ts';
import {existingRoots, Views} from '../../../src/sandbox/view/view.ts';
import {WatchedCache} from '../../../src/sandbox/view/watched-cache.ts';

function given() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-found-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const at = (name: string) => path.join(base, name);
  const put = (name: string, text = '', mode = 0o644) => {
    mkdirSync(path.dirname(at(name)), {recursive: true});
    writeFileSync(at(name), text);
    chmodSync(at(name), mode);
    return at(name);
  };
  const link = (name: string, target: string) => {
    mkdirSync(path.dirname(at(name)), {recursive: true});
    symlinkSync(target, at(name));
  };
  return {at, put, link, home: at('home')};
}

test('links are followed one by one, each with its target as it stands there', () => {
  const {at, put, link} = given();
  put('real/deep/file');
  link('one', 'real/./deep');
  link('real/deep/back', '../../one/file');
  link('absolute', at('one'));
  for (const name of ['loop', 'pool']) link(name, name === 'loop' ? 'pool' : 'loop');
  expect(traceLinks(at('one/back'))).toEqual({
    real: at('real/deep/file'),
    links: [
      {path: at('one'), target: 'real/./deep'},
      {path: at('real/deep/back'), target: '../../one/file'},
      {path: at('one'), target: 'real/./deep'},
    ],
  });
  expect(traceLinks(at('absolute/file'))?.links.map((each) => each.path)).toEqual([at('absolute'), at('one')]);
  expect(traceLinks(`${at('one')}/../deep//file`)?.real).toBe(at('real/deep/file'));
  expect([traceLinks(at('loop')), traceLinks(at('nowhere')), traceLinks('/')]).toEqual([
    ...[undefined, undefined, {real: '/', links: []}],
  ]);
  // As in the kernel, forty links are followed and no more.
  for (let index = 0; index < 41; index += 1) link(`l${index}`, index === 0 ? 'real' : `l${index - 1}`);
  expect([traceLinks(at('l39'))?.real, traceLinks(at('l40'))?.real]).toEqual([at('real'), undefined]);
});

test('package stores are shown where they are there, in the home or where a variable names them', () => {
  const {at, put, link, home} = given();
  for (const name of ['home/go/pkg/mod/a', 'cargo/registry/a', 'mods/a', 'path/pkg/mod/a']) put(name);
  link('home/.m2/repository', at('mods'));
  expect(getPackageStores(home, {})).toEqual([...['home/go/pkg/mod', 'home/.m2/repository', 'mods'].map(at)]);
  const env = {CARGO_HOME: at('cargo'), GOMODCACHE: 'relative', GOPATH: `${at('path')}:${at('other')}`};
  expect(getPackageStores(home, env).slice(3)).toEqual(['cargo/registry', 'path/pkg/mod'].map(at));
});

test("the user's settings of git come flat, with what they include here, quoted, and with the files that they name", () => {
  const {at, put, home} = given();
  put('work/.git/HEAD', 'ref: refs/heads/topic/one\n');
  for (const name of ['objects', 'refs']) mkdirSync(at(`work/.git/${name}`));
  const include = (condition: string, name: string) => {
    put(`home/${name}`, `[user]\n\tname = ${name}\n`);
    return `[includeIf "${condition}"]\n\tpath = ${name}\n`;
  };
  const conditions = {
    [`gitdir:${at('work')}/`]: 'here',
    'gitdir:work/': 'named',
    'gitdir:../work/': 'no-relative',
    [`gitdir/i:${at('WORK')}/`]: 'no-any-case',
    [`gitdir:${at('WORK')}/`]: 'no-other-case',
    'gitdir:~/': 'no-home',
    'onbranch:topic/': 'no-branch',
    'hasconfig:remote.*.url:**': 'no-config',
  };
  const text = Object.entries(conditions).map(([condition, name]) => include(condition, name));
  put(
    'home/.gitconfig',
    `${text.join('')}[core]\n\texcludesFile = ~/ignored\n\tattributesFile = relative\n[include]\n\tpath = ~/.gitconfig\n`,
  );
  put('home/.config/git/config', '[url "a\\"b"]\n\tinsteadOf = "x\\ty\\\\"\n[other]\n\tkey = x\n');
  put('home/ignored');
  put('home/.config/git/attributes');
  const {text: flat, files, watched} = flattenGitSettings({home, env: {}, root: at('work')});
  const names = [...flat.matchAll(/name = "(.*)"/g)].map(([, name]) => name);
  expect([...new Set(names)]).toEqual(['here', 'named']);
  // The file includes itself: that ends after ten includes.
  expect(names).toHaveLength(2 * 10);
  expect(flat.startsWith('[url "a\\"b"]\n\tinsteadof = "x\\ty\\\\"\n[user]\n\tname = "here"\n')).toBe(true);
  expect(flat).not.toMatch(/other|relative/);
  expect([...new Set(files)]).toEqual(['home/ignored', 'home/.config/git/attributes'].map(at));
  expect(watched).toEqual(
    expect.arrayContaining([at('home/.gitconfig'), at('home/here'), at('home/.config/git/ignore')]),
  );
  put('global', '[user]\n\tname = alone\n');
  const own = flattenGitSettings({
    home,
    env: {GIT_CONFIG_GLOBAL: at('global'), XDG_CONFIG_HOME: at('xdg')},
    root: home,
  });
  expect([own.text, own.watched[0], own.watched.at(-1)]).toEqual([
    ...['[user]\n\tname = "alone"\n', at('global'), at('xdg/git/attributes')],
  ]);
});

test('of the folders on PATH are shown those of tools, with what their programs lead to', () => {
  const {at, put, link, home} = given();
  const program = (name: string) => put(name, '#!/bin/sh\n', 0o755);
  program('home/.nvm/versions/v1/bin/node');
  program('home/.local/share/tool/bin/tool');
  program('home/opt/whole/bin/whole');
  put('home/opt/whole/lib/a');
  program('home/opt/bare/bin/bare');
  program('home/lib/node_modules/pkg/cli.js');
  put('home/plain.txt');
  put('home/.rustup/a');
  program('home/project/run');
  program('home/project/bin/own');
  const links = {
    tool: 'home/.local/share/tool/bin/tool',
    cli: 'home/lib/node_modules/pkg/cli.js',
    bare: 'home/opt/bare/bin/bare',
    plain: 'home/plain.txt',
    own: 'home/project/run',
    gone: 'home/gone',
  };
  for (const [name, target] of Object.entries(links)) link(`home/.cargo/bin/${name}`, at(target));
  const folders = ['.nvm/versions/v1/bin', '.cargo/bin', 'opt/whole/bin', 'opt/bare/bin', 'project/bin', 'gone', ''];
  const PATH = ['/usr/bin', 'relative', ...folders.map((name) => path.join(home, name))].join(':');
  const {places, watched} = findToolFolders({home, roots: [at('home/project')], env: {PATH}});
  const shown = places.map((place) => path.relative(home, place));
  expect(shown.sort()).toEqual(
    [
      ...['.nvm/versions/v1/bin', '.nvm', '.cargo/bin', '.rustup', '.cargo/bin/tool', '.local/share/tool'],
      ...['.cargo/bin/cli', 'lib/node_modules', '.cargo/bin/bare'],
      ...['opt/whole/bin', 'opt/whole', 'opt/bare/bin', '.local/share/uv/python'],
    ].sort(),
  );
  expect(watched).toEqual(folders.slice(0, 4).map((name) => at(`home/${name}`)));
});

test('of a virtual environment that is active are shown its folder, and the Python that a known tool installed for it', () => {
  const {at, put, home} = given();
  mkdirSync(at('home/.pyenv/versions/3/bin'), {recursive: true});
  mkdirSync(at('home/private/bin'), {recursive: true});
  const show = (env: Record<string, string>) =>
    findToolFolders({home, roots: [], env}).places.filter((place) => !place.endsWith('/uv/python'));
  put('venv/pyvenv.cfg', `version = 3\nhome = ${at('home/.pyenv/versions/3/bin')}\n`);
  expect(show({VIRTUAL_ENV: at('venv')})).toEqual(['venv', 'home/.pyenv/versions/3/bin', 'home/.pyenv'].map(at));
  for (const python of [at('home/private/bin'), '/usr/bin', at('nowhere'), 'relative']) {
    put('venv/pyvenv.cfg', `home = ${python}\n`);
    expect(show({VIRTUAL_ENV: at('venv')})).toEqual([at('venv')]);
  }
  // A long file is no settings file.
  put('venv/pyvenv.cfg', `home = ${at('home/.pyenv/versions/3/bin')}\n${'#'.repeat(10_000)}`);
  expect(show({VIRTUAL_ENV: at('venv')})).toEqual([at('venv')]);
  mkdirSync(at('conda/conda-meta'), {recursive: true});
  expect(show({CONDA_PREFIX: at('conda'), VIRTUAL_ENV: 'venv'})).toEqual([at('conda')]);
  // Neither a folder that is none, nor one around the home.
  put('pyvenv.cfg');
  expect(show({VIRTUAL_ENV: at('home/private'), CONDA_PREFIX: at('')})).toEqual([]);
});

test('of the folders of a workspace those count that exist', () => {
  const {at, put} = given();
  put('work/a');
  expect(existingRoots({root: at('gone'), extraRoots: [at('work'), at('no')]})).toEqual([at('work')]);
});

test('a place with keys is hidden from the next command, however soon it is made, renamed or linked', () => {
  const {at, put, link, home} = given();
  put('home/project/file');
  const folder = new SessionFolder(at('own'));
  onTestFinished(() => folder.close());
  const views = new Views({home, miniCcHome: at('own'), hide: ['notes/private', at('elsewhere')]}, folder);
  const list = () => views.get({root: at('home/project'), extraRoots: []}).hidden.map((each) => each.path);
  const system = list();
  const expectHidden = (names: readonly string[]) =>
    expect(list().filter((place) => !system.includes(place))).toEqual(names.map(at));
  // Each change follows the look before it at once, mostly within the same tick of the file system's clock.
  for (let round = 0; round < 50; round += 1) {
    mkdirSync(at('home/.ssh'));
    expectHidden(['home/.ssh']);
    renameSync(at('home/.ssh'), at('home/ssh'));
    expectHidden([]);
    rmSync(at('home/ssh'), {recursive: true});
  }
  link('home/.config', at('stick'));
  expectHidden([]);
  put('stick/gh/hosts.yml');
  expectHidden(['stick/gh']);
  put('home/notes/private');
  put('elsewhere');
  expectHidden(['stick/gh', 'home/notes/private', 'elsewhere']);
});

test('a place that the user shows is followed to where it leads now', () => {
  const {at, put, link, home} = given();
  put('home/v1/file');
  put('home/v2/file');
  link('home/current', 'v1');
  mkdirSync(at('work'));
  const views = new Views(
    {home, miniCcHome: at('mini-cc'), show: ['current', 'later']},
    new SessionFolder(at('mini-cc')),
  );
  const show = () => views.get({root: at('work'), extraRoots: [], env: {PATH: '/usr/bin'}}).shown;
  expect([show(), show()]).toEqual([[at('home/v1')], [at('home/v1')]]);
  rmSync(at('home/current'));
  link('home/current', 'v2');
  put('home/later/file');
  expect(show()).toEqual([at('home/v2'), at('home/later')]);
});

test('the git folder of a further folder is shown as soon as that is there', () => {
  const {at, put, home} = given();
  put('main/.git/HEAD', 'ref: refs/heads/main\n');
  for (const name of ['main/.git/objects', 'main/.git/refs', 'work', 'home']) mkdirSync(at(name), {recursive: true});
  const views = new Views({home, miniCcHome: at('mini-cc')}, new SessionFolder(at('mini-cc')));
  const show = () => views.get({root: at('work'), extraRoots: [at('linked')], env: {PATH: '/usr/bin'}}).shown;
  expect([show(), show()]).toEqual([[], []]);
  put('linked/.git', `gitdir: ${at('main/.git/worktrees/linked')}\n`);
  put('main/.git/worktrees/linked/HEAD', 'ref: refs/heads/other\n');
  put('main/.git/worktrees/linked/commondir', '../..\n');
  put('main/.git/worktrees/linked/gitdir', `${at('linked/.git')}\n`);
  expect(show()).toEqual([at('main/.git')]);
});

test('what was found right after a change is looked for again, because a further change might not show in the times', () => {
  const {at, put} = given();
  const folder = path.dirname(put('folder/file'));
  const changedAt = statSync(folder).ctimeMs;
  onTestFinished(() => void vi.useRealTimers());
  const cache = new WatchedCache<number>(1);
  let searches = 0;
  const look = () => cache.get('', () => [++searches, [folder, at('nowhere')]]);
  vi.useFakeTimers({toFake: ['Date'], now: changedAt + 5});
  expect([look(), look()]).toEqual([1, 2]);
  vi.setSystemTime(changedAt + 100);
  expect([look(), look(), look()]).toEqual([3, 3, 3]);
  put('nowhere');
  expect(look()).toBe(4);
});
