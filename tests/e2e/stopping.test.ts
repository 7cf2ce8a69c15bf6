/** What stops a prompt while a hook or a command of its file is waited for: a limit, an editor, a driver. */
import {methods} from '@agentclientprotocol/sdk';
import {describe, expect, it} from 'vitest';
import {startAcp} from '../drivers/acp-client.ts';
import {startDriven} from '../drivers/driven.ts';
import {callTool, say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {processesWith, project, serve, uniqueSleep} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

/** A project, and settings with a hook that takes very long. */
async function slowHook(event: string) {
  const work = await project();
  const command = uniqueSleep();
  const hooks = {[event]: [{hooks: [{type: 'command', command}]}]};
  const settings = await work.write('.git/settings.json', JSON.stringify({hooks}));
  const runs = async () => (await processesWith(command)).length > 0;
  return {work, args: ['--settings', settings], runs, command};
}

describe('--timeout', () => {
  // The later a hook comes, the more seconds it gets, so that it is there in time on a slow machine.
  it.each([
    ['UserPromptSubmit', 2, 0],
    ['SessionStart', 2, 0],
    ['PreToolUse', 6, 1],
    ['Stop', 10, 2],
  ])('ends a %s hook', async (event, seconds, requests) => {
    const server = await serve([callTool('bash', {command: 'echo hi'}), say('the answer')]);
    const {work, args, runs} = await slowHook(event);
    const limited = ['-p', 'go', '--timeout', String(seconds), '--permission-mode', 'bypassPermissions'];
    const run = await runCli([...limited, '--output-format', 'json', ...args], {server, cwd: work.path});
    expect(JSON.parse(run.stdout)).toMatchObject({subtype: 'error_timeout', is_error: true});
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining(`timed out after ${seconds} s`)]);
    expect(await runs()).toBe(false);
    expect(server.requests.length).toBe(requests);
  });

  it('ends a command within the file of a custom command, and sends nothing', async () => {
    const server = await serve([say('never')]);
    const work = await project();
    const command = uniqueSleep();
    await work.write('.mini-cc/commands/slow.md', `Look at !\`${command}\``);
    const run = await runCli(['-p', '/slow', '--timeout', '2', '--permission-mode', 'bypassPermissions'], {
      ...{server, cwd: work.path},
    });
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('timed out after 2 s')]);
    expect([await processesWith(command), server.requests]).toEqual([[], []]);
  });
});

describe('while a hook looks at a prompt', () => {
  it('an editor cancels it, also a second one that came during the turn before', async () => {
    const server = await serve([say('never')]);
    const {work, args, runs} = await slowHook('UserPromptSubmit');
    const acp = await startAcp(args, {server});
    const sessionId = await acp.open(work.path);
    const first = acp.prompt(sessionId, 'go');
    const second = acp.prompt(sessionId, 'and that');
    await until(runs, 'the hook');
    await acp.agent.notify(methods.agent.session.cancel, {sessionId});
    expect(await Promise.all([first, second])).toMatchObject([{stopReason: 'cancelled'}, {stopReason: 'cancelled'}]);
    const third = acp.prompt(sessionId, 'once more');
    await until(runs, 'the hook');
    await acp.agent.notify(methods.agent.session.cancel, {sessionId});
    expect(await third).toMatchObject({stopReason: 'cancelled'});
    await until(async () => !(await runs()), 'the end of the hook');
    expect(server.requests).toEqual([]);
  });

  it('Esc brings it back into the prompt, with what was sent after it', async () => {
    const server = await serve([say('here again')]);
    const {work, args, runs} = await slowHook('UserPromptSubmit');
    const terminal = await repl({server, cwd: work.path, args});
    await send(terminal, 'first things');
    await until(runs, 'the hook');
    await send(terminal, 'second things');
    await terminal.waitFor('queued: second things');
    terminal.press('escape');
    await terminal.waitFor('The prompt was not sent: interrupted by the user.');
    await terminal.waitFor(/^> first things\n\s+second things/m);
    await until(async () => !(await runs()), 'the end of the hook');
    expect(server.requests).toEqual([]);
  });

  it('a driver interrupts it, and gets a result', async () => {
    const server = await serve([say('never')]);
    const {work, args, runs} = await slowHook('UserPromptSubmit');
    const driven = await startDriven(args, {server, cwd: work.path});
    const done = driven.prompt('go');
    await until(runs, 'the hook');
    await driven.request({subtype: 'interrupt'});
    expect(await done).toMatchObject({subtype: 'error_during_execution', is_error: true});
    await until(async () => !(await runs()), 'the end of the hook');
    expect([server.requests, await driven.end()]).toEqual([[], 0]);
  });
});

it('a prompt that comes during a turn of an editor gets the end of that turn', async () => {
  const gate = Promise.withResolvers<void>();
  const server = await serve(async (_, index) => {
    if (index === 0) await gate.promise;
    return say(index === 0 ? 'one' : 'two');
  });
  const acp = await startAcp([], {server});
  const sessionId = await acp.open((await project()).path);
  const first = acp.prompt(sessionId, 'go');
  await server.waitForRequests(1);
  const second = acp.prompt(sessionId, 'and that');
  gate.resolve();
  expect(await Promise.all([first, second])).toMatchObject([{stopReason: 'end_turn'}, {stopReason: 'end_turn'}]);
  expect(acp.said()).toContain('two');
});
