import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {type Script, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, cut, garbledJson, hangBeforeHeaders, refuse, status} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {home, processesWith, project, serve, uniqueSleep} from './fixture.ts';

describe('print mode with a failure', () => {
  async function failing(script: Script, args: readonly string[] = []) {
    const server = await serve(script);
    const workspace = await project();
    const settings = await workspace.write('quick.json', JSON.stringify({retry: {maxWaitSeconds: 1}}));
    return {server, run: await runCli(['-p', 'x', '--settings', settings, ...args], {server, cwd: workspace.path})};
  }

  it('reports a wrong key in one line and exits with 1', async () => {
    const {run} = await failing([status(401)]);
    expect(run).toMatchObject({code: 1, stdout: ''});
    expect(run.stderr).toBe(
      'mini-cc: the model server refused the key: check ANTHROPIC_API_KEY (401): invalid x-api-key\n',
    );
  });

  it('reports a server that does not answer, and exits with 1', async () => {
    const gone = await startMessagesServer([]);
    await gone.close();
    const workspace = await project();
    const settings = await workspace.write('quick.json', JSON.stringify({retry: {maxWaitSeconds: 0}}));
    const run = await runCli(['-p', 'x', '--settings', settings], {server: gone});
    const {host} = new URL(gone.url);
    expect(run).toMatchObject({code: 1, stdout: '', stderr: `mini-cc: cannot reach ${host} (ECONNREFUSED)\n`});
  });

  it('retries after 529, says so, and fails when the time for it is used', async () => {
    const {run, server} = await failing(() => status(529));
    expect(run.code).toBe(1);
    const words =
      /^retrying in 1s \(529\), attempt 2\n(?:retrying in 1s \(529\), attempt \d\n)*mini-cc: the model server is overloaded \(529\).*\n$/;
    expect(run.stderr).toMatch(words);
    expect(server.requests).toHaveLength(run.stderr.trim().split('\n').length);
  });

  it('returns the received text and the reason when the stream is always cut off', async () => {
    const {run} = await failing(() => cut(6));
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/^This sentence/);
    expect(run.stderr).toContain('mini-cc: the stream broke off');
  });

  it('ends with a clear message after broken JSON, an unknown tool or a refusal', async () => {
    const {run, server} = await failing([garbledJson('bash'), callTool('fly', {}), say('I gave up')]);
    expect(run).toMatchObject({code: 0, stdout: 'I gave up\n'});
    expect(JSON.stringify(server.requests[1]?.body.messages.at(-1))).toContain('no valid JSON');
    expect(JSON.stringify(server.requests[2]?.body.messages.at(-1))).toContain('fly is not a tool of this agent');
    const refused = await failing([refuse('No.')]);
    expect(refused.run).toMatchObject({code: 1, stdout: 'No.\n'});
    expect(refused.run.stderr).toMatch(
      /^mini-cc: The last prompt .* left out of the conversation.*\nmini-cc: the model refused to answer\n$/,
    );
  });

  it("names the subagent's run in what it says about itself on standard error", async () => {
    const task = callTool('Task', {description: 'look around here', prompt: 'look', agent_type: 'explore'});
    const script: Script = ({tools = []}, index) => {
      if (!tools.some(({name}) => name === 'Task')) return refuse('No.');
      return index === 0 ? task : say('ok');
    };
    const {stderr} = await runCli(['-p', 'x'], {server: await serve(script)});
    expect(stderr).toMatch(/^mini-cc: \[explore\] look around here: The last prompt .* left out/m);
    expect(stderr).not.toMatch(/^mini-cc: The last prompt/m);
  });

  it('exits with 3 and the matching subtype at the limit of turns or time', async () => {
    const loop: Script = () => callTool('glob', {pattern: '*'});
    const turns = await failing(loop, ['--max-turns', '3', '--output-format', 'json']);
    expect(turns.run.code).toBe(3);
    expect(JSON.parse(turns.run.stdout)).toMatchObject({subtype: 'error_max_turns', is_error: true, num_turns: 3});
    expect(turns.server.requests).toHaveLength(3);
    const time = await failing([hangBeforeHeaders()], ['--timeout', '1', '--output-format', 'json']);
    expect(time.run.code).toBe(3);
    expect(JSON.parse(time.run.stdout)).toMatchObject({subtype: 'error_timeout'});
  });

  it('ends a bash command that never ends at the time limit, and leaves no process', async () => {
    const hang = uniqueSleep();
    const server = await serve([callTool('bash', {command: `trap '' TERM; ${hang} & ${hang}`}), say('x')]);
    const run = await runCli(['-p', 'x', '--timeout', '1', '--dangerously-skip-permissions'], {server});
    expect(run.code).toBe(3);
    await expect.poll(() => processesWith(hang)).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('after %s exits with %d, and leaves no process of its tools', async (signal, code) => {
    const command = uniqueSleep();
    const server = await serve([callTool('bash', {command}), say('x')]);
    const child = await spawnCli(['-p', 'x', '--dangerously-skip-permissions'], {server, home: await home()});
    child.stdin.end();
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await until(async () => (await processesWith(command)).length > 0);
    child.kill(signal);
    expect(await ended).toBe(code);
    await until(async () => (await processesWith(command)).length === 0);
  });

  it('after kill -9 leaves no command running, also no unconfined one', async () => {
    const command = uniqueSleep();
    const server = await serve([callTool('bash', {command: `${command} & ${command}`}), say('x')]);
    const child = await spawnCli(['-p', 'x', '--dangerously-skip-permissions'], {server, home: await home()});
    child.stdin.end();
    await until(async () => (await processesWith(command)).length > 1);
    // The shell that ends the commands of a killed mini-cc starts right after the first command.
    const listShells = () => execa('ps', ['--ppid', String(child.pid), '-o', 'args='], {reject: false});
    await until(async () => (await listShells()).stdout.includes('kill -s KILL'));
    child.kill('SIGKILL');
    await until(async () => (await processesWith(command)).length === 0);
  });

  it('is bad usage with a flag that it does not know: one line, exit 2', async () => {
    const run = await runCli(['-p', 'x', '--modle', 'x']);
    expect(run).toMatchObject({code: 2, stdout: ''});
    expect(run.stderr).toBe('mini-cc: Unknown flag --modle (did you mean --model?). --help lists them\n');
  });

  it('ends quietly when the reader of its output closes the pipe', async () => {
    const server = await serve([say('line\n'.repeat(50_000))]);
    const child = await spawnCli(['-p', 'x'], {server, home: await home()});
    child.stdin.end();
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
  });
});
