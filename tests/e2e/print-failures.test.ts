import {describe, expect, it} from 'vitest';
import {type Script, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, cut, garbledJson, hangBeforeHeaders, refuse, status} from '../support/scripted-replies.ts';
import {home, processesWith, project, serve, until} from './fixture.ts';

describe('a run that goes wrong', () => {
  async function failing(script: Script, args: readonly string[] = []) {
    const server = await serve(script);
    const workspace = await project();
    const settings = await workspace.write('quick.json', JSON.stringify({retry: {maxAttempts: 3, maxWaitSeconds: 5}}));
    return {server, run: await runCli(['-p', 'x', '--settings', settings, ...args], {server, cwd: workspace.path})};
  }

  it('with a wrong key says so in one line and exits with 1', async () => {
    const {run} = await failing([status(401)]);
    expect(run).toMatchObject({code: 1, stdout: ''});
    expect(run.stderr).toBe(
      'mini-cc: the model server refused the key: check ANTHROPIC_API_KEY (401): invalid x-api-key\n',
    );
  });

  it('with a server that is down exits with 1 and names it', async () => {
    const gone = await startMessagesServer([]);
    await gone.close();
    const workspace = await project();
    const settings = await workspace.write('quick.json', JSON.stringify({retry: {maxAttempts: 1}}));
    const run = await runCli(['-p', 'x', '--settings', settings], {server: gone});
    const {host} = new URL(gone.url);
    expect(run).toMatchObject({code: 1, stdout: '', stderr: `mini-cc: cannot reach ${host} (ECONNREFUSED)\n`});
  });

  it('with 529 three times asks again and says so, then fails', async () => {
    const {run, server} = await failing([status(529), status(529), status(529)]);
    expect(run.code).toBe(1);
    expect(server.requests).toHaveLength(3);
    expect(run.stderr).toMatch(
      /^retrying in 1s \(529\)\nretrying in [12]s \(529\)\nmini-cc: the model server is overloaded \(529\).*\n$/,
    );
  });

  it('with a stream that is always cut returns what came and the reason', async () => {
    const {run} = await failing([cut(6), cut(6), cut(6)]);
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/^This sentence/);
    expect(run.stderr).toContain('mini-cc: the stream broke off');
  });

  it('with broken JSON, an unknown tool or a refusal ends clearly', async () => {
    const {run, server} = await failing([garbledJson('bash'), callTool('fly', {}), say('I gave up')]);
    expect(run).toMatchObject({code: 0, stdout: 'I gave up\n'});
    expect(JSON.stringify(server.requests[1]?.body.messages.at(-1))).toContain('no valid JSON');
    expect(JSON.stringify(server.requests[2]?.body.messages.at(-1))).toContain('fly is not a tool of this agent');
    const refused = await failing([refuse('No.')]);
    expect(refused.run).toMatchObject({code: 1, stdout: 'No.\n', stderr: 'mini-cc: the model refused to answer\n'});
  });

  it('at the limit of turns or time exits with 3 and the right subtype', async () => {
    const loop: Script = () => callTool('glob', {pattern: '*'});
    const turns = await failing(loop, ['--max-turns', '3', '--output-format', 'json']);
    expect(turns.run.code).toBe(3);
    expect(JSON.parse(turns.run.stdout)).toMatchObject({subtype: 'error_max_turns', is_error: true, num_turns: 3});
    expect(turns.server.requests).toHaveLength(3);
    const time = await failing([hangBeforeHeaders()], ['--timeout', '1', '--output-format', 'json']);
    expect(time.run.code).toBe(3);
    expect(JSON.parse(time.run.stdout)).toMatchObject({subtype: 'error_timeout'});
    expect(time.run.durationMs).toBeLessThan(6_000);
  });

  it('with bash that never ends is ended at the limit, with no process left', async () => {
    const server = await serve([callTool('bash', {command: "trap '' TERM; sleep 987 & sleep 987"}), say('x')]);
    const run = await runCli(['-p', 'x', '--timeout', '1', '--dangerously-skip-permissions'], {server});
    expect(run.code).toBe(3);
    expect(run.durationMs).toBeLessThan(6_000);
    expect(await processesWith('sleep 987')).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ended by %s exits with %d, and its tools are gone', async (signal, code) => {
    const seconds = 10_000 + code;
    const server = await serve([callTool('bash', {command: `sleep ${seconds}`}), say('x')]);
    const child = await spawnCli(['-p', 'x', '--dangerously-skip-permissions'], {server, home: await home()});
    child.stdin.end();
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await until(async () => (await processesWith(`sleep ${seconds}`)).length > 0);
    child.kill(signal);
    expect(await ended).toBe(code);
    await until(async () => (await processesWith(`sleep ${seconds}`)).length === 0);
  });

  it('killed by kill -9 leaves no command at work, also none that nothing confines', async () => {
    const seconds = 10_009;
    const server = await serve([callTool('bash', {command: `sleep ${seconds} & sleep ${seconds}`}), say('x')]);
    const child = await spawnCli(['-p', 'x', '--dangerously-skip-permissions'], {server, home: await home()});
    child.stdin.end();
    await until(async () => (await processesWith(`sleep ${seconds}`)).length > 1);
    child.kill('SIGKILL');
    await until(async () => (await processesWith(`sleep ${seconds}`)).length === 0);
  });

  it.each([
    [['--max-turns', 'many'], /--max-turns takes a whole number from 1 on/],
    [
      ['--output-format', 'yaml'],
      /Unknown value for flag `--output-format`: `yaml`\. Value must be one of: \[`text`, `json`, `stream-json`\]/,
    ],
    [['--permission-mode', 'yolo'], /Unknown value for flag `--permission-mode`: `yolo`/],
    [['--modle', 'x'], /Unknown flag --modle \(did you mean --model\?\)/],
    [['--fallback-model', 'x'], /--fallback-model is not yet available/],
    [['--max-budget-usd', '1'], /--max-budget-usd is not yet available/],
    [['--json-schema', 'x'], /--json-schema is not yet available/],
    [['--agents', '{"x": {"prompt": 7}}'], /--agents:1:\d+: /],
    [['--fan-out', 'auto'], /--fan-out is not yet available/],
    [['--cwd', '/nowhere'], /No such directory: \/nowhere/],
    [['--add-dir', '/nowhere'], /No such directory: \/nowhere/],
    [['--allowed-tools', 'bash(npm test'], /no closing bracket \(did you mean "bash\(npm test\)"\?\)/],
    [['--allowed-tools', 'bsh'], /--allowed-tools: there is no tool "bsh" \(did you mean bash\?\)/],
    [['--disallowed-tools', 'web_fetch(example.com)'], /did you mean web_fetch\(domain:example\.com\)\?/],
    [['--session-id', 'x'], /--session-id: not a UUID/],
    [['--resume', '../../etc'], /Not a session id/],
    [['--continue'], /no session to continue/],
  ])('%j is bad usage: one line, exit 2', async (args, words) => {
    const run = await runCli(['-p', 'x', ...args]);
    expect(run).toMatchObject({code: 2, stdout: ''});
    expect(run.stderr).toMatch(words);
    expect(run.stderr.split('\n')).toHaveLength(2);
  });

  it('does not complain when its reader has had enough', async () => {
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
