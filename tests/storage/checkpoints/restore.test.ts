import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {CODE, OTHER, workspace} from './fixture.ts';

describe('undo of tool writes', () => {
  it('restores edited files and removes created ones, with their folders', async () => {
    const {write, undo, at} = workspace({'a.txt': 'one'});
    await write('a.txt', 'two');
    await write('a.txt', 'three');
    await write('new/deep/b.txt', 'b');
    expect(await undo()).toEqual({'a.txt': 'put back', 'new/deep/b.txt': 'removed'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('one');
    expect(existsSync(at('new'))).toBe(false);
  });

  it('keeps a created folder that contains other files now', async () => {
    const {write, undo, at, put} = workspace();
    await write('new/b.txt', 'b');
    put('new/mine.txt', 'mine');
    expect(await undo()).toEqual({'new/b.txt': 'removed'});
    expect(readFileSync(at('new/mine.txt'), 'utf8')).toBe('mine');
  });

  it('leaves a file that was changed since, and names who changed it', async () => {
    const {write, undo, at, put, command} = workspace({'a.txt': '1', 'b.txt': '1', 'c.txt': '1', 'd.txt': '1'});
    for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) await write(name, '2');
    await write('a.txt', '3', OTHER);
    await command('echo 3 > b.txt', OTHER);
    put('c.txt', 'a person');
    expect(await undo()).toEqual({
      'a.txt': 'changed since by [code] other',
      'b.txt': 'changed since by [code] other',
      'c.txt': 'changed since outside mini-cc',
      'd.txt': 'put back',
    });
    expect(['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((name) => readFileSync(at(name), 'utf8'))).toEqual([
      ...['3', '3\n', 'a person', '1'],
    ]);
  });

  it('leaves a file that was changed by others between two changes of the run', async () => {
    const {write, undo, at, put} = workspace({'a.txt': '1', 'b.txt': '1'});
    await write('a.txt', '2');
    await write('a.txt', '3', OTHER);
    await write('a.txt', '4');
    await write('b.txt', '2');
    put('b.txt', 'a person');
    await write('b.txt', '4');
    expect(await undo()).toEqual({
      'a.txt': 'changed in between by [code] other',
      'b.txt': 'changed in between outside mini-cc',
    });
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('4');
  });

  it('restores a file of the run after the later change of another run was undone', async () => {
    const {write, undo, at} = workspace({'a.txt': '1'});
    await write('a.txt', '2');
    await write('a.txt', '3', OTHER);
    expect(await undo(OTHER)).toEqual({'a.txt': 'put back'});
    expect(await undo(CODE)).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('1');
  });

  it('does nothing the second time, and works again for later changes of the run', async () => {
    const {write, undo, at} = workspace({'a.txt': '1'});
    await write('a.txt', '2');
    await undo();
    expect(await undo()).toEqual({});
    await write('a.txt', '3');
    expect(await undo()).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('1');
  });

  it('works in another process that continues the session', async () => {
    const {write, undo, at, open} = workspace({'a.txt': '1'});
    await write('a.txt', '2');
    expect(await undo(CODE, open())).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('1');
  });

  it('works outside of the workspace and without git', async () => {
    const {write, undo, base} = workspace({}, {git: false});
    writeFileSync(path.join(base, 'outside.txt'), '1');
    await write('../outside.txt', '2');
    expect(await undo()).toEqual({'../outside.txt': 'put back'});
    expect(readFileSync(path.join(base, 'outside.txt'), 'utf8')).toBe('1');
  });

  it('restores bytes and permissions', async () => {
    const {write, undo, at, put} = workspace();
    const bytes = Buffer.from([0, 255, 13, 10, 0]);
    put('bin', bytes);
    chmodSync(at('bin'), 0o640);
    await write('bin', 'text');
    await undo();
    expect(readFileSync(at('bin'))).toEqual(bytes);
    expect(statSync(at('bin')).mode & 0o777).toBe(0o640);
  });

  it('does not follow a folder that was replaced by a link', async () => {
    const {write, undo, at, base} = workspace({'lib/a.txt': '1'});
    await write('lib/a.txt', '2');
    const elsewhere = path.join(base, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'a.txt'), '2');
    renameSync(at('lib'), at('moved'));
    symlinkSync(elsewhere, at('lib'));
    expect(await undo()).toEqual({'lib/a.txt': expect.stringContaining('is a link now')});
    expect(readFileSync(path.join(elsewhere, 'a.txt'), 'utf8')).toBe('2');
  });

  it('leaves a link that replaced the file', async () => {
    const {write, undo, at, base, run} = workspace({'a.txt': '1'});
    await write('a.txt', '2');
    writeFileSync(path.join(base, 'secret'), '2');
    run('ln -sf ../secret a.txt');
    expect(await undo()).toEqual({'a.txt': 'changed since outside mini-cc'});
    expect(readFileSync(path.join(base, 'secret'), 'utf8')).toBe('2');
    expect(lstatSync(at('a.txt')).isSymbolicLink()).toBe(true);
  });
});

describe('undo of commands', () => {
  it('undoes edits, deletions, new files, modes and links', async () => {
    const {command, undo, at, run} = workspace({
      'a.txt': 'one\n',
      'b.txt': 'b',
      'dir/c.txt': 'c',
      'run.sh': '#!/bin/sh',
    });
    run('ln -s a.txt link');
    const line =
      'sed -i s/one/two/ a.txt; rm -r dir b.txt; chmod +x run.sh; mkdir -p x/y; echo n > x/y/n; ln -sfn b.txt link';
    expect(await command(line)).toEqual(['a.txt', 'b.txt', 'dir/c.txt', 'link', 'run.sh', 'x/y/n']);
    expect(await undo()).toEqual({
      'a.txt': 'put back',
      'b.txt': 'brought back',
      'dir/c.txt': 'brought back',
      link: 'put back',
      'run.sh': 'put back',
      'x/y/n': 'removed',
    });
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(at('dir/c.txt'), 'utf8')).toBe('c');
    expect(readlinkSync(at('link'))).toBe('a.txt');
    expect(statSync(at('run.sh')).mode & 0o111).toBe(0);
    expect(existsSync(at('x'))).toBe(false);
  });

  it('restores a folder that became a file, and a file that became a folder', async () => {
    const {command, undo, at} = workspace({'dir/c.txt': 'c', file: 'f'});
    await command('rm -r dir; echo now > dir; rm file; mkdir file; echo in > file/x');
    expect(await undo()).toMatchObject({
      dir: 'removed',
      'dir/c.txt': 'brought back',
      'file/x': 'removed',
      file: 'brought back',
    });
    expect(readFileSync(at('dir/c.txt'), 'utf8')).toBe('c');
    expect(readFileSync(at('file'), 'utf8')).toBe('f');
  });

  it('undoes edits of tools and commands in one file together', async () => {
    const {command, write, undo, at} = workspace({'a.txt': 'one\n'});
    await write('a.txt', 'two\n');
    await command('sed -i s/two/three/ a.txt');
    await write('a.txt', 'four\n');
    expect(await undo()).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\n');
  });

  it('restores uncommitted and untracked contents, not those of git', async () => {
    const {command, undo, at, put} = workspace({'a.txt': 'committed'});
    put('a.txt', 'not committed');
    put('untracked.txt', 'mine');
    await command('git checkout -q -- a.txt; git clean -fdq');
    expect(await undo()).toEqual({'a.txt': 'put back', 'untracked.txt': 'brought back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('not committed');
    expect(readFileSync(at('untracked.txt'), 'utf8')).toBe('mine');
  });

  it('leaves a file that a command of another run may have changed at the same time', async () => {
    const {store, run, undo, at} = workspace({'a.txt': '1', 'b.txt': '1', 'c.txt': '1'});
    const {compared} = await store.around(CODE, async (saved) => {
      await saved;
      run('echo 2 > a.txt');
      await (await store.around(OTHER, (saved) => saved.then(() => run('echo 2 > b.txt')))).compared;
      run('echo 2 > c.txt');
    });
    const {changed, shared} = await compared;
    expect(changed.toSorted()).toEqual([at('a.txt'), at('b.txt'), at('c.txt')]);
    expect(shared).toEqual([at('b.txt')]);
    expect(await undo()).toEqual({
      'a.txt': 'put back',
      'b.txt': 'shared: [code] refactor auth and [code] other ran commands at the same time',
      'c.txt': 'put back',
    });
    expect(readFileSync(at('b.txt'), 'utf8')).toBe('2\n');
  });

  it('does not attribute to a command a file that was created and removed again, nor one that a tool of another run wrote', async () => {
    const {store, run, write, at} = workspace({'a.txt': '1'});
    const {compared} = await store.around(CODE, async (saved) => {
      await saved;
      run('touch placeholder');
      await (await store.around(OTHER, (saved) => saved.then(() => run('echo 2 > a.txt')))).compared;
      run('rm placeholder');
      await write('new.txt', '1', OTHER);
      await write('new.txt', '2', OTHER);
    });
    expect((await compared).changed).toEqual([at('a.txt')]);
  });

  it('does not attribute to a command an edit that a tool of another run made meanwhile', async () => {
    const {store, write, undo, at, run} = workspace({'a.txt': '1', 'b.txt': '1'});
    const {compared} = await store.around(CODE, async (saved) => {
      await saved;
      await write('a.txt', '2', OTHER);
      run('echo 2 > b.txt');
    });
    expect((await compared).changed).toEqual([at('b.txt')]);
    expect(await undo()).toEqual({'b.txt': 'put back'});
    expect(await undo(OTHER)).toEqual({'a.txt': 'put back'});
  });
});
