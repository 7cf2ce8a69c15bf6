/** Copies of a checkout: which files git writes, and that all are as they are there. */
import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {openRepository, readCopiedSettings} from '../../../src/storage/trees/repository.ts';
import {TreeSnapshots} from '../../../src/storage/trees/trees.ts';
import {copyFiles} from '../../../src/storage/worktrees/copy-files.ts';

/** Names, modes and contents of all files. */
function read(folder: string): [string, number, string][] {
  const entries = readdirSync(folder, {recursive: true, withFileTypes: true});
  return entries
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !/^\.git(\/|$)/.test(name) && !lstatSync(path.join(folder, name)).isDirectory())
    .sort()
    .map((name) => [name, lstatSync(path.join(folder, name)).mode, readFileSync(path.join(folder, name), 'utf8')]);
}

it('lets git write what it has stored and nobody changed, and copies the rest', async () => {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-copy-')));
  const top = path.join(base, 'top');
  mkdirSync(path.join(top, 'src'), {recursive: true});
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, {cwd, stdio: 'pipe'}).toString();
  const then = Date.now() / 1000 - 60;
  const write = (name: string, text: string) => {
    writeFileSync(path.join(top, name), text);
    utimesSync(path.join(top, name), then, then);
  };
  git(top, 'init', '-q');
  for (const name of ['a.ts', 'changed.ts', 'same-size.ts', 'src/ü.ts', 'crlf.txt', 'gone.ts', 'hidden.ts'])
    write(name, `${name}\n`);
  write('run.sh', '#!/bin/sh\n');
  chmodSync(path.join(top, 'run.sh'), 0o755);
  symlinkSync('a.ts', path.join(top, 'link'));
  lutimesSync(path.join(top, 'link'), then, then);
  write('.gitattributes', 'crlf.txt text eol=crlf\n');
  write('crlf.txt', 'x\r\n');
  // Of few files none is worth asking git.
  mkdirSync(path.join(top, 'many'));
  for (let index = 0; index < 1000; index += 1) write(`many/${index}.ts`, `${index}\n`);
  git(top, 'add', '-A');
  git(top, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'all');
  write('changed.ts', 'other\n');
  // The same size and the same time of change: the time of the inode tells.
  write('same-size.ts', 'SAME-size.ts\n');
  write('new.ts', 'new\n');
  execFileSync('rm', [path.join(top, 'gone.ts')]);
  const signal = new AbortController().signal;
  const repository = await openRepository(top, signal);
  const settings = await readCopiedSettings(repository, signal);
  const copy = async (name: string, spoil: (gitDir: string) => void = () => undefined) => {
    const [to, gitDir] = [path.join(base, name), path.join(base, `${name}.git`)];
    mkdirSync(to);
    const snapshots = await TreeSnapshots.create(gitDir, to, repository, settings);
    spoil(gitDir);
    let names: string[] = [];
    await copyFiles(
      repository,
      to,
      [path.join(top, 'hidden.ts')],
      (entries) => {
        names = entries.map((entry) => entry.name.toString());
        return snapshots.writeStored(entries, signal);
      },
      signal,
    );
    return {names, files: read(to)};
  };
  const copied = await copy('copy');
  expect(copied.names.filter((name) => !name.startsWith('many/'))).toEqual([
    '.gitattributes',
    'a.ts',
    'link',
    'run.sh',
    'src/ü.ts',
  ]);
  const wanted = read(top).filter(([name]) => name !== 'hidden.ts');
  expect(copied.files).toEqual(wanted);
  // Also where git cannot write them, since their contents are not there.
  const withoutObjects = (gitDir: string) => rmSync(path.join(gitDir, 'objects/info/alternates'));
  expect((await copy('without-git', withoutObjects)).files).toEqual(wanted);
});
