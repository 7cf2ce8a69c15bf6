import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {RunAborted} from '../../src/core/turn/run-ending.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {until} from '../support/wait.ts';
import {FakeClock} from './fake-clock.ts';
import {createRoot, managerFixture} from './manager-fixture.ts';
import {tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say} from './scripted-model.ts';

describe('a subagent', () => {
  it('starts with its prompt as the only message, and has the memory files in its system prompt', async () => {
    const model = new ScriptedModel([say('here')]);
    await managerFixture().spawn(model);
    expect(model.requests[0]?.messages).toEqual([{role: 'user', content: 'find it'}]);
    expect(model.requests[0]?.system).toContain('be brief');
  });

  it('has only the tools of its definition, and gets an error when it calls another', async () => {
    const model = new ScriptedModel([calls(call('write_file', {}), call('Task', {}, 'task')), say('I may not')]);
    const tools = ['bash', 'read_file', 'write_file', 'grep', 'glob'].map((name) => tool(name));
    const {result} = await managerFixture({tools}).spawn(model);
    expect(model.requests[0]?.tools.map((spec) => spec.name)).toEqual(['bash', 'read_file', 'grep', 'glob']);
    expect(result.tools.map((record) => record.isError)).toEqual([true, true]);
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Task is not a tool of this agent');
  });

  it('returns its text and a receipt of what the runtime saw', async () => {
    const root = createRoot();
    const read = tool('read_file', () => textResult('', {facts: {read: [path.join(root, 'a.ts')]}}));
    const bash = tool('bash', () => textResult('', {facts: {exitCode: 1}}));
    const model = new ScriptedModel([
      calls(call('read_file', {}, '1'), call('bash', {}, '2')),
      say('It is in a.ts:2, also b.ts:9. I changed 12 files.'),
    ]);
    const {report, receipt} = await managerFixture({root, tools: [read, bash]}).spawn(model);
    expect(report).toContain('It is in a.ts:2');
    expect(receipt.line).toMatch(
      /^Receipt: 2 tools · read 1 file · changed none · commands 1 \(exit 1\) · citations 1\/2 exist \(missing: b\.ts:9\) · [\d.]+s · tokens in 20 out 10 · est n\/a$/,
    );
    expect(report).toMatch(/\nRun: [0-9a-f-]{36} · transcript \//);
  });

  it('marks an answer without any tool call as UNVERIFIED', async () => {
    const {report} = await managerFixture().spawn(new ScriptedModel([say('Status: success, all verified')]));
    expect(report).toContain('UNVERIFIED');
  });

  it('reports what it had by then and why it did not finish', async () => {
    const [clock, model] = [new FakeClock(), new ScriptedModel([{hang: true, partial: 'half'}])];
    const spawned = managerFixture({runs: {clock}}).spawn(model, {limits: {timeoutSeconds: 30}});
    await model.asked();
    clock.advance(30_000);
    const {report, result} = await spawned;
    expect(result.outcome).toBe('timeout');
    expect(report).toMatch(
      /^The run did not finish: timed out after 30 s \(EXECUTION_TIMEOUT\)\.\nWhat it had by then:\nhalf/,
    );
  });

  it('cuts a report longer than twice the asked length at a paragraph, and names the file of the whole', async () => {
    const {report} = await managerFixture().spawn(
      new ScriptedModel([say(`${'word '.repeat(500)}\n\n${'more '.repeat(900)}`)]),
    );
    expect(report.length).toBeLessThan(5_000);
    expect(report).toMatch(/\[cut here: \d+ more characters in \//);
  });

  it('writes how it ended as the last line of its transcript', async () => {
    const {spawn, read} = managerFixture();
    const {runId} = await spawn(new ScriptedModel([say('Status: success')]));
    expect(read(runId).at(-1)).toMatchObject({type: 'end', outcome: 'success'});
  });
});

describe('the pool', () => {
  it('runs no more than its slots at the same time, and starts the next run when any slot is free', async () => {
    const {manager, spawn} = managerFixture();
    const began: number[] = [];
    const ends = Array.from({length: 7}, () => Promise.withResolvers<void>());
    const model = (index: number) => {
      const scripted = new ScriptedModel([say(`answer ${index}`)]);
      const reply = scripted.reply.bind(scripted);
      scripted.reply = async (...args) => {
        began.push(index);
        await ends[index]!.promise;
        return reply(...args);
      };
      return scripted;
    };
    const runs = ends.map((_, index) => spawn(model(index)));
    // In waves, the fourth would wait for the first, which ends last.
    for (const [step, index] of [1, 2, 3, 4, 5, 6, 0].entries()) {
      await until(() => began.length === Math.min(7, step + 3), `run ${step + 2}`);
      expect(manager.list().filter(({state}) => state === 'processing')).toHaveLength(Math.min(3, 7 - step));
      ends[index]!.resolve();
      await runs[index]!;
    }
    const results = await Promise.all(runs);
    expect(began).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(results.map(({result}) => result.text)).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `answer ${index}`));
    expect(manager.count()).toBe(0);
    expect(new Set(results.map(({runId}) => runId)).size).toBe(7);
  });

  it('continues the other runs when one fails', async () => {
    const {spawn, manager} = managerFixture();
    const outcomes = await Promise.all([
      spawn(new ScriptedModel([say('a')])),
      spawn(new ScriptedModel([])),
      spawn(new ScriptedModel([say('c')])),
    ]);
    expect(outcomes.map(({result}) => result.outcome)).toEqual(['success', 'error', 'success']);
    expect(manager.list().map((run) => run.state)).toEqual(['idle', 'error', 'idle']);
  });

  it('emits that a run waits, and when it begins', async () => {
    const {spawn, events} = managerFixture({maxConcurrent: 1});
    await Promise.all([spawn(new ScriptedModel([say('a')])), spawn(new ScriptedModel([say('b')]))]);
    const starts = events.filter((event) => event.type === 'run_start');
    expect(starts.map((event) => event.type === 'run_start' && event.queued)).toEqual([false, true]);
    expect(events.filter((event) => event.type === 'run_active').map((event) => event.agentId)).toEqual([
      starts[1]!.agentId,
    ]);
  });

  it('stops a run for good, with the outcome stopped', async () => {
    const {spawn, manager} = managerFixture();
    const model = new ScriptedModel([{hang: true}]);
    const ended = spawn(model);
    await model.asked();
    const [run] = manager.list();
    expect(await manager.stop(run!.runId)).toBe(true);
    expect((await ended).result.outcome).toBe('stopped');
    expect(manager.get(run!.runId)).toMatchObject({state: 'stopped', outcome: 'stopped'});
    expect(await manager.stop(run!.runId)).toBe(false);
  });

  it('stops all runs; those that wait make no model call', async () => {
    const {spawn, manager} = managerFixture({maxConcurrent: 1});
    const [atWork, waiting] = [new ScriptedModel([{hang: true}]), new ScriptedModel([say('never')])];
    const ended = Promise.all([spawn(atWork), spawn(waiting)]);
    await atWork.asked();
    await manager.stopAll();
    expect((await ended).map(({result}) => result.outcome)).toEqual(['stopped', 'stopped']);
    expect(waiting.requests).toHaveLength(0);
    expect(manager.count()).toBe(0);
  });

  it("ends a run when its parent's turn is aborted", async () => {
    const turn = new AbortController();
    const {spawn} = managerFixture();
    const model = new ScriptedModel([{hang: true}]);
    const ended = spawn(model, {signal: turn.signal});
    await model.asked();
    turn.abort(new RunAborted('user'));
    expect((await ended).result.outcome).toBe('stopped');
  });
});
