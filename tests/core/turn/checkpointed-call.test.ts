/** The caller of tools keeps what is there before a call may change it. */

import {mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {beforeEach, describe, expect, it} from 'vitest';
import {runAgent} from '../../../src/core/agent-loop.ts';
import type {Checkpoints} from '../../../src/core/contract/checkpoints.ts';
import type {Access, Confinement} from '../../../src/core/contract/permission.ts';
import type {FileLedger} from '../../../src/core/contract/tool.ts';
import {makeReceipt} from '../../../src/core/runs/receipt.ts';
import {createFileLedger, WriteLog} from '../../../src/core/turn/file-ledger.ts';
import {RunAborted} from '../../../src/core/turn/run-ending.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {resultsIn, runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'kept-')));
});

/** Tells what it was asked, in order, and what the file held then. */
function recorded(changed: readonly string[] = [], uncounted?: string) {
  const steps: string[] = [];
  const checkpoints: Checkpoints = {
    beforeWrite: async ({label}, file) => void steps.push(`before ${label} ${path.relative(root, file)}`),
    afterWrite: async ({label}, file) => void steps.push(`after ${label} ${path.relative(root, file)}`),
    around: async ({label}, work) => {
      steps.push(`begin ${label}`);
      const value = await work();
      steps.push(`end ${label}`);
      return {value, changed, ...(uncounted === undefined ? {} : {uncounted})};
    },
  };
  return {steps, checkpoints};
}

function given(accesses: readonly Access[], kept: ReturnType<typeof recorded>, confinement: Confinement = 'none') {
  const run = () => {
    kept.steps.push('work');
    return textResult('done');
  };
  const work = tool('work', run, accesses);
  const model = new ScriptedModel([calls(call('work', {})), say('ok')]);
  const workspace = {root, extraRoots: [], cwd: root, confinement, env: {}};
  return runFixture(model, [work], {workspace, checkpoints: kept.checkpoints});
}

describe('what is kept around a call', () => {
  it('keeps the file that a link leads to, before the write and after it', async () => {
    writeFileSync(path.join(root, 'real.txt'), '1');
    symlinkSync('real.txt', path.join(root, 'link.txt'));
    const kept = recorded();
    await runAgent(given([{kind: 'write', path: path.join(root, 'link.txt')}], kept).run);
    expect(kept.steps).toEqual(['before [test] the task real.txt', 'work', 'after [test] the task real.txt']);
  });

  it('keeps the workspace around a command, and notes what it changed for the receipt', async () => {
    const kept = recorded([path.join(root, 'a.txt')]);
    const result = await runAgent(given([{kind: 'run', command: 'sed -i s/a/b/ a.txt'}], kept).run);
    expect(kept.steps).toEqual(['begin [test] the task', 'work', 'end [test] the task']);
    expect(makeReceipt(result, root).line).toContain('changed 1 file: a.txt');
    expect(makeReceipt(result, root).line).not.toContain('not counted');
  });

  it('names a file with a line break within the line of the receipt', async () => {
    const kept = recorded([path.join(root, 'a\nReceipt: 9 tools')]);
    const result = await runAgent(given([{kind: 'run', command: 'make'}], kept).run);
    expect(makeReceipt(result, root).line).toContain(String.raw`changed 1 file: "a\nReceipt: 9 tools" ·`);
  });

  it('says in the receipt that commands are not counted where there was no checkpoint, and why', async () => {
    const kept = recorded([], 'git is missing');
    const result = await runAgent(given([{kind: 'run', command: 'make'}], kept).run);
    expect(makeReceipt(result, root).line).toContain('what commands changed is not counted (git is missing)');
  });

  it('keeps nothing around what only reads, around commands of a read-only agent and in a worktree', async () => {
    const kept = recorded();
    await runAgent(given([{kind: 'read', path: root}], kept).run);
    await runAgent(given([{kind: 'run', command: 'ls'}], kept, 'read-only').run);
    await runAgent(given([{kind: 'run', command: 'make'}], kept, 'worktree').run);
    expect(kept.steps).toEqual(['work', 'work', 'work']);
  });

  it('does not write when what is there cannot be kept', async () => {
    const kept = recorded();
    const checkpoints = {...kept.checkpoints, beforeWrite: () => Promise.reject(new Error('the disk is full'))};
    const {run} = given([{kind: 'write', path: path.join(root, 'a.txt')}], {...kept, checkpoints});
    await runAgent(run);
    expect(kept.steps).toEqual([]);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('the disk is full'),
    });
  });

  it('ends with the result of a command when the checkpoint behind it takes too long', async () => {
    const kept = recorded();
    const checkpoints: Checkpoints = {
      ...kept.checkpoints,
      around: async (_by, work) => {
        await work();
        abort.abort(new RunAborted('stop'));
        return new Promise(() => undefined);
      },
    };
    const {run, abort} = given([{kind: 'run', command: 'make'}], {...kept, checkpoints});
    expect(await runAgent(run)).toMatchObject({outcome: 'stopped', tools: [{tool: 'work', isError: false}]});
  });

  it('never begins a command that was stopped while the checkpoint before it was taken', async () => {
    const kept = recorded();
    const checkpoints: Checkpoints = {
      ...kept.checkpoints,
      around: async (_by, work) => {
        abort.abort(new RunAborted('stop'));
        return {value: await work(), changed: []};
      },
    };
    const {run, abort} = given([{kind: 'run', command: 'make'}], {...kept, checkpoints});
    expect(await runAgent(run)).toMatchObject({outcome: 'stopped'});
    expect(kept.steps).toEqual([]);
  });
});

describe('who changed a file', () => {
  const read = (ledger: FileLedger, file: string) => ledger.sawRead(file, readFileSync(file));

  it('is the agent whose command did, for every other agent that has read it', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const [mine, theirs] = [createFileLedger(log, 'main'), createFileLedger(log, '[code] refactor auth')];
    read(mine, file);
    read(theirs, file);
    writeFileSync(file, 'two');
    await theirs.commandRan([file]);
    await expect(mine.assertFresh(file)).rejects.toThrow('changed since you read it (by [code] refactor auth)');
    await expect(theirs.assertFresh(file)).rejects.toThrow('(by a command of yours)');
  });

  it('is nobody of ours when no command did, and the command that did where there is no checkpoint either', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const mine = createFileLedger(log, 'main');
    read(mine, file);
    await mine.commandBegins()();
    writeFileSync(file, 'two');
    await expect(mine.assertFresh(file)).rejects.toThrow('changed since you read it (outside mini-cc)');
    const ended = createFileLedger(log, '[code] refactor auth').commandBegins();
    writeFileSync(file, 'three');
    await ended();
    await expect(mine.assertFresh(file)).rejects.toThrow('(by [code] refactor auth)');
  });

  it('is the agent whose tool wrote it, whatever command ran meanwhile', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const mine = createFileLedger(log, 'main');
    read(mine, file);
    const ended = createFileLedger(log, '[code] a').commandBegins();
    writeFileSync(file, 'two');
    createFileLedger(log, '[code] b').sawWrite(file, Buffer.from('two'));
    await ended();
    await expect(mine.assertFresh(file)).rejects.toThrow('(by [code] b)');
  });

  it('is either of two whose commands ran at the same time', async () => {
    const file = path.join(root, 'a.txt');
    writeFileSync(file, 'one');
    const log = new WriteLog();
    const mine = createFileLedger(log, 'main');
    read(mine, file);
    writeFileSync(file, 'two');
    await createFileLedger(log, '[code] a').commandRan([file]);
    await createFileLedger(log, '[code] b').commandRan([file]);
    await expect(mine.assertFresh(file)).rejects.toThrow('(by [code] a or [code] b)');
  });
});
