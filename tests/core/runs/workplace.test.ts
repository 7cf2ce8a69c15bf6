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

test.each([
  ['an agent that may write are confined as the session says', AGENT_TYPES.code!, {}, 'workspace-write'],
  [
    'a part of a fan-out are confined to its files',
    AGENT_TYPES.code!,
    {scope: {files: ['/w/a.ts'], allowed: []}},
    'files',
  ],
  ['an agent that only reads may write nothing', AGENT_TYPES.explore!, {}, 'read-only'],
] as const)('in the workspace itself, the commands of %s', async (_, agent, change, confinement) => {
  const seen: Workspace[] = [];
  const {spawn} = managerFixture({root, tools: [look(seen)], runs: {confinement: 'workspace-write'}});
  await spawn(new ScriptedModel([calls(call('look', {})), say('ok')]), {agent: {...agent, tools: ['look']}, ...change});
  expect(seen[0]).toMatchObject({root, cwd: root, confinement});
  expect(seen[0]!.scope).toEqual('scope' in change ? change.scope : undefined);
});

test('below the top of its repository, a tree is open up to there, and what was not copied is said', async () => {
  const {top, worktrees} = await fakeWorktrees({applied: [], notes: []});
  const below = {
    open: async () => ({...(await worktrees.open(...([] as unknown as Parameters<Worktrees['open']>))), ...deeper}),
    settled: worktrees.settled,
  };
  const deeper = {root: path.join(top, 'app'), notes: ['one link was not copied']};
  const seen: Workspace[] = [];
  const {spawn, events} = managerFixture({root, tools: [look(seen)], runs: {worktrees: below}});
  const scope = {files: [path.join(root, 'a.ts')], allowed: [path.join(root, 'b.ts')]};
  await spawn(new ScriptedModel([calls(call('look', {})), say('ok')]), {...code, scope});
  const moved = {files: [path.join(top, 'app/a.ts')], allowed: [path.join(top, 'app/b.ts')]};
  expect(seen[0]).toMatchObject({root: deeper.root, extraRoots: [top], scope: moved});
  expect(events.filter(({type}) => type === 'notice')).toMatchObject([
    {level: 'warning', text: 'one link was not copied'},
  ]);
});

test('what the tools of a run wrote is brought back; what they read elsewhere keeps its name', async () => {
  const {top, worktrees} = await fakeWorktrees({applied: [], notes: []});
  const written: unknown[] = [];
  const open: Worktrees['open'] = async (...given) => ({
    ...(await worktrees.open(...given)),
    bringBack: async (files) => {
      written.push(files);
      return {applied: [], notes: []};
    },
  });
  const [copy, outside] = [path.join(top, 'a.ts'), '/usr/include/stdio.h'];
  const read = tool('read', () => textResult('', {facts: {read: [copy, outside]}}));
  const write = tool('write', () => textResult('', {facts: {changed: [copy]}}));
  const {spawn} = managerFixture({root, tools: [read, write], runs: {worktrees: {...worktrees, open}}});
  const model = new ScriptedModel([calls(call('read', {}), call('write', {})), say('ok')]);
  const {receipt} = await spawn(model, code);
  expect(written).toEqual([[copy]]);
  expect(receipt).toMatchObject({filesRead: [path.join(root, 'a.ts'), outside], filesChanged: []});
});

test('a run that was cut off, and whose changes cannot be saved, says both, and how long it took', async () => {
  const clock = new FakeClock();
  const {worktrees} = await fakeWorktrees(new Error('ENOSPC'));
  const open: Worktrees['open'] = (...given) => {
    clock.advance(5);
    return worktrees.open(...given);
  };
  const model = new ScriptedModel([{hang: true, partial: 'half'}]);
  const {spawn, manager, events} = managerFixture({root, runs: {clock, worktrees: {...worktrees, open}}});
  const running = spawn(model, code);
  await model.asked();
  await manager.stopAll();
  const {result} = await running;
  expect(result).toMatchObject({
    text: 'half',
    durationMs: 5,
    error: expect.stringMatching(/^stopped; what it changed/),
  });
  expect(events.filter(({type}) => type === 'notice')).toMatchObject([{text: expect.stringContaining('ENOSPC')}]);
});
