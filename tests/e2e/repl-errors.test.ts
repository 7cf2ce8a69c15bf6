import {describe, expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {startCli} from '../support/run-cli.ts';
import {
  callTool,
  callTools,
  cut,
  garbledJson,
  hangBeforeHeaders,
  refuse,
  stall,
  status,
} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {explore, isSubagent, processesWith, project, serve, uniqueSleep} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

describe('the REPL after an error', () => {
  const settings = JSON.stringify({retry: {maxWaitSeconds: 0.3}});

  it.each([
    ['a wrong key', [status(401)], /the model server refused the key/],
    ['a cut stream', [cut(6), cut(6)], /the stream broke off/],
    ['an overloaded server', [status(529), status(529)], /the model server is overloaded \(529\)/],
    ['a refusal', [refuse('No.')], /the model refused to answer/],
  ] as const)('shows %s as one clear line, and goes on', async (_, script, message) => {
    const server = await serve([...script, say('Here again.')]);
    const workspace = await project();
    const file = await workspace.write('settings.json', settings);
    const terminal = await repl({server, cwd: workspace.path, args: ['--settings', file]});
    await send(terminal, 'hello');
    await terminal.waitFor(message);
    await idle(terminal);
    expect(terminal.scrollback().filter((line) => message.test(line) && !line.includes('retrying'))).toHaveLength(1);
    await send(terminal, 'again');
    await terminal.waitFor('Here again.');
  });

  it('returns broken JSON and an unknown tool to the model, and the turn goes on', async () => {
    const terminal = await repl({server: await serve([garbledJson('bash'), callTool('fly', {}), say('Landed.')])});
    await send(terminal, 'hello');
    await terminal.waitFor('Landed.');
  });

  it.each([
    ['a stream that stops', [stall(5), say('Here again.')]],
    ['a server that says nothing', [hangBeforeHeaders(), say('Here again.')]],
    ['the wait before it asks again', [status(429, {retryAfter: 30}), say('Here again.')]],
  ] as const)('interrupts %s by Esc, and the next prompt is answered', async (_, script) => {
    const server = await serve([...script]);
    const terminal = await repl({server});
    await send(terminal, 'hello');
    await server.waitForRequests(1);
    await terminal.waitFor(/Esc interrupts/);
    terminal.press('escape');
    await terminal.waitFor('interrupted');
    await idle(terminal);
    await send(terminal, 'again');
    await terminal.waitFor('Here again.');
  });

  it('ends a hanging command with all its processes, and the subagents, by Esc', async () => {
    const hang = uniqueSleep();
    const server = await serve((body) => {
      if (isSubagent(body)) return callTool('bash', {command: 'sleep 4321'});
      return body.messages.length === 1
        ? callTools([{name: 'bash', input: {command: `trap '' TERM; ${hang} & ${hang}`}}, explore()])
        : say('Here again.');
    });
    const terminal = await repl({server, args: ['--dangerously-skip-permissions']});
    await send(terminal, 'hang');
    await until(async () => (await processesWith(hang)).length > 0);
    terminal.press('escape');
    await terminal.waitFor('interrupted', 5 * 1000);
    await until(async () => (await processesWith(hang)).length === 0);
    await send(terminal, 'again');
    await terminal.waitFor('Here again.');
  });

  it('shows escape sequences of the model, a tool and a file: they cannot move the cursor or set the title', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u001b[1;1Howned\u202Eevil';
    const workspace = await project();
    await workspace.write('evil.txt', `${evil}\n`);
    const server = await serve([
      callTool('read_file', {path: 'evil.txt'}),
      callTool('grep', {pattern: 'owned', mode: 'content'}),
      say(`I say ${evil}`),
    ]);
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, 'look');
    await terminal.waitFor('I say');
    await idle(terminal);
    expect(terminal.title()).not.toContain('owned');
    expect(terminal.raw()).not.toMatch(/\u001b\[2J|\u001b\]0;owned/);
    expect(terminal.text()).toContain('▌ look');
    expect(terminal.text()).toContain('␛');
  });

  it('restores the terminal on SIGTERM and exits with 143', async () => {
    const terminal = await repl();
    process.kill(terminal.pid, 'SIGTERM');
    expect((await terminal.waitForExit()).code).toBe(143);
    expect(terminal.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw().lastIndexOf('\u001b[?25l'));
  });

  it('shows a wrong setting in one line and exits with 2', async () => {
    const workspace = await project();
    const file = await workspace.write('wrong.json', '{"model": 7}');
    const terminal = await startCli(['--settings', file], {cwd: workspace.path});
    onTestFinished(terminal.close);
    expect((await terminal.waitForExit()).code).toBe(2);
    expect(terminal.text()).toMatch(/wrong\.json:1:11: model: /);
  });
});
