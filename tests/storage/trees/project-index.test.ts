/** The project's index as the start of a session's snapshots: what git knows need not be read, and nothing is missed. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, realpathSync, utimesSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {getSize} from '../../../src/storage/trees/git-index.ts';
import {readProjectIndex} from '../../../src/storage/trees/project-index.ts';
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
  const copy = async (folder = root) => {
    const index = await readProjectIndex({root: folder, top: root, limitMs: 10_000});
    return index?.map((entry) => `${getSize(entry) > 0 ? 'known' : 'read'} ${entry.name}`);
  };
  return {root, git, copy};
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
  const {root, copy} = given(files);
  expect(await copy(path.join(root, 'b'))).toHaveLength(3);
});

it('reads what may have changed without a trace, and what git was told not to look at', async () => {
  const {root, git, copy} = given({'a.ts': 'a\n', 'b.ts': 'b\n', 'c.ts': 'c\n'});
  git('update-index', '--assume-unchanged', 'a.ts');
  writeFileSync(path.join(root, 'new.ts'), 'n\n');
  // As new as the index, however long git takes.
  utimesSync(path.join(root, 'new.ts'), Date.now() / 1000, Date.now() / 1000 + 60);
  git('add', 'new.ts');
  git('update-index', '--skip-worktree', 'c.ts');
  expect(await copy()).toEqual(['read a.ts', 'known b.ts', 'read c.ts', 'read new.ts']);
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

it('leaves a split index, and one in the midst of a merge, to git', async () => {
  const split = given({'a.ts': 'a\n'});
  split.git('update-index', '--split-index');
  expect(await split.copy()).toBeUndefined();
  const merged = given({'a.ts': 'a\n'});
  const id = merged.git('rev-parse', 'HEAD:a.ts').trim();
  execFileSync('git', ['update-index', '--index-info'], {
    cwd: merged.root,
    input: `0 ${'0'.repeat(40)}\ta.ts\n100644 ${id} 1\ta.ts\n100644 ${id} 2\ta.ts\n`,
  });
  expect(await merged.copy()).toBeUndefined();
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
