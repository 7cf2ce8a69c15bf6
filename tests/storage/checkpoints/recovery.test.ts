import {appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {createChangedFiles} from '../../../src/storage/checkpoints/changed-files.ts';
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
      void store.around(CODE, async (saved) => {
        await saved;
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

describe('a restore that was cut off', () => {
  const points = [{at: 9}, {at: 5}].map((each) => ({...each, uuid: '', text: '', dropped: 0}));
  const setUp = async () => {
    const made = workspace({'a.txt': '1', 'b.txt': '1'});
    for (const name of ['a.txt', 'b.txt']) await made.write(name, '2');
    const open = () => {
      const store = made.open();
      return createChangedFiles({
        root: made.root,
        checkpoints: () => store.current,
        openCheckpoints: () => store.openOther(''),
        formatPatch: () => '',
        onRestored: async () => undefined,
      });
    };
    return {...made, open};
  };
  const cut = () => {
    throw new Error('killed here');
  };

  it('is said at each start, with the command that finishes it, until it is finished', async () => {
    const {open} = await setUp();
    expect(open().describeCutOff(() => points)).toBeUndefined();
    await expect(open().rewind(5, {finish: cut})).rejects.toThrow('killed here');
    const said = 'A rewind of 2 files was cut off when mini-cc ended: /rewind 2 both finishes it.';
    expect(open().describeCutOff(() => points)).toBe(said);
    expect(open().describeCutOff(() => points)).toBe(said);
    expect(open().describeCutOff(() => [])).toBeUndefined();
    await open().rewind(5, {finish: () => undefined});
    expect(open().describeCutOff(() => points)).toBeUndefined();
  });

  it('names an undo by what the person typed', async () => {
    const {home, open} = await setUp();
    await open().undo(CODE.agentId);
    const file = path.join(home, 'session', 'checkpoints', 'changes.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, `${lines.slice(0, -1).join('\n')}\n`);
    expect(open().describeCutOff(() => points)).toBe(
      'An undo of 2 files was cut off when mini-cc ended: /subagents undo run-1 finishes it.',
    );
    await open().undoAll([CODE.agentId], '/fanout undo');
    expect(open().describeCutOff(() => points)).toBeUndefined();
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
