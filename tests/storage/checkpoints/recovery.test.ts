import {appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {CODE, workspace} from './fixture.ts';

describe('after a crash', () => {
  it('the next start can undo a write that was under way', async () => {
    const {store, undo, at, put, open} = workspace({'a.txt': 'precious'});
    await store.beforeWrite(CODE, at('a.txt'));
    put('a.txt', 'half done');
    expect(await undo(CODE, open())).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('precious');
  });

  it('the next start can undo a command that was under way', async () => {
    const {store, undo, at, run, open} = workspace({'a.txt': 'precious', 'b.txt': 'b'});
    const begun = new Promise<void>((resolve) => {
      void store.around(CODE, async () => {
        run('echo half done > a.txt; mkdir d; echo n > d/new.txt');
        resolve();
        return new Promise(() => undefined);
      });
    });
    await begun;
    expect(await undo(CODE, open())).toEqual({'a.txt': 'put back', 'd/new.txt': 'removed'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('precious');
    expect(existsSync(at('d'))).toBe(false);
  });

  it('a torn last line of the ledger is skipped, and the next line does not continue it', async () => {
    const {write, undo, home, open} = workspace({'a.txt': '1', 'b.txt': '1'});
    await write('a.txt', '2');
    const ledger = path.join(home, 'session', 'checkpoints', 'changes.jsonl');
    appendFileSync(ledger, '{"type":"writing","at":1,"by"');
    const next = open();
    await write('b.txt', '2', CODE, next);
    expect(await undo(CODE, open())).toEqual({'a.txt': 'put back', 'b.txt': 'put back'});
  });
});

describe('the checkpoints folder', () => {
  it('and everything in it can be read by the user alone', async () => {
    const {write, command, home} = workspace({'a.txt': '1', 'dir/b.txt': '1'});
    await write('a.txt', '2');
    await command('echo 3 > dir/b.txt; echo n > dir/n.txt');
    const folder = path.join(home, 'session', 'checkpoints');
    const all = ['.', ...readdirSync(folder, {recursive: true, encoding: 'utf8'})];
    const open = all.filter((name) => (statSync(path.join(folder, name)).mode & 0o077) !== 0);
    expect(all.length).toBeGreaterThan(10);
    expect(open).toEqual([]);
  });

  it('is created with the first change', async () => {
    const {store, home, undo} = workspace({'a.txt': '1'});
    expect(store.current.ledger.changes).toEqual([]);
    expect(await undo()).toEqual({});
    expect(existsSync(home)).toBe(false);
  });

  it('of a newer mini-cc is left alone: there are no checkpoints then, and a notice says why', async () => {
    const {home, command, reasons, store} = workspace({'a.txt': '1'});
    const folder = path.join(home, 'session', 'checkpoints');
    mkdirSync(folder, {recursive: true});
    const newer = '{"type":"checkpoints","version":99,"at":1}\n';
    writeFileSync(path.join(folder, 'changes.jsonl'), newer);
    expect(await command('echo 2 > a.txt')).toBe('no checkpoints are kept here');
    expect(reasons[0]).toContain('format 99');
    expect(() => store.current).toThrow('was written by a newer mini-cc');
    expect(readFileSync(path.join(folder, 'changes.jsonl'), 'utf8')).toBe(newer);
  });
});
