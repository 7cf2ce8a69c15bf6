/** The project's index as the start of a session's snapshots: what git knows need not be read, and nothing is missed. */
import {execFileSync} from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {copyIndex, readProjectIndex} from '../../../src/storage/trees/project-index.ts';
import {findRepository} from '../../../src/storage/trees/repository.ts';
import {Trees} from '../../../src/storage/trees/trees.ts';
import {workspace} from '../checkpoints/fixture.ts';

/** A repository of these files, all of them written a minute ago. */
function given(files: Readonly<Record<string, string>>, settings: readonly string[] = []) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-index-')));
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, stdio: 'pipe'}).toString();
  git('init', '-q');
  for (const setting of settings) git('config', ...setting.split('='));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), {recursive: true});
    writeFileSync(path.join(root, name), text);
    const then = Date.now() / 1000 - 60;
    utimesSync(path.join(root, name), then, then);
  }
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'all');
  const copy = async () => {
    const [index, options] = [path.join(root, '.git/copy'), {}];
    await copyIndex(path.join(root, '.git/index'), index);
    const found: string[] = [];
    for await (const entries of readProjectIndex({top: root, index}, () => true, options))
      found.push(...entries.map(({name, how}) => `${how} ${name}`));
    return found;
  };
  /** Captures all files, and then again. @returns the differences, and the final contents */
  const capture = async () => {
    const trees = await Trees.create(`${root}.git`, {top: root}, {from: await findRepository(root)});
    const {tree} = await trees.capture();
    const listed = await trees.diff(tree, (await new Trees(`${root}.git`, {top: root}).capture()).tree);
    const text = (name: string) =>
      execFileSync('git', ['cat-file', 'blob', `${tree}:${name}`], {
        env: {...process.env, GIT_DIR: `${root}.git`},
        stdio: 'pipe',
      }).toString();
    return {listed, text};
  };
  return {root, git, copy, capture};
}

it('knows the files that git knows, in each version of the format', async () => {
  const files = {
    'a.ts': 'a\n',
    'b/c.ts': 'c\n',
    'b/long-name-that-shares-its-start-1.ts': '1\n',
    'b/long-name-2.ts': '2\n',
  };
  for (const version of ['2', '3', '4']) {
    const {git, copy} = given(files);
    git('update-index', '--index-version', version);
    expect(await copy()).toEqual(
      Object.keys(files)
        .sort()
        .map((name) => `known ${name}`),
    );
  }
});

it('reads what may have changed without a trace, and what git was told not to look at', async () => {
  const {root, git, copy, capture} = given({'a.ts': 'a\n', 'b.ts': 'b\n', 'c.ts': 'c\n'});
  git('update-index', '--assume-unchanged', 'a.ts');
  git('update-index', '--skip-worktree', 'c.ts');
  const then = Date.now() / 1000 - 60;
  const write = (name: string, text: string) => {
    writeFileSync(path.join(root, name), text);
    utimesSync(path.join(root, name), then, then);
  };
  write('new.ts', 'n\n');
  git('add', 'new.ts');
  // The index is as old as the file.
  utimesSync(path.join(root, '.git/index'), then, then);
  write('new.ts', 'N\n');
  write('a.ts', 'A\n');
  expect(await copy()).toEqual(['read a.ts', 'read c.ts', 'known b.ts', 'known new.ts']);
  const {text} = await capture();
  expect(['a.ts', 'b.ts', 'new.ts'].map(text)).toEqual(['A\n', 'b\n', 'N\n']);
});

it('reads what git stores otherwise than it is: line ends, filters, ids, encodings', async () => {
  const attributes = '* text=auto\n*.id ident\n*.f filter=lfs\n*.bin binary\n';
  const files = {
    '.gitattributes': attributes,
    'lf.ts': 'a\n',
    'crlf.ts': 'a\r\n',
    'x.id': 'a\n',
    'x.f': 'a\n',
    'x.bin': 'a\r\n',
  };
  const all = ['known .gitattributes', 'read crlf.ts', 'known lf.ts', 'known x.bin', 'read x.f', 'read x.id'];
  expect(await given(files).copy()).toEqual(all);
  const windows = given({'lf.ts': 'a\n', 'crlf.ts': 'a\r\n'}, ['core.autocrlf=input']);
  expect(await windows.copy()).toEqual(['read crlf.ts', 'known lf.ts']);
});

it('knows what is converted in a workspace below the top, also where its name could be read as a pattern', async () => {
  const {root} = given({'.gitattributes': '*.id ident\n', ':part/x.id': 'a\n', 'a/x.id': 'a\n'});
  const found: string[] = [];
  const [index, isTaken] = [path.join(root, '.git/index'), ({name}: {name: Buffer}) => `${name}`.startsWith(':part/')];
  for await (const entries of readProjectIndex({top: root, index, within: ':part'}, isTaken, {}))
    found.push(...entries.map(({name, how}) => `${how} ${name}`));
  expect(found).toEqual(['removed .gitattributes', 'removed a/x.id', 'read :part/x.id']);
});

it('takes what it can of a split index, of one in the midst of a merge, and of none', async () => {
  const split = given({'a.ts': 'a\n'});
  split.git('update-index', '--split-index');
  expect((await split.capture()).text('a.ts')).toBe('a\n');
  const merged = given({'a.ts': 'a\n', 'theirs.ts': 'theirs\n'});
  const id = merged.git('rev-parse', 'HEAD:a.ts').trim();
  const line = (stage: number, name: string) => `100644 ${id} ${stage}\t${name}\n`;
  execFileSync('git', ['update-index', '--index-info'], {
    cwd: merged.root,
    input: [1, 2, 3].map((stage) => line(stage, 'a.ts')).join('') + line(3, 'theirs.ts') + line(3, 'gone.ts'),
  });
  const {text, listed} = await merged.capture();
  expect([text('a.ts'), text('theirs.ts'), listed]).toEqual(['a\n', 'theirs\n', []]);
  expect(() => text('gone.ts')).toThrow();
  const broken = given({'a.ts': 'a\n'});
  writeFileSync(path.join(broken.root, '.git/index'), 'no index');
  expect((await broken.capture()).text('a.ts')).toBe('a\n');
});

it('reads a large index some thousand entries at a time, and never parts the entries of one file', async () => {
  const {root, git} = given({'a.ts': 'a\n'});
  const id = git('rev-parse', 'HEAD:a.ts').trim();
  const COUNT = 25_000;
  const input = Array.from({length: COUNT}, (_, file) =>
    [1, 2, 3].map((stage) => `100644 ${id} ${stage}\tf${`${file}`.padStart(5, '0')}\n`).join(''),
  ).join('');
  execFileSync('git', ['update-index', '--index-info'], {cwd: root, input});
  const sizes: number[] = [];
  const seen = new Map<string, number>();
  for await (const entries of readProjectIndex({top: root, index: path.join(root, '.git/index')}, () => true, {})) {
    sizes.push(entries.length);
    for (const name of new Set(entries.map((entry) => `${entry.name}`))) seen.set(name, (seen.get(name) ?? 0) + 1);
    const kinds = entries.map(({how}) => how);
    expect(kinds.lastIndexOf('removed')).toBeLessThan(kinds.indexOf('read'));
  }
  expect(Math.max(...sizes)).toBeLessThan(10_010);
  expect(seen.size).toBe(COUNT + 1);
  expect([...seen.values()].every((times) => times === 1)).toBe(true);
});

it('begins anew when mini-cc was killed before the copy was complete', async () => {
  const {root, git, capture} = given({'.gitattributes': '*.id ident\n', 'x.id': '$Id$\n'});
  mkdirSync(`${root}.git`);
  for (const name of ['index.draft', 'index.draft.lock'])
    copyFileSync(path.join(root, '.git/index'), `${root}.git/${name}`);
  rmSync(path.join(root, 'x.id'));
  git('checkout-index', 'x.id');
  const {text} = await capture();
  expect(text('x.id')).toMatch(/^\$Id: \w{40} \$\n$/);
});

it('an undo brings back the bytes of files that git stores otherwise', async () => {
  const files = {
    '.gitattributes': '* text=auto\n*.id ident\n',
    'crlf.ts': 'a\r\n',
    'plain.ts': 'a\n',
    'x.id': '$Id: mine $\n',
  };
  const {at, run, command, undo, reasons} = workspace(files, {git: false});
  const names = Object.keys(files).sort();
  run(`touch -d '1 minute ago' ${names.join(' ')}; git init -q; git add -A`);
  run('git -c user.name=a -c user.email=a@b commit -qm x; git update-index --assume-unchanged x.id');
  expect(await command(`for each in ${names.join(' ')}; do echo changed > $each; done`)).toEqual(names);
  expect(await undo()).toEqual(Object.fromEntries(names.map((name) => [name, 'put back'])));
  for (const name of names) expect(readFileSync(at(name), 'utf8')).toBe(files[name as keyof typeof files]);
  expect(reasons).toEqual([]);
});
