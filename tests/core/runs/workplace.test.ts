/** Runs with a worktree, as the core treats them: the tree itself is played, see `tests/storage/worktrees/`. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {Workspace} from '../../../src/core/contract/permission.ts';
import type {Tool} from '../../../src/core/contract/tool.ts';
import type {BroughtBack, Worktree, Worktrees} from '../../../src/core/contract/worktree.ts';
import {MiniCcError} from '../../../src/core/util/errors.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {managerFixture, root, until} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

/** A tree in a folder of its own, with what was asked of it in order. */
async function played(brought: BroughtBack | Error, change: Partial<Worktree> = {}) {
  const {path: top, remove} = await emptyFolder();
  onTestFinished(remove);
  writeFileSync(path.join(top, 'a.ts'), 'one\ntwo\nthree\n');
  const asked: string[] = [];
  const tree: Worktree = {
    ...{top, root: top, gitObjects: ['/objects'], notes: []},
    inWorkspace: (file) => (file.startsWith(top) ? root + file.slice(top.length) : undefined),
    bringBack: async () => {
      asked.push('bringBack');
      if (brought instanceof Error) throw brought;
      return brought;
    },
    discard: () => void asked.push('discard'),
    abandon: () => void asked.push('abandon'),
    ...change,
  };
  const worktrees: Worktrees = {open: async () => tree, settled: async () => undefined};
  return {top, asked, worktrees};
}

const code = {agent: AGENT_TYPES.code!, isolation: 'worktree'} as const;

/** Notes the workspace that it is called in, and says that it changed and read a file there. */
function look(seen: Workspace[]): Tool {
  return tool('look', ({workspace}) => {
    seen.push(workspace);
    const file = path.join(workspace.root, 'a.ts');
    return textResult('seen', {facts: {read: [file], changed: [file]}});
  });
}

test('works in the tree, and answers in terms of the workspace', async () => {
  const {top, asked, worktrees} = await played({applied: [path.join(root, 'a.ts')], notes: ['One note.']});
  const seen: Workspace[] = [];
  const env = {HOME: '/home/ann', GIT_DIR: '/elsewhere', GIT_AUTHOR_NAME: 'Ann'};
  const {spawn} = managerFixture({
    tools: [look(seen)],
    runs: {worktrees, workspace: {root, extraRoots: ['/added'], cwd: root, confinement: 'none', env}},
  });
  const model = new ScriptedModel([calls(call('look', {})), say(`See ${top}/a.ts:3 in ${top}.`)]);
  const {result, receipt} = await spawn(model, code);
  expect(seen[0]).toMatchObject({root: top, cwd: top, extraRoots: [], seen: ['/objects'], confinement: 'worktree'});
  expect(seen[0]!.env).toEqual({HOME: '/home/ann', GIT_AUTHOR_NAME: 'Ann'});
  expect(model.requests[0]!.system).toContain(`Working directory: ${top}`);
  expect(result.text).toBe(`See a.ts:3 in ${root}.\n\nOne note.`);
  expect(receipt).toMatchObject({filesRead: [path.join(root, 'a.ts')], filesChanged: [path.join(root, 'a.ts')]});
  // The third line is in the tree alone.
  expect(receipt.line).toContain(' · changed 1 file: a.ts · commands 0 · citations 1/1 exist · ');
  expect(asked).toEqual(['bringBack', 'discard']);
});

test('what was kept is told first, in the receipt, and on the screen', async () => {
  const kept = {patch: '/kept/changes.patch', why: 'conflict in a.ts', explanation: 'Nothing was applied: so and so.'};
  const {worktrees} = await played({applied: [], notes: [], kept});
  const {spawn, events} = managerFixture({runs: {worktrees}});
  const {result, receipt, report} = await spawn(new ScriptedModel([say('done')]), code);
  expect(result).toMatchObject({outcome: 'success'});
  expect(report).toMatch(
    /^Not all that this run changed is in the workspace\. Nothing was applied: so and so\.\n\ndone\n/,
  );
  expect(receipt.line).toContain(' · changed none · changes kept in /kept/changes.patch (conflict in a.ts) · ');
  expect(events.filter(({type}) => type === 'notice')).toMatchObject([
    {level: 'warning', text: 'changes kept in /kept/changes.patch (conflict in a.ts)'},
  ]);
});

test('changes that could not even be kept make the run a failure, and the tree stays', async () => {
  const {top, asked, worktrees} = await played(new Error('ENOSPC: no space left on device'));
  const {spawn} = managerFixture({runs: {worktrees}});
  const {result, report} = await spawn(new ScriptedModel([say('all is done')]), code);
  expect(result).toMatchObject({outcome: 'error', code: 'WORKTREE', text: 'all is done'});
  expect(report).toContain(`could not be brought back (ENOSPC: no space left on device). It is still in ${top}`);
  expect(asked).toEqual(['bringBack', 'abandon']);
});

test('without a tree no model is called, and the reason is the outcome', async () => {
  const refused = new MiniCcError('WORKTREE', 'isolation: worktree needs a git repository: /x lies in none');
  const {spawn} = managerFixture({
    runs: {worktrees: {open: () => Promise.reject(refused), settled: async () => undefined}},
  });
  const model = new ScriptedModel([say('never')]);
  expect((await spawn(model, code)).result).toMatchObject({outcome: 'error', code: 'WORKTREE', error: refused.message});
  expect(model.requests).toEqual([]);
});

test('stopped while its tree is made, it is stopped, and no model is called', async () => {
  let waiting = false;
  const open: Worktrees['open'] = (_owner, signal) =>
    new Promise((_, reject) => {
      waiting = true;
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const {manager, spawn} = managerFixture({runs: {worktrees: {open, settled: async () => undefined}}});
  const model = new ScriptedModel([say('never')]);
  const running = spawn(model, code);
  await until(() => waiting);
  await manager.stopAll();
  expect((await running).result.outcome).toBe('stopped');
  expect(model.requests).toEqual([]);
});

test('one that is stopped at work brings back what it has', async () => {
  const {asked, worktrees} = await played({applied: [path.join(root, 'a.ts')], notes: []});
  const {manager, spawn} = managerFixture({runs: {worktrees}});
  const model = new ScriptedModel([{hang: true, partial: 'half'}]);
  const running = spawn(model, code);
  await until(() => model.requests.length === 1);
  await manager.stopAll();
  const {result, receipt} = await running;
  expect([result.outcome, receipt.filesChanged]).toEqual(['stopped', [path.join(root, 'a.ts')]]);
  expect(asked).toEqual(['bringBack', 'discard']);
});

test('a read-only agent reads there and is held as it is elsewhere; the definition cannot be talked out of it', async () => {
  const {top, worktrees} = await played({applied: [], notes: []});
  const seen: Workspace[] = [];
  const {spawn, manager} = managerFixture({tools: [look(seen)], runs: {worktrees}});
  const agent = {...AGENT_TYPES.explore!, tools: ['look'], isolation: 'worktree'} as const;
  await spawn(new ScriptedModel([calls(call('look', {})), say('ok')]), {agent, isolation: 'none'});
  expect(seen[0]).toMatchObject({root: top, confinement: 'read-only'});
  expect(manager.list()[0]).toMatchObject({isolation: 'worktree'});
});
