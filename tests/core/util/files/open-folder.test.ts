import {execFileSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {beforeEach, describe, expect, it} from 'vitest';
import {OpenFolder, openRegularFile} from '../../../../src/core/util/files/open-folder.ts';
import {writeWholeIn} from '../../../../src/core/util/files/whole-file.ts';

let root = '';
const at = (name: string) => path.join(root, name);

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-open-')));
  mkdirSync(at('a/b'), {recursive: true});
  writeFileSync(at('a/file'), 'text');
  symlinkSync('a', at('link'));
});

const code = (work: Promise<unknown>) => work.then(String, (error: {code: string}) => error.code);

describe.skipIf(process.platform !== 'linux')('a folder that is held open', () => {
  it('stays the folder that it was when a link takes its place', async () => {
    const folder = await OpenFolder.open(at('a'));
    renameSync(at('a'), at('moved'));
    symlinkSync('moved/b', at('a'));
    expect(await folder.use('file', (file) => readFile(file, 'utf8'))).toBe('text');
    await writeWholeIn(folder, 'new', 'one');
    expect(readdirSync(at('moved')).toSorted()).toEqual(['b', 'file', 'new']);
    await folder.close();
    expect(await code(OpenFolder.open(at('a'), {create: true}))).toBe('LINK');
  });

  it('is not opened through a link, nor where there is none', async () => {
    expect(await code(OpenFolder.open(at('link/b')))).toBe('LINK');
    expect(await code(OpenFolder.open(at('a/file')))).toBe('ENOTDIR');
    expect(await code(OpenFolder.open(at('no/b')))).toBe('ENOENT');
    expect(existsSync(at('no'))).toBe(false);
  });

  it('is created with those above it where that is asked for, in the mode that is asked for', async () => {
    const folder = await OpenFolder.open(at('a/c/d'), {create: true, mode: 0o700});
    expect(folder.path).toBe(at('a/c/d'));
    expect(['a/c', 'a/c/d'].map((name) => statSync(at(name)).mode & 0o777)).toEqual([0o700, 0o700]);
    await folder.close();
    expect(await code(OpenFolder.open(at('link/c'), {create: true}))).toBe('LINK');
  });

  it('is created once, by all that ask for it at the same time', async () => {
    const folders = await Promise.all(Array.from({length: 8}, () => OpenFolder.open(at('x/y'), {create: true})));
    await Promise.all(folders.map((folder) => folder.close()));
    expect(existsSync(at('x/y'))).toBe(true);
  });

  it('names its real path in errors', async () => {
    const folder = await OpenFolder.open(at('a'));
    await expect(folder.use('no', (file) => readFile(file))).rejects.toThrow(`'${at('a/no')}'`);
    await expect(folder.assertNoLink('file')).resolves.toBeUndefined();
    await folder.close();
  });
});

describe('a regular file of an open folder', () => {
  it('is opened, and nothing else is', async () => {
    symlinkSync('file', at('a/to-file'));
    execFileSync('mkfifo', [at('a/pipe')]);
    const folder = await OpenFolder.open(at('a'));
    const handle = await openRegularFile(folder, 'file');
    expect(await handle?.readFile('utf8')).toBe('text');
    await handle?.close();
    expect(await openRegularFile(folder, 'no')).toBeUndefined();
    expect(await Promise.all(['b', 'pipe', 'to-file'].map((name) => code(openRegularFile(folder, name))))).toEqual([
      'DIRECTORY',
      'NOT_A_FILE',
      'LINK',
    ]);
    await folder.close();
  });
});
