/** Commands of the main agent that go on in the background: they are listed, stopped and announced as runs are. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {ToolFacts, ToolResult} from '../../../src/core/contract/results.ts';
import type {BackgroundCall} from '../../../src/core/turn/foreground-call.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {until} from '../../support/wait.ts';
import {managerFixture} from '../manager-fixture.ts';

function start(run: BackgroundCall['run']) {
  const made = managerFixture();
  const input = {command: 'npm test'};
  const begun = made.manager.background.start({callId: 'call-1', tool: 'bash', title: 'npm test', input, run});
  const get = () => made.manager.list()[0]!;
  const ended = async () => {
    await until(() => get().endedAt !== undefined);
    return get();
  };
  return {...made, begun, get, ended};
}

describe('a command in the background', () => {
  it('is accepted at once with the file of its output, and is no agent that takes messages or is waited for', async () => {
    const {begun, get, manager, read, events} = start((_, signal) => {
      const {promise, resolve} = Promise.withResolvers<ToolResult>();
      signal.addEventListener('abort', () => resolve(textResult('half')));
      return promise;
    });
    const {runId, output = ''} = get();
    expect(JSON.parse(String(begun.content))).toEqual({status: 'accepted', runId, output});
    expect(begun.display).toEqual({type: 'text', text: '[bash] npm test runs in the background: /subagents'});
    expect(existsSync(output)).toBe(true);
    expect(get()).toMatchObject({tool: 'bash', callId: 'call-1', background: true, state: 'processing'});
    expect(read(runId)[0]).toMatchObject({message: {content: '{"command":"npm test"}'}});
    expect(manager.count()).toBe(0);
    await manager.nextEnd();
    expect(() => manager.send(runId, 'hello')).toThrow(expect.objectContaining({code: 'NO_AGENT'}));
    await manager.stop(runId);
    expect(get()).toMatchObject({state: 'stopped', outcome: 'stopped'});
    expect(
      events.filter(({type}) => ['run_start', 'run_state', 'tool_start', 'tool_end'].includes(type)),
    ).toMatchObject([
      {type: 'run_start', agent: 'bash', description: 'npm test', queued: false, background: true},
      {type: 'run_state', state: 'processing'},
      {type: 'tool_start', tool: 'bash', title: 'npm test'},
      {type: 'run_state', state: 'stopping'},
      {type: 'tool_end', isError: false, preview: 'half'},
      {type: 'run_state', state: 'stopped'},
    ]);
  });

  it.each<[ToolResult, object]>([
    [textResult('ok', {facts: {exitCode: 0}}), {outcome: 'success'}],
    [textResult('bad', {isError: true, facts: {exitCode: 2}}), {outcome: 'error', reason: 'exit code 2'}],
    [textResult('refused\nbecause', {isError: true}), {outcome: 'error', reason: 'refused'}],
    [textResult('late', {isError: true, facts: {timedOut: 9}}), {outcome: 'timeout', reason: 'timed out after 9 s'}],
  ])('that ends by %j', async (result, facts) => {
    const {ended, inbox, read} = start(async () => result);
    const {output, ...record} = await ended();
    expect(record).toMatchObject({...facts, tools: 1, announcement: 'waiting'});
    if (!('reason' in facts)) expect(record).not.toHaveProperty('reason');
    const roles = read(record.runId).flatMap((line) => (line.type === 'message' ? [line.message.role] : []));
    expect(roles).toEqual(['user', 'assistant']);
    const [message] = inbox.deliver();
    expect(message?.content).toContain(`Result: ${result.content}\n\nThe whole output: ${output}\n`);
  });

  it('has in its receipt the files that were found to be changed after its end', async () => {
    const {promise: laterFacts, resolve} = Promise.withResolvers<ToolFacts>();
    const {ended, home} = start(async () => textResult('ok', {facts: {exitCode: 0}, laterFacts}));
    resolve({changed: [path.join(home, 'work', 'a.txt')]});
    expect((await ended()).receipt).toContain('changed 1 file: a.txt');
  });

  it('that cannot be run fails with the reason', async () => {
    const {ended} = start(() => Promise.reject(new Error('no shell')));
    expect(await ended()).toMatchObject({outcome: 'error', reason: 'bash failed: no shell'});
  });

  it.each([
    ['20 lines', Array.from({length: 20}, (_, line) => `line ${line}`).join('\n'), ''],
    ['more than 20 lines', Array.from({length: 21}, (_, line) => `line ${line}`).join('\n'), '…\nline 1\n'],
    ['2000 characters', 'x'.repeat(2_000), ''],
    ['more than 2000 characters', `y${'x'.repeat(2_000)}`, '…\nxxx'],
  ])('that printed %s is announced with the last of them', async (_, printed, begin) => {
    const {ended, read} = start(async () => textResult(`${printed}\n\n`));
    const {runId} = await ended();
    const {text = ''} = read(runId).find((entry) => entry.type === 'end') ?? {};
    const [shown = ''] = text.split('\n\nThe whole output: ');
    if (begin === '') expect(shown).toBe(printed);
    else expect(shown.startsWith(begin) && printed.endsWith(shown.slice(2))).toBe(true);
  });
});
