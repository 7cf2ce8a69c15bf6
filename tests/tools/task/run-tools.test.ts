/** TaskList, TaskOutput, TaskSend, TaskStop and FanOut, with a manager and fan-outs that say what was asked of them. */
import {describe, expect, it} from 'vitest';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import type {FanOuts} from '../../../src/core/fan-out/fan-outs.ts';
import type {SubagentManager} from '../../../src/core/subagent-manager.ts';
import {createFanOutTool} from '../../../src/tools/task/fan-out.ts';
import {createTaskList, createTaskOutput, createTaskSend, createTaskStop} from '../../../src/tools/task/run-tools.ts';
import {fixture} from '../fixture.ts';

const AT_WORK: RunRecord = {
  ...{runId: 'id-12345', agent: 'explore', description: 'look around', model: 'm', background: true, cleanup: 'keep'},
  ...{sessionId: 's', transcript: '/t/id.jsonl', state: 'processing', createdAt: 0, lastAt: 0, tools: 1, round: 1},
  usage: {input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
  ...{usageByModel: {}, restored: false},
};
const ENDED: RunRecord = {...AT_WORK, state: 'idle', outcome: 'success', endedAt: 5};

/** @param ends the run ends while it is waited for, and when it is stopped */
function setUp(record: RunRecord, {ends = false, sent = 'queued'} = {}) {
  const asked: unknown[] = [];
  let now = record;
  const end = () => {
    if (ends) now = ENDED;
  };
  const manager = {
    list: () => [now],
    find: (reference: string) => {
      asked.push(['find', reference]);
      return now;
    },
    async waitFor(runId: string, ms: number) {
      asked.push(['wait', runId, ms]);
      end();
    },
    async stop(...given: unknown[]) {
      asked.push(['stop', ...given]);
      end();
    },
    send(...given: unknown[]) {
      asked.push(['send', ...given]);
      return sent;
    },
    report: ({outcome}: RunRecord) => `report: ${outcome}`,
  } as unknown as SubagentManager;
  return {asked, manager: () => manager, call: fixture().call};
}

describe('the tools about runs', () => {
  it('list the runs of the session', async () => {
    const {call, manager} = setUp(AT_WORK);
    expect((await call(createTaskList(manager), {})).text).toBe(
      '1  running  explore  look around  1 tool  2 tokens  id-12345',
    );
  });

  it.each([
    [undefined, 0],
    [2, 2000],
  ])('wait %s s, and give the report of a run that has ended', async (wait_seconds, ms) => {
    const {call, manager, asked} = setUp(AT_WORK, {ends: true});
    expect((await call(createTaskOutput(manager), {run_id: 1, wait_seconds})).text).toBe('report: success');
    expect(asked.slice(0, 2)).toEqual([
      ['find', '1'],
      ['wait', 'id-12345', ms],
    ]);
  });

  it('give the state of a run that is at work', async () => {
    const {call, manager} = setUp(AT_WORK);
    const {text, isError} = await call(createTaskOutput(manager), {run_id: 'id-1'});
    expect(text).toMatch(/^running: .*look around.*\nRun: id-12345 · transcript \/t\/id\.jsonl$/);
    expect(isError).toBeUndefined();
    expect(await call(createTaskOutput(manager), {run_id: 'id-1', wait_seconds: 601})).toMatchObject({isError: true});
  });

  it('stop a run for the agent and give its report, but not one that has ended', async () => {
    const {call, manager, asked} = setUp(AT_WORK, {ends: true});
    expect((await call(createTaskStop(manager), {run_id: 'id-1'})).text).toBe('report: success');
    expect(asked).toContainEqual(['stop', 'id-12345', 'stop', 'agent']);
    const before = asked.length;
    expect((await call(createTaskStop(manager), {run_id: 'id-1'})).text).toBe('It has ended already: success.');
    expect(asked.slice(before)).toEqual([['find', 'id-1']]);
  });

  it('send a message, and say when it is read', async () => {
    const send = async (message: string, sent?: string) => {
      const {call, manager, asked} = setUp(AT_WORK, {sent});
      const {text, isError = false} = await call(createTaskSend(manager), {run_id: 2, message});
      return {text, isError, asked};
    };
    expect(await send('look at b')).toEqual({
      text: 'Sent: it reads the message at its next turn.',
      isError: false,
      asked: [['send', '2', 'look at b']],
    });
    expect((await send('go on', 'resumed')).text).toContain('in the background');
    expect(await send(' \n')).toMatchObject({isError: true, asked: []});
  });

  it('need no permission, and are shown with the run that the call names', () => {
    const {manager} = setUp(AT_WORK);
    const {workspace} = fixture();
    const stop = createTaskStop(manager);
    expect(stop.access({run_id: 3}, workspace)).toEqual([{kind: 'none'}]);
    expect([stop.title({run_id: 3}, workspace), createTaskList(manager).title({}, workspace)]).toEqual(['3', '']);
  });
});

describe('FanOut', () => {
  const INPUT = {instruction: ' add a\n  header ', files: ['a.ts']};

  /** @param approved what the preview is answered. @param successful parts */
  async function fanOut(approved: unknown, successful = 1) {
    const requests: unknown[] = [];
    const denials: unknown[] = [];
    const fanOuts = {
      async request(
        {instruction, files}: object & {instruction?: string; files?: string[]},
        _: AbortSignal,
        by: string,
      ) {
        requests.push({instruction, files, by});
        return approved;
      },
      run: async (given: unknown, _: AbortSignal, callId: string) => ({
        ...{text: `${JSON.stringify(given)} for ${callId}`, results: {successful}, changed: ['a.ts']},
      }),
    } as unknown as FanOuts;
    const tool = createFanOutTool({fanOuts: () => fanOuts, onDenied: (denial) => void denials.push(denial)});
    const at = fixture();
    const result = await at.call(tool, INPUT);
    return {
      result,
      requests,
      denials,
      title: tool.title(INPUT, at.workspace),
      access: tool.access(INPUT, at.workspace),
    };
  }

  it('asks by its preview, then runs what was approved', async () => {
    const {result, requests, denials, title, access} = await fanOut({plan: 1});
    expect(requests).toEqual([{...INPUT, by: 'model'}]);
    expect(result).toMatchObject({text: '{"plan":1} for call-1', isError: false, facts: {changed: ['a.ts']}});
    expect({denials, title, access}).toEqual({denials: [], title: 'add a header', access: [{kind: 'none'}]});
  });

  it('is an error where no part succeeded', async () => {
    expect((await fanOut({}, 0)).result.isError).toBe(true);
  });

  it('does not run where the user refuses it, or nobody can be asked', async () => {
    const refused = await fanOut('no');
    expect(refused.result).toMatchObject({isError: true, text: expect.stringContaining('The user refused')});
    expect(refused.denials).toEqual([]);
    const alone = await fanOut('nobody');
    expect(alone.result).toMatchObject({isError: true, text: expect.stringContaining('--fan-out auto allows it')});
    expect(alone.denials).toMatchObject([{callId: 'call-1', title: INPUT.instruction, input: INPUT}]);
  });
});
