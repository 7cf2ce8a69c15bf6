import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import {WorkspaceFingerprint} from '../../../src/storage/workspace-fingerprint.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say} from '../scripted-model.ts';

async function sourceAndText(dispatched: Awaited<ReturnType<ReturnType<typeof managerFixture>['dispatch']>>) {
  const {result} = dispatched.source === 'cached' ? dispatched.result : await dispatched.started.ended;
  return [dispatched.source, result.text];
}

describe('the same task dispatched twice', () => {
  it('is one run while the first is at work, and both calls get the result', async () => {
    const {dispatch, manager} = managerFixture();
    const model = new ScriptedModel([say('here')]);
    const both = await Promise.all([dispatch(model), dispatch(model, {prompt: '  find\n it'})]);
    expect(await Promise.all(both.map(sourceAndText))).toEqual([
      ['run', 'here'],
      ['joined', 'here'],
    ]);
    expect(model.requests).toHaveLength(1);
    expect(manager.list()).toHaveLength(1);
  });

  it('is one run when the first call is in the background and the second one awaits it: no announcement comes too', async () => {
    const {dispatch, manager, inbox} = managerFixture();
    const model = new ScriptedModel([say('here')]);
    const first = await dispatch(model, {background: true});
    const second = await dispatch(model);
    expect(await Promise.all([first, second].map(sourceAndText))).toEqual([
      ['run', 'here'],
      ['joined', 'here'],
    ]);
    expect(manager.list()).toHaveLength(1);
    expect(inbox.deliver()).toEqual([]);
  });

  it('in the background is announced after all when the call that awaits it is interrupted', async () => {
    const {dispatch, manager, inbox} = managerFixture();
    const model = new ScriptedModel([say('here')]);
    const wait = new AbortController();
    const first = await dispatch(model, {background: true});
    await dispatch(model, {signal: wait.signal});
    wait.abort();
    await sourceAndText(first);
    await manager.waitAll();
    expect(inbox.deliver()).toHaveLength(1);
  });

  it('returns the cached result after its end, and runs again when a file changed', async () => {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    await folder.write('a.ts', 'one');
    const fingerprint = new WorkspaceFingerprint(folder.path);
    const {dispatch} = managerFixture({options: {fingerprint: () => fingerprint.take()}});
    const model = new ScriptedModel([say('first'), say('second')]);
    expect(await sourceAndText(await dispatch(model))).toEqual(['run', 'first']);
    expect(await sourceAndText(await dispatch(model))).toEqual(['cached', 'first']);
    writeFileSync(path.join(folder.path, 'a.ts'), 'two');
    expect(await sourceAndText(await dispatch(model))).toEqual(['run', 'second']);
  });

  it('in the background is a new run that repeats the result without a model call, and is announced', async () => {
    const {dispatch, inbox, manager} = managerFixture();
    const model = new ScriptedModel([say('here')]);
    const first = await sourceAndText(await dispatch(model));
    const again = await dispatch(model, {background: true});
    expect([first, again.source, model.requests.length]).toEqual([['run', 'here'], 'run', 1]);
    await manager.waitAll();
    const [message] = inbox.deliver();
    expect(message?.content).toMatch(/Status: success\nResult: \[cached\]\nhere\n\n\(run [\w-]+: 0 tools · /);
    expect(manager.list().map(({background, outcome}) => [background, outcome])).toEqual([
      [false, 'success'],
      [true, 'success'],
    ]);
  });

  it('runs twice with different isolation', async () => {
    const {dispatch} = managerFixture();
    const model = new ScriptedModel([say('here')]);
    const first = await dispatch(model);
    const second = await dispatch(model, {isolation: 'worktree'});
    expect([first.source, second.source]).toEqual(['run', 'run']);
    expect((await sourceAndText(second))[1]).toBe('');
  });

  it('runs twice when the prompts differ in case', async () => {
    const {dispatch} = managerFixture();
    const model = new ScriptedModel([say('a'), say('b')]);
    const both = await Promise.all(['Read README.md', 'read readme.md'].map((prompt) => dispatch(model, {prompt})));
    expect(both.map(({source}) => source)).toEqual(['run', 'run']);
  });

  it('runs again after a failed, stopped or empty run', async () => {
    const {dispatch, manager} = managerFixture();
    expect((await sourceAndText(await dispatch(new ScriptedModel([]))))[0]).toBe('run');
    expect((await sourceAndText(await dispatch(new ScriptedModel([{content: []}]))))[0]).toBe('run');
    const hanging = new ScriptedModel([{hang: true}]);
    const dispatched = await dispatch(hanging);
    await hanging.asked();
    await manager.stopAll();
    expect((await sourceAndText(dispatched))[0]).toBe('run');
    expect(manager.list().map(({outcome}) => outcome)).toEqual(['error', 'error', 'stopped']);
    expect(await sourceAndText(await dispatch(new ScriptedModel([say('at last')])))).toEqual(['run', 'at last']);
  });

  it('runs again while the first is being stopped', async () => {
    const {dispatch, manager} = managerFixture();
    await dispatch(new ScriptedModel([{hang: true}]));
    const stopped = manager.stopAll();
    expect(await sourceAndText(await dispatch(new ScriptedModel([say('anew')])))).toEqual(['run', 'anew']);
    await stopped;
  });

  it('joins a writing run, and runs again after its end', async () => {
    const {dispatch} = managerFixture();
    const agent = AGENT_TYPES.code!;
    const model = new ScriptedModel([say('a'), say('b')]);
    const both = await Promise.all([dispatch(model, {agent}), dispatch(model, {agent})]);
    expect(await Promise.all(both.map(sourceAndText))).toEqual([
      ['run', 'a'],
      ['joined', 'a'],
    ]);
    expect(await sourceAndText(await dispatch(model, {agent}))).toEqual(['run', 'b']);
  });
});
