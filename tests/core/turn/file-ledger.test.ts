import {mkdtempSync, readFileSync, realpathSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {beforeEach, describe, expect, it} from 'vitest';
import type {FileLedger} from '../../../src/core/contract/tool.ts';
import {createFileLedger, WriteLog} from '../../../src/core/turn/file-ledger.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-ledger-')));
});

describe('the error for a stale file', () => {
  const read = (ledger: FileLedger, file: string) => ledger.recordRead(file, readFileSync(file));

  it('names the agent whose command changed the file', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const [mine, theirs] = [createFileLedger(log, 'main'), createFileLedger(log, '[code] refactor auth')];
    read(mine, file);
    read(theirs, file);
    writeFileSync(file, 'two');
    await theirs.recordCommandWrites([file]);
    expect(() => mine.assertFresh(file, readFileSync(file))).toThrow(
      'changed since you read it (by [code] refactor auth)',
    );
    expect(() => theirs.assertFresh(file, readFileSync(file))).toThrow('(by a command of yours)');
  });

  it('names no agent when none was at work, and the agent whose command was at work', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const mine = createFileLedger(log, 'main');
    read(mine, file);
    await mine.beginCommand()();
    writeFileSync(file, 'two');
    expect(() => mine.assertFresh(file, readFileSync(file))).toThrow('changed since you read it (outside mini-cc)');
    const ended = createFileLedger(log, '[code] refactor auth').beginCommand();
    writeFileSync(file, 'three');
    await ended();
    expect(() => mine.assertFresh(file, readFileSync(file))).toThrow('(by [code] refactor auth)');
  });

  it('names the agent whose tool wrote the file, even if a command ran at the same time', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const mine = createFileLedger(log, 'main');
    read(mine, file);
    const ended = createFileLedger(log, '[code] a').beginCommand();
    writeFileSync(file, 'two');
    createFileLedger(log, '[code] b').recordWrite(file, Buffer.from('two'));
    await ended();
    expect(() => mine.assertFresh(file, readFileSync(file))).toThrow('(by [code] b)');
  });

  it('names both agents when two commands ran at the same time', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const mine = createFileLedger(log, 'main');
    read(mine, file);
    writeFileSync(file, 'two');
    await createFileLedger(log, '[code] a').recordCommandWrites([file]);
    await createFileLedger(log, '[code] b').recordCommandWrites([file]);
    expect(() => mine.assertFresh(file, readFileSync(file))).toThrow('(by [code] a or [code] b)');
  });
});
