/** Print mode at pipes: a reader that leaves early, and a standard input that is open and silent. */
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {explore, isSubagent, processesWith, project, serve, uniqueSleep} from './fixture.ts';

/** Runs the program in a line of the shell, as `"$@"`. */
const inShell = (line: string) => (command: string, args: readonly string[]) =>
  ['bash', ['-c', line, 'bash', command, ...args]] as [string, string[]];

it('a standard error on a full disk costs the progress alone', async () => {
  const server = await serve((body) => {
    if (isSubagent(body)) return say('found');
    return countReplies(body) === 0 ? callTool('Task', explore().input) : say('done');
  });
  const wrap = inShell('"$@" 2> /dev/full');
  expect(await runCli(['-p', 'go'], {server, wrap})).toMatchObject({code: 0, stdout: 'done\n'});
});

it('40 subagents share few file descriptors: they wait for them, and none fails', async () => {
  const part = (n: number) => ({
    name: 'Task',
    input: {description: `part ${n}`, prompt: `part ${n}`, agent_type: 'code'},
  });
  const server = await serve((body) => {
    if (isSubagent(body)) return countReplies(body) === 0 ? callTool('bash', {command: 'true'}) : say('found');
    return countReplies(body) === 0 ? callTools(Array.from({length: 40}, (_, n) => part(n))) : say('done');
  });
  const wrap = inShell('ulimit -n 48; "$@"');
  const run = await runCli(['-p', 'go', '--dangerously-skip-permissions'], {server, wrap, cwd: (await project()).path});
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(run.stderr.match(/ - done \(/g)).toHaveLength(40);
});

describe('a reader of standard output that leaves', () => {
  it('before the work is done stops it, with one line and exit code 1', async () => {
    const command = uniqueSleep();
    const server = await serve((body) => {
      if (isSubagent(body)) return callTool('bash', {command});
      const task = {...explore().input, agent_type: 'code'};
      return countReplies(body) === 0 ? callTool('Task', task) : say('done');
    });
    const wrap = inShell('"$@" | head -c 10; exit $PIPESTATUS');
    const flags = ['--dangerously-skip-permissions', '--output-format', 'stream-json', '--verbose'];
    const run = await runCli(['-p', 'go', ...flags], {server, cwd: (await project()).path, wrap});
    expect(run.code).toBe(1);
    expect(run.stderr.match(/^mini-cc: .*$/gm)).toEqual([
      'mini-cc: stopped: standard output was closed before the work was done',
    ]);
    await expect.poll(() => processesWith(command)).toEqual([]);
  });

  it('after that changes nothing', async () => {
    const server = await serve(() => say('line\n'.repeat(100_000)));
    const wrap = inShell('"$@" | head -1; exit $PIPESTATUS');
    const run = await runCli(['-p', 'go'], {server, cwd: (await project()).path, wrap});
    expect(run).toMatchObject({code: 0, stdout: 'line\n', stderr: ''});
    const failed = await runCli(['-p', 'go', '--max-turns', '1', '--output-format', 'json'], {
      server: await serve(() => callTool('bash', {command: `# ${'x'.repeat(200_000)}\ntrue`})),
      ...{cwd: (await project()).path, wrap: inShell('"$@" | head -c 10; exit $PIPESTATUS')},
    });
    expect(failed.code).toBe(3);
  });

  it('of standard error alone does not stop the work', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return say('found');
      return countReplies(body) === 0 ? callTool(explore().name, explore().input) : say('done');
    });
    const wrap = inShell('{ "$@" 2>&1 >&5 5>&- | head -c 1 >/dev/null; } 5>&1; exit $PIPESTATUS');
    const run = await runCli(['-p', 'go'], {server, cwd: (await project()).path, wrap});
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  });
});

describe('a place that takes nothing', () => {
  it.each([
    ['standard output', ['--version'], inShell('"$@" > /dev/full'), 1, /^mini-cc: .*no space left.*\n$/],
    ['standard output', ['-p', 'go'], inShell('"$@" > /dev/full'), 1, /^mini-cc: .*no space left.*\n$/],
    [
      'the home',
      ['-p', 'go'],
      inShell('MINI_CC_HOME=/proc/nope "$@"'),
      2,
      /^mini-cc: Nothing can be written to \/proc\/.*\n$/,
    ],
  ])('as %s of %j is one line', async (_, args, wrap, code, words) => {
    const run = await runCli(args, {server: await serve(() => say('done')), wrap});
    expect(run).toMatchObject({code, stdout: '', stderr: expect.stringMatching(words)});
  });
});

describe('standard input', () => {
  const echo = () => serve((body) => say(`got ${getFirstPrompt(body)}`));

  it('that a program left open is not waited for when the prompt is there', async () => {
    const {path: cwd} = await project();
    const run = await runCli(['-p', 'hello'], {
      server: await echo(),
      cwd,
      wrap: inShell(`mkfifo fifo; exec 5<>fifo; "$@" <&5`),
    });
    expect(run).toMatchObject({code: 0, stdout: 'got hello\n'});
    expect(run.stderr).toBe(
      'mini-cc: nothing came on standard input within 0.3 s: going on without it (< /dev/null avoids the wait)\n',
    );
  });

  it('that a slow command of the pipeline writes is waited for', async () => {
    const wrap = inShell('{ sleep 1; echo slow; } | "$@"');
    const run = await runCli(['-p', 'hello'], {server: await echo(), cwd: (await project()).path, wrap});
    expect(run).toMatchObject({code: 0, stdout: 'got hello\n\nslow\n', stderr: ''});
  });
});
