/** Checkpoints around the calls of tools: when they are taken, and what the receipt says of them. */

import {mkdtempSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setImmediate as nextTick} from 'node:timers/promises';
import {beforeEach, describe, expect, it, vi} from 'vitest';
import {runAgent} from '../../../src/core/agent-loop.ts';
import type {Checkpoints} from '../../../src/core/contract/checkpoints.ts';
import type {Access, Confinement} from '../../../src/core/contract/permission.ts';
import type {ToolContext} from '../../../src/core/contract/tool.ts';
import {makeReceipt} from '../../../src/core/runs/receipt.ts';
import {RunAborted} from '../../../src/core/turn/run-ending.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {resultsIn, runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-checkpointed-')));
});

/** Fake checkpoints that record their calls in order. `changed`: the files that a command is said to have changed. */
function recordCheckpoints(changed: readonly string[] = [], uncounted?: string) {
  const steps: string[] = [];
  const checkpoints: Checkpoints = {
    beforeWrite: async ({label}, file) => void steps.push(`before ${label} ${path.relative(root, file)}`),
    afterWrite: async ({label}, file) => void steps.push(`after ${label} ${path.relative(root, file)}`),
    around: async ({label}, work) => {
      steps.push(`begin ${label}`);
      const value = await work(Promise.resolve());
      steps.push(`end ${label}`);
      return {value, compared: Promise.resolve({changed, ...(uncounted === undefined ? {} : {uncounted})})};
    },
    prepare: () => undefined,
  };
  return {steps, checkpoints};
}

/** A run with one call, which has these accesses. */
function runOneCall(
  accesses: readonly Access[],
  recorded: ReturnType<typeof recordCheckpoints>,
  confinement: Confinement = 'none',
) {
  const run = () => {
    recorded.steps.push('work');
    return textResult('done');
  };
  const work = tool('work', run, accesses);
  const model = new ScriptedModel([calls(call('work', {})), say('ok')]);
  const workspace = {root, extraRoots: [], cwd: root, confinement, env: {}};
  return runFixture(model, [work], {workspace, checkpoints: recorded.checkpoints});
}

describe('the checkpoint of a call', () => {
  it('saves the file that a link leads to, before the write and after it', async () => {
    writeFileSync(path.join(root, 'real.txt'), '1');
    symlinkSync('real.txt', path.join(root, 'link.txt'));
    const recorded = recordCheckpoints();
    await runAgent(runOneCall([{kind: 'write', path: path.join(root, 'link.txt')}], recorded).run);
    expect(recorded.steps).toEqual(['before [test] the task real.txt', 'work', 'after [test] the task real.txt']);
  });

  it('saves the workspace around a command, and the receipt names what the command changed', async () => {
    const recorded = recordCheckpoints([path.join(root, 'a.txt')]);
    const result = await runAgent(runOneCall([{kind: 'run', command: 'sed -i s/a/b/ a.txt'}], recorded).run);
    expect(recorded.steps).toEqual(['begin [test] the task', 'work', 'end [test] the task']);
    expect(makeReceipt(result, root).line).toContain('changed 1 file: a.txt');
    expect(makeReceipt(result, root).line).not.toContain('not counted');
  });

  it('quotes a file name with a line break in the receipt', async () => {
    const recorded = recordCheckpoints([path.join(root, 'a\nReceipt: 9 tools')]);
    const result = await runAgent(runOneCall([{kind: 'run', command: 'make'}], recorded).run);
    expect(makeReceipt(result, root).line).toContain(String.raw`changed 1 file: "a\nReceipt: 9 tools" ·`);
  });

  it('is reported as missing in the receipt, with the reason', async () => {
    const recorded = recordCheckpoints([], 'git is missing');
    const result = await runAgent(runOneCall([{kind: 'run', command: 'make'}], recorded).run);
    expect(makeReceipt(result, root).line).toContain('what commands changed is not counted (git is missing)');
  });

  it('is not taken for reading, for commands of a read-only agent, and in a worktree', async () => {
    const recorded = recordCheckpoints();
    await runAgent(runOneCall([{kind: 'read', path: root}], recorded).run);
    await runAgent(runOneCall([{kind: 'run', command: 'ls'}], recorded, 'read-only').run);
    await runAgent(runOneCall([{kind: 'run', command: 'make'}], recorded, 'worktree').run);
    expect(recorded.steps).toEqual(['work', 'work', 'work']);
  });

  it('prevents the call when the file cannot be saved', async () => {
    const recorded = recordCheckpoints();
    const checkpoints = {...recorded.checkpoints, beforeWrite: () => Promise.reject(new Error('the disk is full'))};
    const {run} = runOneCall([{kind: 'write', path: path.join(root, 'a.txt')}], {...recorded, checkpoints});
    await runAgent(run);
    expect(recorded.steps).toEqual([]);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('the disk is full'),
    });
  });

  it('is compared while the model reads the result, and before the run ends', async () => {
    const steps: string[] = [];
    const {promise: found, resolve} = Promise.withResolvers<{changed: readonly string[]}>();
    const recorded = recordCheckpoints();
    const checkpoints: Checkpoints = {
      ...recorded.checkpoints,
      around: async (_by, work) => ({value: await work(Promise.resolve()), compared: found}),
    };
    const model = new ScriptedModel((_, index) => {
      if (index === 0) return calls(call('work', {}));
      steps.push('the model reads the result');
      setImmediate(() => {
        steps.push('compared');
        resolve({changed: [path.join(root, 'a.txt')]});
      });
      return say('ok');
    });
    const {run} = runOneCall([{kind: 'run', command: 'make'}], {...recorded, checkpoints});
    const result = await runAgent({...run, model});
    expect(steps).toEqual(['the model reads the result', 'compared']);
    expect(result.tools).toEqual([{tool: 'work', isError: false, facts: {changed: [path.join(root, 'a.txt')]}}]);
  });

  it('does not delay the result of a stopped command when it takes too long', async () => {
    stopTimers();
    const recorded = recordCheckpoints();
    const checkpoints: Checkpoints = {
      ...recorded.checkpoints,
      around: async (_by, work) => {
        const value = await work(Promise.resolve());
        abort.abort(new RunAborted('stop'));
        void vi.advanceTimersByTimeAsync(500);
        return {value, compared: new Promise(() => undefined)};
      },
    };
    const {run, abort} = runOneCall([{kind: 'run', command: 'make'}], {...recorded, checkpoints});
    const result = await runAgent(run);
    expect(result).toMatchObject({outcome: 'stopped', tools: [{tool: 'work', isError: false}]});
    expect(makeReceipt(result, root).line).toContain('what commands changed is not counted (the run ended before');
  });

  it('is waited for when the wall time is used up, so that the receipt names what the command changed', async () => {
    stopTimers();
    const recorded = recordCheckpoints();
    const checkpoints: Checkpoints = {
      ...recorded.checkpoints,
      around: async (_by, work) => {
        const value = await work(Promise.resolve());
        abort.abort(new RunAborted('timeout', 'timed out after 2 s'));
        // A busy machine takes longer than what a person who stops a run waits for.
        const passed = vi.advanceTimersByTimeAsync(4_999);
        return {value, compared: passed.then(() => ({changed: [path.join(root, 'a.txt')]}))};
      },
    };
    const {run, abort} = runOneCall([{kind: 'run', command: 'make'}], {...recorded, checkpoints});
    expect(makeReceipt(await runAgent(run), root).line).toContain('changed 1 file: a.txt');
  });

  it('is not followed by the command when the run was stopped while it was taken', async () => {
    const recorded = recordCheckpoints();
    const checkpoints: Checkpoints = {
      ...recorded.checkpoints,
      around: async (_by, work) => {
        abort.abort(new RunAborted('stop'));
        return {value: await work(Promise.resolve()), compared: Promise.resolve({changed: []})};
      },
    };
    const {run, abort} = runOneCall([{kind: 'run', command: 'make'}], {...recorded, checkpoints});
    expect(await runAgent(run)).toMatchObject({outcome: 'stopped'});
    expect(recorded.steps).toEqual([]);
  });

  it.each([true, false])(
    'is taken before a command begins, whether its tool prepares ahead (%s) or not',
    async (ahead) => {
      const steps: string[] = [];
      const around: Checkpoints['around'] = async (_by, work) => {
        const {promise: saved, resolve} = Promise.withResolvers<void>();
        const working = work(saved);
        await nextTick();
        steps.push('saved');
        resolve();
        return {value: await working, compared: Promise.resolve({changed: []})};
      };
      const {run} = runOneCall([{kind: 'run', command: 'make'}], recordCheckpoints());
      const [made] = run.tools;
      const prepares = async (_input: unknown, {mayBegin}: ToolContext) => {
        steps.push('prepares');
        if (mayBegin) await mayBegin;
        steps.push('begins');
        return textResult('done');
      };
      await runAgent({
        ...run,
        tools: [{...made!, run: prepares, preparesAhead: ahead}],
        checkpoints: {...run.checkpoints, around},
      });
      expect(steps).toEqual(ahead ? ['prepares', 'saved', 'begins'] : ['saved', 'prepares', 'begins']);
    },
  );
});
