/** Runs at workers, as the manager keeps them. The worker is a function of the test; the queue is in tests/outside/workers. */

import {describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {Usage} from '../../../src/core/contract/model.ts';
import type {RunResult} from '../../../src/core/contract/results.ts';
import type {BroughtBack} from '../../../src/core/contract/worktree.ts';
import {PermissionPolicy} from '../../../src/core/permissions/policy.ts';
import {createRule} from '../../../src/core/permissions/rules/rule.ts';
import {RuleBook} from '../../../src/core/permissions/rules/rule-book.ts';
import type {RemoteEnd, RemoteRuns, RemoteTask, RemoteWatch} from '../../../src/core/runs/remote-runs.ts';
import {createBudget} from '../../../src/core/turn/budget.ts';
import {NO_TOTALS, RunAborted} from '../../../src/core/turn/run-ending.ts';
import {MiniCcError} from '../../../src/core/util/errors.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {until} from '../../support/wait.ts';
import {createPermitDeps, type ManagerFixtureOptions, managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say, text} from '../scripted-model.ts';

const DONE = {...NO_TOTALS, outcome: 'success', text: 'done'} as const;
const used = (input_tokens: number, output_tokens = 0): Usage => ({...NO_USAGE, input_tokens, output_tokens});

function end(result: RunResult = DONE, brought: Partial<BroughtBack> = {}): RemoteEnd {
  return {result, entries: [], brought: {applied: [], notes: [], ...brought}, acknowledge: async () => undefined};
}

type Work = (watch: RemoteWatch, task: RemoteTask) => Promise<RemoteEnd | undefined>;

/** @param change of the fixture */
function open(work: Work, change: ManagerFixtureOptions = {}, {isServed = true, pending = ''} = {}) {
  const log: string[] = [];
  const remote: RemoteRuns = {
    isConfigured: true,
    isServed: async () => isServed,
    isPending: (runId) => runId === pending,
    run: (task, watch) => work(watch, task),
    resume: (runId, watch) => {
      log.push(`resume ${runId}`);
      return work(watch, {spec: {runId}} as RemoteTask);
    },
  };
  const made = managerFixture({...change, runs: {remote, ...change.runs}});
  const away = {agent: AGENT_TYPES.code!, isolation: 'worktree', where: 'workers'} as const;
  const local = new ScriptedModel([say('here')]);
  return {...made, log, local, give: (more = {}) => made.spawn(local, {...away, ...more})};
}

describe('a run at a worker', () => {
  it('has its task, and what the session allows', async () => {
    const rules = [
      createRule('bash(rm:*)', 'deny', 'test', ALL_TOOLS),
      createRule('read_file', 'ask', 'test', ALL_TOOLS),
      createRule('edit_file(src/**)', 'allow', 'test', ALL_TOOLS),
      createRule('bash(ls)', 'allow', 'test', ALL_TOOLS),
    ];
    const policy = new PermissionPolicy('acceptEdits', new RuleBook(rules, ALL_TOOLS), {
      ownFolders: () => [],
      secretPaths: [],
    });
    const permits = {...createPermitDeps(undefined, () => undefined), policy};
    const tasks: RemoteTask[] = [];
    const labels: string[] = [];
    const {give, local} = open(
      async (watch, task) => {
        tasks.push(task);
        labels.push(watch.label);
        return end();
      },
      {runs: {permits}},
    );
    const {runId} = await give({limits: {maxTurns: 5}, history: [{role: 'user', content: 'before'}]});
    expect(tasks).toMatchObject([
      {
        spec: {runId, description: 'look around', model: 'scripted'},
        ...{round: 1, prompt: 'find it'},
        limits: {maxTurns: 5},
        messages: [{role: 'user', content: 'before'}],
        permissions: {mode: 'acceptEdits', deny: ['bash(rm:*)', 'read_file'], edits: ['edit_file(src/**)']},
      },
    ]);
    expect([labels, local.requests]).toEqual([['[code] look around'], []]);
  });

  it('waits until a worker has it, and may be taken over by another one', async () => {
    const states: unknown[] = [];
    const {give, manager, events} = open(async (watch, {spec: {runId}}) => {
      states.push(manager.get(runId)?.state);
      for (const worker of ['build-1', 'build-2']) watch.begun(worker);
      states.push(manager.get(runId)?.state);
      return end();
    });
    const {runId} = await give();
    expect(states).toEqual(['created', 'processing']);
    expect(manager.get(runId)).toMatchObject({worker: 'build-2', state: 'idle', outcome: 'success'});
    const told = events.filter(({type}) => ['run_start', 'run_active', 'run_place'].includes(type));
    expect(told).toMatchObject([
      {type: 'run_start', queued: true},
      {type: 'run_active'},
      {type: 'run_place', worker: 'build-1'},
      {type: 'run_place', worker: 'build-2'},
    ]);
    expect(events.filter(({type}) => type === 'run_state')).toMatchObject([{state: 'processing'}, {state: 'idle'}]);
  });

  it('ends as any other: its lines are in its transcript before the worker may forget it', async () => {
    const log: string[] = [];
    const {give, bus, read} = open(async () => ({
      ...end(DONE, {applied: ['/w/a.ts'], notes: ['One note.']}),
      entries: [{type: 'message', uuid: 'u', at: '', message: {role: 'assistant', content: [text('found')]}}],
      acknowledge: async () => void log.push('taken'),
    }));
    bus.subscribe(({type}) => void (type === 'run_end' && log.push(type)));
    const {runId, result, receipt} = await give();
    expect([result.text, receipt.filesChanged]).toEqual(['done\n\nOne note.', ['/w/a.ts']]);
    expect(read(runId)).toContainEqual(
      expect.objectContaining({message: {role: 'assistant', content: [text('found')]}}),
    );
    expect(log).toEqual(['run_end', 'taken']);
  });

  it('says first that some of its changes are not in the workspace', async () => {
    const kept = {patch: '/kept.patch', why: 'conflict in a.ts', explanation: 'So and so.'};
    const {give, events} = open(async () => end(DONE, {kept}));
    const {result, receipt} = await give();
    expect(result.text).toBe('Not all that this run changed is in the workspace. So and so.\n\ndone');
    expect(receipt.line).toContain('changes kept in /kept.patch (conflict in a.ts)');
    expect(events.filter(({type}) => type === 'notice')).toMatchObject([{level: 'warning'}]);
  });

  it.each([
    [new MiniCcError('QUEUE', 'no queue'), 'QUEUE'],
    [new Error('no queue'), 'INTERNAL'],
  ])('fails where it cannot be given away: %s', async (error, code) => {
    const {give} = open(() => Promise.reject(error));
    expect((await give()).result).toMatchObject({outcome: 'error', code, error: 'no queue'});
  });

  it('reads messages that come before it listens, and after, and goes on for none that it has read', async () => {
    const heard: unknown[] = [];
    const {give, manager} = open(async (watch, {spec: {runId}}) => {
      manager.send(runId, 'first');
      watch.onMessage(({id, content}) => {
        heard.push(content);
        watch.delivered(id);
      });
      manager.send(runId, 'second');
      return end();
    });
    await give();
    await manager.waitAll();
    expect(heard).toEqual(['first', 'second']);
    expect(manager.list()).toMatchObject([{round: 1}]);
  });

  it('is stopped there, too', async () => {
    const reasons: unknown[] = [];
    const {give, manager} = open(
      (watch) =>
        new Promise((resolve) => {
          const stopped = () => {
            reasons.push(watch.signal.reason);
            resolve(end({...NO_TOTALS, outcome: 'stopped'}));
          };
          watch.signal.addEventListener('abort', stopped);
        }),
    );
    const running = give();
    await until(() => manager.count() === 1);
    await manager.stopAll();
    expect([(await running).result.outcome, reasons]).toEqual(['stopped', [expect.any(RunAborted)]]);
  });

  it('that is left there at the end of the session has no end here', async () => {
    const {give, manager, events, read, inbox} = open(async () => undefined);
    const {runId} = await give({background: true});
    expect([manager.count(), inbox.size, manager.get(runId)?.outcome]).toEqual([0, 0, undefined]);
    expect(read(runId).map(({type}) => type)).not.toContain('end');
    expect(events.map(({type}) => type)).not.toContain('run_end');
  });
});

describe('what a run uses at a worker', () => {
  const reply = (usage: Usage) =>
    ({type: 'message', role: 'assistant', id: 'm', content: [], model: 'm', usage, stopReason: 'end_turn'}) as const;

  it('is spent as it is told, once; the rest at its end; and that of another attempt besides', async () => {
    const budget = createBudget();
    const spent: number[] = [];
    const note = () => void spent.push(budget.entries().reduce((sum, {usage}) => sum + usage.input_tokens, 0));
    const whole = {...used(12, 1), cost_usd: 3};
    const result = {...DONE, usage: whole, usageByModel: {m: whole}};
    const {give, events} = open(
      async (watch) => {
        watch.begun('build-1');
        watch.event(reply(used(100)));
        note();
        watch.begun('build-2');
        watch.event(reply({...used(10, 2), cost_usd: 1}));
        note();
        return end(result);
      },
      {options: {budget}},
    );
    await give();
    note();
    expect(spent).toEqual([100, 110, 112]);
    expect(budget.spentUsd).toBe(3);
    expect(events.filter((event) => event.type === 'message' && event.role === 'assistant')).toHaveLength(2);
    expect(budget.entries()).toMatchObject([{agent: 'code', model: 'm', usage: {input_tokens: 112, output_tokens: 2}}]);
  });

  it('ends it by the limit of the session, where others have used that up', async () => {
    const budget = createBudget({maxBudgetUsd: 1});
    const {give, local} = open(
      (watch) =>
        new Promise((resolve) => {
          watch.signal.addEventListener('abort', () => resolve(end({...NO_TOTALS, outcome: 'stopped'})));
          budget.spend({...NO_USAGE, cost_usd: 1}, 'm');
        }),
      {options: {budget}},
    );
    Object.assign(local, {outputPrice: 1});
    expect((await give()).result).toMatchObject({outcome: 'limit', limit: budget.usedUp});
  });
});

describe('a run that may work at a worker', () => {
  it.each([
    ['here while there is room', 0, true, 'here'],
    ['there while there is none', 1, true, 'there'],
    ['here where no worker would take it', 1, false, 'here'],
  ])('works %s', async (_, atWork, isServed, where) => {
    const {give, manager, spawn} = open(async () => end(), {maxConcurrent: 1}, {isServed});
    const hanging = new ScriptedModel([{hang: true}]);
    const first = atWork > 0 ? spawn(hanging) : undefined;
    if (first) await hanging.asked();
    const worktrees = {isolation: 'worktree', where: 'auto'} as const;
    const ended = give({...worktrees, prompt: 'other'});
    if (first && where === 'here') {
      await until(() => manager.list().length === 2);
      expect(manager.count()).toBe(2);
    } else expect((await ended).result.outcome).toBe(where === 'there' ? 'success' : 'error');
    await manager.stopAll();
    await Promise.all([first, ended]);
  });
});

describe('after a restart, a run that was left at a worker', () => {
  it('is followed: its end is announced, though a call had waited for it', async () => {
    const before = open(async () => undefined);
    const {runId} = await before.give();
    const after = open(async () => end(), {home: before.home}, {pending: runId});
    expect(after.manager.restore(new Set())).toEqual([]);
    expect(after.manager.get(runId)).toMatchObject({background: true, restored: false});
    await after.manager.waitAll();
    expect(after.log).toEqual([`resume ${runId}`]);
    expect(after.manager.get(runId)).toMatchObject({state: 'idle', outcome: 'success', announcement: 'waiting'});
    expect(after.inbox.deliver()).toMatchObject([{id: runId, startsTurn: true}]);
  });
});
