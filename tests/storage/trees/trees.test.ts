/** Trees of a folder: what a capture takes and reads, and that a checkout of it has the same files. */
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
import {expect, it, onTestFinished} from 'vitest';
import {findRepository} from '../../../src/storage/trees/repository.ts';
import {Trees} from '../../../src/storage/trees/trees.ts';

/** Names, modes and contents of all files. */
function read(folder: string): [string, number, string][] {
  const entries = readdirSync(folder, {recursive: true, withFileTypes: true});
  return entries
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !/^\.git(\/|$)/.test(name) && !lstatSync(path.join(folder, name)).isDirectory())
    .sort()
    .map((name) => [name, lstatSync(path.join(folder, name)).mode, readFileSync(path.join(folder, name), 'utf8')]);
}

/** A repository of these files, which were committed a minute ago. */
function given(files: Readonly<Record<string, string>>) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-trees-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const [top, gitDir, copy] = ['top', 'trees.git', 'copy'].map((name) => path.join(base, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(top);
  mkdirSync(copy);
  const then = Date.now() / 1000 - 60;
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(top, name)), {recursive: true});
    writeFileSync(path.join(top, name), text);
    utimesSync(path.join(top, name), then, then);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const git = (...args: string[]) => execFileSync('git', args, {cwd: top, stdio: 'pipe'}).toString();
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'all');
  const create = async (without: readonly string[] = []) =>
    Trees.create(gitDir, {top}, {from: await findRepository(top), without});
  return {top, gitDir, copy, then, write, git, create};
}

it('a checkout has the bytes of the files as they are, whatever git would convert, and no hidden one', async () => {
  const attributes = 'crlf.txt text eol=crlf\n*.id ident\n';
  const plain = ['a.ts', 'changed.ts', 'same-size.ts', 'src/ü.ts', 'gone.ts', 'hidden.ts'];
  const files = Object.fromEntries(plain.map((name) => [name, `${name}\n`]));
  const {top, copy, gitDir, then, write, create} = given({
    ...files,
    '.gitattributes': attributes,
    'crlf.txt': 'x\r\n',
    'x.id': '$Id$\n',
    'run.sh': '#!/bin/sh\n',
  });
  chmodSync(path.join(top, 'run.sh'), 0o755);
  symlinkSync('a.ts', path.join(top, 'link'));
  lutimesSync(path.join(top, 'link'), then, then);
  write('changed.ts', 'other\n');
  // Of the same size.
  writeFileSync(path.join(top, 'same-size.ts'), 'SAME-size.ts\n');
  write('new.ts', 'new\n');
  rmSync(path.join(top, 'gone.ts'));
  const without = [path.join(top, 'hidden.ts')];
  const {tree, leftOut} = await (await create(without)).capture({without});
  const copied = new Trees(gitDir, {top: copy});
  await copied.checkOut();
  expect(read(copy)).toEqual(read(top).filter(([name]) => name !== 'hidden.ts'));
  expect(leftOut).toEqual([]);
  // The copy is what was captured.
  expect((await copied.capture()).tree).toBe(tree);
});

it('a capture says which files it took up or removed, and which it left out and why', async () => {
  const {top, write, create} = given({'a.ts': 'a\n', 'gone.ts': 'gone\n', 'same.ts': 'same\n'});
  const trees = await create();
  expect(await trees.capture()).toMatchObject({touched: new Map(), leftOut: []});
  writeFileSync(path.join(top, 'a.ts'), 'A\n');
  write('private.ts', 'p\n');
  chmodSync(path.join(top, 'private.ts'), 0o600);
  rmSync(path.join(top, 'gone.ts'));
  execFileSync('git', ['init', '-q', path.join(top, 'nested')]);
  write('git~1', 'refused\n');
  symlinkSync('a.ts', path.join(top, '.gitmodules'));
  const {touched, leftOut} = await trees.capture();
  expect(touched.get('private.ts')).toBe(0o600);
  expect([...touched.keys()].sort()).toEqual(['.gitmodules', 'a.ts', 'gone.ts', 'private.ts']);
  expect(leftOut.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
    {name: '.gitmodules', why: 'git refuses its name'},
    {name: 'git~1', why: 'git refuses its name'},
    {name: 'nested/', why: 'it is a git repository of its own'},
  ]);
});

it('ignored files are taken where they are named, from then on', async () => {
  const {top, write, create} = given({'.gitignore': 'ignored/\n'});
  write('ignored/a', 'a\n');
  write('ignored/b', 'b\n');
  const trees = await create();
  const before = await trees.capture();
  expect(await trees.listIgnored()).toEqual(['ignored/']);
  const after = await trees.capture({with: ['ignored/a']});
  expect((await trees.diff(before.tree, after.tree)).map((change) => change.path)).toEqual(['ignored/a']);
  expect(await trees.listIgnored()).toEqual(['ignored/b']);
  writeFileSync(path.join(top, 'ignored/a'), 'A, again\n');
  expect((await trees.capture()).tree).not.toBe(after.tree);
});

it('a patch and a part of the changes lead from one tree to the other', async () => {
  const {top, write, create} = given({'a.ts': 'a\n', 'b.ts': 'b\n'});
  const trees = await create();
  const start = (await trees.capture()).tree;
  writeFileSync(path.join(top, 'a.ts'), 'A\n');
  write('new/c.bin', '\0\u0001');
  rmSync(path.join(top, 'b.ts'));
  const end = (await trees.capture()).tree;
  const patch = await trees.readPatch(start, end);
  expect(await trees.patched(start, patch)).toBe(end);
  expect(await trees.patched(undefined, await trees.readPatch(undefined, end))).toBe(end);
  expect(await trees.patched(start, Buffer.alloc(0))).toBe(start);
  const changes = await trees.diff(start, end);
  expect(changes.map((change) => change.path)).toEqual(['a.ts', 'b.ts', 'new/c.bin']);
  expect(await trees.changed(start, changes)).toBe(end);
  const part = await trees.changed(start, [changes[0]!]);
  expect((await trees.diff(start, part)).map((change) => change.path)).toEqual(['a.ts']);
  await expect(trees.patched(end, patch)).rejects.toThrow('a.ts');
  const id = await trees.store(Buffer.from('A\n'));
  expect([id, `${(await trees.contents([id])).get(id)}`]).toEqual([changes[0]!.newId, 'A\n']);
  // None of that disturbed the next capture, and nothing is left of it.
  expect((await trees.capture()).tree).toBe(end);
  expect(readdirSync(path.dirname(trees.index)).filter((name) => name.startsWith('scratch'))).toEqual([]);
});

it('a patch that names a size without an end is refused before it takes the memory', async () => {
  const trees = await given({'a.ts': 'one\n'}).create();
  const {tree} = await trees.capture();
  const head = `diff --git a/b b/b\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'1'.repeat(40)}\nGIT binary patch\n`;
  const bomb = Buffer.from(`${head}literal 3000000000\nHcmV?d00001\n\nliteral 0\nHcmV?d00001\n\n`);
  await expect(trees.patched(tree, bomb)).rejects.toThrow(/Out of memory/);
});
