/** The shell of captures lists what git lists, and leaves to git itself what it cannot list. */
import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {listProcesses} from '../../../src/sandbox/launch/process-groups.ts';
import {CaptureShell, DRAFT, IDS} from '../../../src/storage/trees/capture-shell.ts';
import {until} from '../../support/wait.ts';

const LIST = ['ls-files', '-z', '--others', '--modified'];

const listChildren = () =>
  listProcesses()
    .filter(({parent, isRunning}) => parent === process.pid && isRunning)
    .map(({pid}) => pid);

function given() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-listing-')));
  const folder = path.join(base, 'project');
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  execFileSync('git', ['init', '-q', folder]);
  const write = (name: string | Buffer) =>
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]), 'text');
  const former = new Set(listChildren());
  const shell = new CaptureShell(folder, LIST, {});
  return {folder, shell, write, listShells: () => listChildren().filter((pid) => !former.has(pid))};
}

it('lists the same names as git, time and again, by one shell', async () => {
  const {folder, shell, write, listShells} = given();
  expect(await shell.list()).toEqual([]);
  const first = listShells();
  expect(first).toHaveLength(1);
  const odd = ['a', '1', '12', '123', '1234', 'line\nbreak', ' blank ', 'ü', '0', Buffer.of(0x66, 0xff)];
  for (const name of [...odd, ...Array.from({length: 5000}, (_, index) => `many-${index}`)]) write(name);
  const expected = execFileSync('git', LIST, {cwd: folder, encoding: 'latin1'}).split('\0').slice(0, -1);
  for (let round = 0; round < 3; round += 1) {
    const listed = await shell.list();
    expect(listed?.map((name) => name.toString('latin1'))).toEqual(expected);
  }
  expect(listShells()).toEqual(first);
});

it('gives no list after an abort, and the next one is made by another shell', async () => {
  const {shell, write, listShells} = given();
  const control = new AbortController();
  const listing = shell.list(control.signal);
  control.abort();
  expect(await listing).toBeUndefined();
  await until(() => listShells().length === 0, 'the end of the shell');
  write('new');
  expect((await shell.list())?.map(String)).toEqual(['new']);
});

it('goes on after git could not copy a content or use the draft of an index, which it says', async () => {
  const {folder, write, listShells} = given();
  const gitDir = path.join(folder, '.git');
  const env = {GIT_DIR: gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: path.join(gitDir, 'index')};
  const shell = new CaptureShell(folder, LIST, {env});
  write('new');
  const run = (...args: string[]) => execFileSync('git', args, {cwd: folder}).toString().trim();
  run('add', 'new');
  expect(await shell.tree()).toBe(run('write-tree'));
  const [id, ids] = [run('hash-object', 'new'), path.join(gitDir, IDS)];
  writeFileSync(ids, `${id}\n${'1'.repeat(40)}\n`);
  expect(await shell.keep()).toBe(false);
  writeFileSync(ids, `${id}\n`);
  expect(await shell.keep()).toBe(true);
  expect(run('count-objects', '-v')).toContain('\nin-pack: 1\n');
  writeFileSync(path.join(gitDir, `index${DRAFT}`), 'no index');
  expect(await shell.refresh({})).toBe(false);
  copyFileSync(path.join(gitDir, 'index'), path.join(gitDir, `index${DRAFT}`));
  expect(await shell.refresh({})).toBe(true);
  write('other');
  expect((await shell.list())?.map(String)).toEqual(['other']);
  expect(listShells()).toHaveLength(1);
});

it('makes no list any more once git failed', async () => {
  const {folder, shell, listShells} = given();
  expect(await shell.list()).toEqual([]);
  renameSync(path.join(folder, '.git'), path.join(folder, 'elsewhere'));
  expect(await shell.list()).toBeUndefined();
  renameSync(path.join(folder, 'elsewhere'), path.join(folder, '.git'));
  expect(await shell.list()).toBeUndefined();
  await until(() => listShells().length === 0, 'the end of the shell');
});

it('makes no list any more once its shell was killed', async () => {
  const {shell, listShells} = given();
  expect(await shell.list()).toEqual([]);
  for (const pid of listShells()) process.kill(pid, 'SIGKILL');
  expect(await shell.list()).toBeUndefined();
  expect(await shell.list()).toBeUndefined();
  await until(() => listShells().length === 0, 'the end of the shell');
});
