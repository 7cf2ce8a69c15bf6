/** What core does for a run with a worktree. The worktree is fake here; see `tests/storage/worktrees/` for real ones. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {Workspace} from '../../../src/core/contract/permission.ts';
import type {Tool} from '../../../src/core/contract/tool.ts';
import type {BroughtBack, Worktree, Worktrees} from '../../../src/core/contract/worktree.ts';
import {MiniCcError} from '../../../src/core/util/errors.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {until} from '../../support/wait.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {FakeClock} from '../fake-clock.ts';
import {createRoot, managerFixture} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

const root = createRoot();

/** A fake worktree in an empty folder. `called`: the methods that were called, in order. */
async function fakeWorktrees(brought: BroughtBack | Error, change: Partial<Worktree> = {}) {
  const {path: top, remove} = await emptyFolder();
  onTestFinished(remove);
  writeFileSync(path.join(top, 'a.ts'), 'one\ntwo\nthree\n');
  const called: string[] = [];
  const tree: Worktree = {
    ...{top, root: top, gitObjects: ['/objects'], notes: []},
    inWorkspace: (file) => (file.startsWith(top) ? root + file.slice(top.length) : undefined),
    bringBack: async () => {
      called.push('bringBack');
      if (brought instanceof Error) throw brought;
      return brought;
    },
    discard: () => void called.push('discard'),
    abandon: () => void called.push('abandon'),
    ...change,
  };
  const worktrees: Worktrees = {open: async () => tree, settled: async () => undefined};
  return {top, called, worktrees};
}

const code = {agent: AGENT_TYPES.code!, isolation: 'worktree'} as const;

/** A tool that records its workspace, and claims that it read and changed a file there. */
function look(seen: Workspace[]): Tool {
  return tool('look', ({workspace}) => {
    seen.push(workspace);
    const file = path.join(workspace.root, 'a.ts');
    return textResult('seen', {facts: {read: [file], changed: [file]}});
  });
}

test('a run with a worktree works in the tree, and its result names paths of the workspace', async () => {
  const {top, called, worktrees} = await fakeWorktrees({applied: [path.join(root, 'a.ts')], notes: ['One note.']});
  const seen: Workspace[] = [];
  const env = {HOME: '/home/ann', GIT_DIR: '/elsewhere', GIT_AUTHOR_NAME: 'Ann'};
  const {spawn} = managerFixture({
    root,
    tools: [look(seen)],
    runs: {worktrees, workspace: {root, extraRoots: ['/added'], cwd: root, confinement: 'none', env}},
  });
  const model = new ScriptedModel([calls(call('look', {})), say(`See ${top}/a.ts:3 in ${top}, and ${root}/a.ts:2.`)]);
  const {result, receipt} = await spawn(model, code);
  expect(seen[0]).toMatchObject({root: top, cwd: top, extraRoots: [], seen: ['/objects'], confinement: 'worktree'});
  expect(seen[0]!.env).toEqual({HOME: '/home/ann', GIT_AUTHOR_NAME: 'Ann'});
  expect(model.requests[0]!.system).toContain(`Working directory: ${top}`);
  expect(result.text).toBe(`See a.ts:3 in ${root}, and ${root}/a.ts:2.\n\nOne note.`);
  expect(receipt).toMatchObject({filesRead: [path.join(root, 'a.ts')], filesChanged: [path.join(root, 'a.ts')]});
  // Only the copy in the tree has a third line.
  expect(receipt.line).toContain(' · changed 1 file: a.ts · commands 0 · citations 2/2 exist · ');
  expect(called).toEqual(['bringBack', 'discard']);
});

test('while the tree is made and brought back the progress line says so, and that time counts', async () => {
  const clock = new FakeClock();
  const brought: BroughtBack = {applied: [], notes: []};
  const bringBack = async () => {
    clock.advance(20);
    return brought;
  };
  const {worktrees} = await fakeWorktrees(brought, {bringBack});
  const open: Worktrees['open'] = (...given) => {
    clock.advance(1);
    return worktrees.open(...given);
  };
  const {spawn, events} = managerFixture({root, runs: {clock, worktrees: {...worktrees, open}}});
  const {result} = await spawn(new ScriptedModel([say('done')]), code);
  const told = events.flatMap((event) =>
    event.type === 'run_note' ? [event.text] : event.type === 'message' ? [event.role] : [],
  );
  expect(told).toEqual(['user', 'making its worktree', '', 'assistant', 'bringing its changes back']);
  expect(result.durationMs).toBe(21);
  expect(events.find(({type}) => type === 'run_end')).toMatchObject({durationMs: 21});
});

test('changes that were saved as a patch are named first in the report, in the receipt, and on the screen', async () => {
  const kept = {patch: '/kept/changes.patch', why: 'conflict in a.ts', explanation: 'Nothing was applied: so and so.'};
  const {worktrees} = await fakeWorktrees({applied: [], notes: [], kept});
  const {spawn, events} = managerFixture({root, runs: {worktrees}});
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

test('a run fails and its tree stays when its changes cannot even be saved', async () => {
  const {top, called, worktrees} = await fakeWorktrees(new Error('ENOSPC: no space left on device'));
  const {spawn} = managerFixture({root, runs: {worktrees}});
  const {result, report} = await spawn(new ScriptedModel([say('all is done')]), code);
  expect(result).toMatchObject({outcome: 'error', code: 'WORKTREE', text: 'all is done'});
  expect(report).toContain(`could not be brought back (ENOSPC: no space left on device). It is still in ${top}`);
  expect(called).toEqual(['bringBack', 'abandon']);
});

test('a run without a tree fails with the reason, and calls no model', async () => {
  const refused = new MiniCcError('WORKTREE', 'isolation: worktree needs a git repository: /x lies in none');
  const {spawn} = managerFixture({
    root,
    runs: {worktrees: {open: () => Promise.reject(refused), settled: async () => undefined}},
  });
  const model = new ScriptedModel([say('never')]);
  expect((await spawn(model, code)).result).toMatchObject({outcome: 'error', code: 'WORKTREE', error: refused.message});
  expect(model.requests).toEqual([]);
});

test('a run that is stopped while its tree is made calls no model', async () => {
  let waiting = false;
  const open: Worktrees['open'] = (_owner, signal) =>
    new Promise((_, reject) => {
      waiting = true;
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const {manager, spawn} = managerFixture({root, runs: {worktrees: {open, settled: async () => undefined}}});
  const model = new ScriptedModel([say('never')]);
  const running = spawn(model, code);
  await until(() => waiting);
  await manager.stopAll();
  expect((await running).result.outcome).toBe('stopped');
  expect(model.requests).toEqual([]);
});

test('a run that is stopped at work brings its changes back', async () => {
  const {called, worktrees} = await fakeWorktrees({applied: [path.join(root, 'a.ts')], notes: []});
  const {manager, spawn} = managerFixture({root, runs: {worktrees}});
  const model = new ScriptedModel([{hang: true, partial: 'half'}]);
  const running = spawn(model, code);
  await until(() => model.requests.length === 1);
  await manager.stopAll();
  const {result, receipt} = await running;
  expect([result.outcome, receipt.filesChanged]).toEqual(['stopped', [path.join(root, 'a.ts')]]);
  expect(called).toEqual(['bringBack', 'discard']);
});

test('a read-only agent is confined in its tree too, and a Task call cannot lift the isolation of its definition', async () => {
  const {top, worktrees} = await fakeWorktrees({applied: [], notes: []});
  const seen: Workspace[] = [];
  const {spawn, manager} = managerFixture({root, tools: [look(seen)], runs: {worktrees}});
  const agent = {...AGENT_TYPES.explore!, tools: ['look'], isolation: 'worktree'} as const;
  await spawn(new ScriptedModel([calls(call('look', {})), say('ok')]), {agent, isolation: 'none'});
  expect(seen[0]).toMatchObject({root: top, confinement: 'read-only'});
  expect(manager.list()[0]).toMatchObject({isolation: 'worktree'});
});
