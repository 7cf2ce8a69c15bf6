/** What is known of a run from its dispatch on, and of its further rounds. */
import {describe, expect, test} from 'vitest';
import type {Outcome} from '../../../src/core/contract/results.ts';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import {createSpec, type RunRequest} from '../../../src/core/runs/dispatch.ts';
import {RunRegistry} from '../../../src/core/runs/registry.ts';
import type {RemoteRuns} from '../../../src/core/runs/remote-runs.ts';
import {getEndState, hasEnded, openNextRound, openRun} from '../../../src/core/runs/run-record.ts';
import {managerFixture} from '../manager-fixture.ts';
import {call, ScriptedModel} from '../scripted-model.ts';

const REMOTE = {isConfigured: true} as RemoteRuns;

function open(change: Partial<RunRequest> = {}) {
  const {store, request} = managerFixture();
  const registry = new RunRegistry();
  const asked = request(new ScriptedModel([]), change);
  const opened = openRun(store, registry, createSpec(asked, REMOTE), asked.prompt, asked.history);
  const {runId} = opened.spec;
  const get = () => registry.get(runId)!;
  const goOn = (background: boolean) =>
    openNextRound(store, registry, get(), {message: 'go on', model: 'other', background});
  return {store, registry, opened, get, goOn};
}

describe('a new run', () => {
  const asked = {
    label: 'mine',
    callId: 'call-1',
    thinking: 'high',
    onlyTools: ['grep'],
    isolation: 'worktree',
    where: 'auto',
    scope: {files: ['/w/a.ts'], allowed: []},
    background: true,
    cleanup: 'delete',
    runId: 'id-1',
  } as const;

  test('keeps what its call asked for, also on the disk', () => {
    const {get, store} = open({...asked, limits: {maxTurns: 3, maxTokens: 5}});
    const kept = {...asked, agent: 'explore', model: 'scripted', limits: {maxTurns: 3, maxTokens: 5}};
    expect(get()).toMatchObject({...kept, state: 'created', round: 1, tools: 0, restored: false});
    expect(store.list()).toMatchObject([kept]);
  });

  test('is in the foreground, kept and here unless its call asks for something else', () => {
    const keys = Object.keys(asked) as (keyof typeof asked)[];
    const {get} = open({where: 'local', label: ''});
    expect(get()).toMatchObject({background: false, cleanup: 'keep'});
    expect(keys.filter((key) => get()[key] !== undefined)).toEqual(['isolation', 'background', 'cleanup', 'runId']);
    expect(open().get().runId).not.toBe(open().get().runId);
  });

  test('begins with the conversation before its prompt', () => {
    const history = [{role: 'user', content: 'before'}] as const;
    expect(open({history}).opened.history.messages.map(({content}) => content)).toEqual(['before', 'find it']);
  });
});

describe('a further round of a run', () => {
  const END: Partial<RunRecord> = {
    outcome: 'error',
    reason: 'failed',
    receipt: 'Receipt',
    endedAt: 5,
    startedAt: 4,
    announcement: 'delivered',
    worker: 'build-2',
    state: 'error',
    restored: true,
    tools: 3,
  };

  test('knows nothing of the last end, and counts on', () => {
    const {registry, opened, get, goOn} = open({label: 'mine'});
    registry.update(opened.spec.runId, END);
    expect(goOn(true)).toMatchObject({spec: {runId: opened.spec.runId}, round: 2});
    expect(get()).toMatchObject({
      ...{state: 'created', round: 2, restored: false, background: true, model: 'other', tools: 3, label: 'mine'},
    });
    const gone = ['outcome', 'reason', 'receipt', 'endedAt', 'startedAt', 'announcement', 'worker'];
    expect(gone.filter((key) => key in get())).toEqual([]);
  });

  test('answers the calls that were cut off, and is a line of its own in the transcript', () => {
    const {store, opened, goOn} = open();
    opened.history.append({role: 'assistant', content: [call('grep', {}, 'call-1')]});
    expect(opened.round).toBe(1);
    const answered = goOn(true).history.messages.at(-2);
    expect(answered).toMatchObject({role: 'user', content: [{type: 'tool_result', tool_use_id: 'call-1'}]});
    expect(store.read(opened.spec.runId)).toContainEqual(expect.objectContaining({type: 'resumed', round: 2}));
  });

  test.each([
    ['worktree', 'go on\n\n(Your worktree is a new one: the files of the workspace as they are now.)'],
    ['none', 'go on'],
  ] as const)('with the isolation %s begins with: %s', (isolation, text) => {
    const {goOn} = open({isolation});
    expect(goOn(false).history.messages.at(-1)).toEqual({role: 'user', content: text});
  });
});

test.each<[Outcome, RunRecord['state']]>([
  ['success', 'idle'],
  ['limit', 'idle'],
  ['stopped', 'stopped'],
  ['error', 'error'],
  ['timeout', 'error'],
  ['unknown', 'error'],
])('a run with the outcome %s has the state %s', (outcome, state) => {
  expect(getEndState(outcome)).toBe(state);
});

test('a run has ended when it has a time of its end', () => {
  const record = open().get();
  expect([hasEnded(record), hasEnded({...record, endedAt: 0})]).toEqual([false, true]);
});
