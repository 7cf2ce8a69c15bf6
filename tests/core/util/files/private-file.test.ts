import {execFileSync} from 'node:child_process';
import {chmodSync, closeSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {
  appendPrivateFile,
  createPrivateFolder,
  openPrivateFile,
  withPrivateUmask,
} from '../../../../src/core/util/files/private-file.ts';

const folder = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-private-'));
const getMode = (file: string) => statSync(file).mode & 0o777;

it('creates files and folders that only the user can read', () => {
  const file = path.join(folder(), 'deep', 'er', 'history.jsonl');
  appendPrivateFile(file, 'one\n');
  appendPrivateFile(file, 'two\n');
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
  expect([file, path.dirname(file), path.dirname(path.dirname(file))].map(getMode)).toEqual([0o600, 0o700, 0o700]);
});

it('removes the permissions of others from existing files and folders', () => {
  const file = path.join(folder(), 'history.jsonl');
  writeFileSync(file, 'old\n');
  chmodSync(file, 0o666);
  appendPrivateFile(file, 'new\n');
  expect(getMode(file)).toBe(0o600);
  const wide = path.join(folder(), 'wide');
  mkdirSync(wide);
  chmodSync(wide, 0o777);
  createPrivateFolder(wide);
  expect(getMode(wide)).toBe(0o700);
});

it.runIf(process.platform !== 'win32')('leaves the permissions of a pipe or a device as they are', () => {
  const pipe = path.join(folder(), 'pipe');
  execFileSync('mkfifo', ['-m', '666', pipe]);
  closeSync(openPrivateFile(pipe, 'a+'));
  expect(getMode(pipe)).toBe(0o666);
});

it('gives what is created meanwhile to the user alone, and puts the umask back, also after an error', () => {
  const [file, umask] = [path.join(folder(), 'a'), process.umask()];
  expect(withPrivateUmask(() => writeFileSync(file, '', {mode: 0o777}))).toBeUndefined();
  expect([getMode(file), process.umask()]).toEqual([0o700, umask]);
  const fail = () => {
    throw new Error('as it must');
  };
  expect(() => withPrivateUmask(fail)).toThrow('as it must');
  expect(process.umask()).toBe(umask);
});

it.runIf(process.platform === 'linux')(
  'a folder that the system refuses to make is an error, and not tried for ever',
  () => {
    expect(() => createPrivateFolder('/proc/mini-cc/deep/below')).toThrow(/ENOENT/);
    expect(() => createPrivateFolder('/dev/null/below')).toThrow(/ENOTDIR/);
  },
);
