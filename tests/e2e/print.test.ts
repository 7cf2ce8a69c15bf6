import {readFileSync} from 'node:fs';
import {existsSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type Home, makeHome} from '../support/environment.ts';
import {
  callTool,
  callTools,
  cut,
  garbledJson,
  hangBeforeHeaders,
  type MessagesServer,
  refuse,
  type RequestBlock,
  type Script,
  say,
  slow,
  startMessagesServer,
  status,
} from '../support/messages-server.ts';
import {runCli, spawnCli} from '../support/run-cli.ts';
import {emptyFolder, typescriptProject, type Workspace} from '../support/workspace.ts';

async function serve(script: Script): Promise<MessagesServer> {
  const server = await startMessagesServer(script);
  onTestFinished(() => server.close());
  return server;
}

async function project(): Promise<Workspace> {
  const workspace = await typescriptProject();
  onTestFinished(workspace.remove);
  return workspace;
}

async function home(): Promise<Home> {
  const made = await makeHome();
  onTestFinished(made.remove);
  return made;
}

const explore = (prompt = 'look', description = 'explore codebase') => ({name: 'Task', input: {description, prompt, agent_type: 'explore'}});
const isSubagent = (body: {tools?: readonly {name: string}[]}) => !body.tools?.some(tool => tool.name === 'Task');

describe('print mode', () => {
  it('writes the answer alone to standard output', async () => {
    const run = await runCli(['-p', 'hello'], {server: await serve([say('Hello, Ada.')])});
    expect(run).toMatchObject({code: 0, stdout: 'Hello, Ada.\n', stderr: ''});
  });

  it('takes the prompt from standard input, or both', async () => {
    const server = await serve([say('one'), say('two')]);
    await runCli(['-p'], {server, input: 'from the pipe\n'});
    await runCli(['-p', 'typed'], {server, input: 'piped\n'});
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('from the pipe');
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('typed\\n\\npiped');
  });

  it('answers piped standard input without -p, too', async () => {
    expect(await runCli([], {server: await serve([say('yes')]), input: 'question'})).toMatchObject({code: 0, stdout: 'yes\n'});
  });

  it('without a terminal and without a prompt says what to type, in one line', async () => {
    const run = await runCli([]);
    expect(run.code).toBe(2);
    expect(run.stdout).toBe('');
    expect(run.stderr).toMatch(/^mini-cc: no prompt.*mini-cc -p.*\n$/);
  });

  it('prints progress of subagents on standard error, exactly', async () => {
    const server = await serve(body => {
      if (isSubagent(body)) return body.messages.length === 1 ? callTool('glob', {pattern: '**/*'}) : say('all in src/greet.ts:4');
      return body.messages.length === 1 ? callTools([explore()]) : say('It greets.');
    });
    const run = await runCli(['-p', 'explain'], {server, cwd: (await project()).path});
    expect(run.stdout).toBe('It greets.\n');
    expect(run.stderr).toMatch(
      /^> Task: explore codebase\n {2}\[explore\] explore codebase \.\.\. 0 tools, 0\.0s\n {2}\[explore\] explore codebase - done \(1 tool, \d+\.\ds\)\n$/,
    );
  });

  it('gives the main model the findings with a receipt, and nothing of the way there', async () => {
    const server = await serve(body => {
      if (isSubagent(body)) return body.messages.length === 1 ? callTool('read_file', {path: 'src/greet.ts'}) : say('greet is in src/greet.ts:4');
      return body.messages.length === 1 ? callTools([explore('where is greet?')]) : say('ok');
    });
    await runCli(['-p', 'explain'], {server, cwd: (await project()).path});
    const subagent = server.requests.find(request => isSubagent(request.body));
    expect(subagent?.body.messages).toMatchObject([{role: 'user', content: [{type: 'text', text: 'where is greet?'}]}]);
    const back = JSON.stringify(server.requests.at(-1)?.body.messages.at(-1));
    expect(back).toContain('greet is in src/greet.ts:4');
    expect(back).toMatch(/Receipt: 1 tool · read 1 file · changed none · commands 0 · citations 1\/1 exist · [\d.]+s · tokens in [\d.k]+ out \d+ · est n\/a/);
    expect(back).not.toContain('export function');
  });

  it('runs 20 Task calls of one reply side by side within the pool, with every line and the results in order', async () => {
    const tasks = Array.from({length: 20}, (_, index) => explore(`part ${index}`, `part ${index}`));
    const server = await serve(body => {
      if (!isSubagent(body)) return body.messages.length === 1 ? callTools(tasks) : say('all done');
      const turn = (body.messages.length - 1) / 2;
      return slow(turn < 5 ? callTool('glob', {pattern: `*.${turn}`}) : say(`found ${JSON.stringify(body.messages[0]).match(/part \d+/)}`), 3);
    });
    const run = await runCli(['-p', 'go', '--output-format', 'json'], {server, cwd: (await project()).path, timeoutMs: 60_000});
    const result = JSON.parse(run.stdout);
    expect(result.subagents).toHaveLength(20);
    expect(result.subagents.map((agent: {description: string}) => agent.description)).toEqual(tasks.map(task => task.input.description));
    expect(result.subagents.every((agent: {tools: number; outcome: string}) => agent.tools === 5 && agent.outcome === 'success')).toBe(true);
    for (const task of tasks) {
      expect(run.stderr).toMatch(new RegExp(`^  \\[explore\\] ${task.input.description} - done \\(5 tools, \\d+\\.\\ds\\)$`, 'm'));
    }
    const results = server.requests.at(-1)?.body.messages.at(-1)?.content;
    expect((results as readonly RequestBlock[]).map(block => JSON.stringify(block.content).match(/found (part \d+)/)?.[1])).toEqual(tasks.map(task => task.input.prompt));
    expect(server.maxUnderWay).toBeGreaterThan(1);
    // A server on this machine: three slots.
    expect(server.maxUnderWay).toBeLessThanOrEqual(3);
  });

  it('prints the shapes of Claude Code in stream-json, a subagent tagged by its Task call', async () => {
    const server = await serve(body => {
      if (isSubagent(body)) return say('found');
      return body.messages.length === 1 ? callTools([{...explore(), id: 'toolu_task'}]) : say('ok');
    });
    const run = await runCli(['-p', 'x', '--output-format', 'stream-json', '--include-partial-messages'], {server});
    const objects = run.stdout.trim().split('\n').map(line => JSON.parse(line));
    expect(objects[0]).toMatchObject({type: 'system', subtype: 'init', permissionMode: 'default', agents: ['explore', 'code', 'plan']});
    expect(objects[0].tools).toEqual(['bash', 'read_file', 'write_file', 'edit_file', 'grep', 'glob', 'todo_write', 'Task']);
    const last = objects.at(-1);
    expect(last).toMatchObject({type: 'result', subtype: 'success', is_error: false, result: 'ok', num_turns: 2, session_id: objects[0].session_id});
    expect(objects.filter(object => object.parent_tool_use_id === 'toolu_task' && object.type === 'assistant')).toHaveLength(1);
    expect(objects.filter(object => object.type === 'user' && object.parent_tool_use_id === null)).toHaveLength(2);
    expect(objects.some(object => object.type === 'stream_event' && object.event.type === 'content_block_delta')).toBe(true);
    expect(last.subagents).toMatchObject([{agent: 'explore', description: 'explore codebase', outcome: 'success', tools: 0}]);
  });

  it('refuses what would be asked, and reports it', async () => {
    const server = await serve([callTool('write_file', {path: 'x.txt', content: 'x'}, 'toolu_w'), say('could not')]);
    const workspace = await project();
    const run = await runCli(['-p', 'write', '--output-format', 'json'], {server, cwd: workspace.path});
    expect(JSON.parse(run.stdout).permission_denials).toMatchObject([{tool_name: 'write_file', tool_use_id: 'toolu_w', tool_input: {path: 'x.txt'}}]);
    expect(existsSync(path.join(workspace.path, 'x.txt'))).toBe(false);
  });

  it.each([
    ['--permission-mode', 'acceptEdits'],
    ['--permission-mode', 'bypassPermissions'],
    ['--dangerously-skip-permissions'],
    ['--allowed-tools', 'Write'],
    ['--allowedTools', 'bash,write_file'],
  ])('writes without a question with %s %s', async (...flags) => {
    const server = await serve([callTool('write_file', {path: 'x.txt', content: 'hello\n'}), say('done')]);
    const workspace = await project();
    expect(await runCli(['-p', 'write', ...flags], {server, cwd: workspace.path})).toMatchObject({code: 0});
    expect(await workspace.read('x.txt')).toBe('hello\n');
  });

  it('runs what the model calls and nothing of what --disallowed-tools names', async () => {
    const server = await serve([callTool('bash', {command: 'touch ran'}), say('no')]);
    const workspace = await project();
    await runCli(['-p', 'x', '--dangerously-skip-permissions', '--disallowed-tools', 'bash'], {server, cwd: workspace.path});
    expect(existsSync(path.join(workspace.path, 'ran'))).toBe(false);
  });

  it('confines the bash of a read-only agent', async () => {
    const server = await serve(body => {
      if (isSubagent(body)) return body.messages.length === 1 ? callTool('bash', {command: 'echo x > f; echo y > /tmp/mini-cc-leak; ls'}) : say('tried');
      return body.messages.length === 1 ? callTools([explore()]) : say('ok');
    });
    const workspace = await project();
    await runCli(['-p', 'x', '--dangerously-skip-permissions'], {server, cwd: workspace.path});
    expect(existsSync(path.join(workspace.path, 'f'))).toBe(false);
    expect(existsSync('/tmp/mini-cc-leak')).toBe(false);
    expect(JSON.stringify(server.requests[2]?.body.messages)).toContain('Read-only file system');
  });

  it('keeps keys out of the environment of tools', async () => {
    const server = await serve([callTool('bash', {command: 'env'}), say('ok')]);
    await runCli(['-p', 'x', '--dangerously-skip-permissions'], {server, env: {ANTHROPIC_API_KEY: 'canary-key'}});
    expect(server.requests[0]?.headers.authorization).toBe('Bearer canary-key');
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('canary-key');
  });

  it('goes on with a session by --continue and --resume, and names one that is unknown', async () => {
    const server = await serve([say('Ada it is.'), say('Ada.'), say('Still Ada.')]);
    const at = {server, home: await home(), cwd: (await project()).path};
    const first = await runCli(['-p', 'I am Ada', '--session-id', '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
    expect(first.code).toBe(0);
    await runCli(['-p', 'who am I?', '--continue'], at);
    await runCli(['-p', 'again?', '--resume', '3f2b8c1e'], at);
    expect(JSON.stringify(server.requests[2]?.body.messages)).toMatch(/I am Ada.*Ada it is.*who am I.*Ada\..*again/);
    const unknown = await runCli(['-p', 'x', '--resume', 'ffff'], at);
    expect(unknown).toMatchObject({code: 2, stdout: '', stderr: expect.stringMatching(/^mini-cc: No session ffff in .*\n$/)});
    const twice = await runCli(['-p', 'x', '--session-id', '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
    expect(twice).toMatchObject({code: 2, stderr: expect.stringContaining('exists already')});
  });

  it('leaves a transcript whose path is in the result, whole and readable by the user alone', async () => {
    const at = {server: await serve(body => (isSubagent(body) ? say('found') : body.messages.length === 1 ? callTools([explore()]) : say('ok'))), home: await home()};
    const run = await runCli(['-p', 'x', '--output-format', 'json'], at);
    const [{transcript, runId}] = JSON.parse(run.stdout).subagents;
    expect(transcript).toMatch(new RegExp(`^${at.home.env.MINI_CC_HOME}/projects/.*/subagents/${runId}/session\\.jsonl$`));
    const lines = readFileSync(transcript, 'utf8').trim().split('\n').map(line => JSON.parse(line));
    expect(lines.map(line => line.type)).toEqual(['session', 'message', 'message', 'end']);
  });

  it('dispatches a typed Task at once, with no call of the main model', async () => {
    const server = await serve([say('greet is in src/greet.ts:4')]);
    const run = await runCli(['-p', 'Task(explore): where is greet?'], {server, cwd: (await project()).path});
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('src/greet.ts:4');
    expect(run.stderr).toContain('[explore] where is greet? - done (');
    expect(server.requests).toHaveLength(1);
    expect(await runCli(['-p', 'Task(exploer): x'], {server})).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Invalid agent_type: "exploer". Did you mean "explore"? Valid types: explore, code, plan'),
    });
    expect(server.requests).toHaveLength(1);
  });
});

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
    expect(run.stderr).toBe('mini-cc: the model server refused the key: check ANTHROPIC_API_KEY (401): invalid x-api-key\n');
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
    expect(run.stderr).toMatch(/^retrying in 1s \(529\)\nretrying in [12]s \(529\)\nmini-cc: the model server is overloaded \(529\).*\n$/);
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
    const ended = new Promise<number | null>(resolve => child.once('close', resolve));
    await until(async () => (await processesWith(`sleep ${seconds}`)).length > 0);
    child.kill(signal);
    expect(await ended).toBe(code);
    await until(async () => (await processesWith(`sleep ${seconds}`)).length === 0);
  });

  it.each([
    [['--max-turns', 'many'], /--max-turns: "many" is no whole number/],
    [['--output-format', 'yaml'], /--output-format: "yaml" is none of text, json, stream-json/],
    [['--permission-mode', 'yolo'], /--permission-mode: "yolo" is none of/],
    [['--modle', 'x'], /Unknown flag --modle \(did you mean --model\?\)/],
    [['--fallback-model', 'x'], /--fallback-model is not yet available/],
    [['--max-budget-usd', '1'], /--max-budget-usd is not yet available/],
    [['--json-schema', 'x'], /--json-schema is not yet available/],
    [['--agents', '{}'], /--agents is not yet available/],
    [['--fan-out', 'auto'], /--fan-out is not yet available/],
    [['--cwd', '/nowhere'], /No such directory: \/nowhere/],
    [['--add-dir', '/nowhere'], /No such directory: \/nowhere/],
    [['--allowed-tools', 'bash(npm test)'], /not yet available/],
    [['--allowed-tools', 'bsh'], /did you mean bash/],
    [['--session-id', 'x'], /--session-id: not a UUID/],
    [['--resume', '../../etc'], /Not a session id/],
    [['--continue'], /no session to continue/],
  ])('%j is bad usage: one line, exit 2', async (args, words) => {
    const run = await runCli(['-p', 'x', ...args]);
    expect(run).toMatchObject({code: 2, stdout: ''});
    expect(run.stderr).toMatch(words);
    expect(run.stderr.split('\n')).toHaveLength(2);
  });

  it('says not yet available for subcommands of a later release', async () => {
    for (const name of ['agents', 'sessions', 'config', 'doctor']) {
      expect(await runCli([name])).toMatchObject({code: 2, stderr: `mini-cc: mini-cc ${name} is not yet available\n`});
    }
  });

  it('does not complain when its reader has had enough', async () => {
    const server = await serve([say('line\n'.repeat(50_000))]);
    const child = await spawnCli(['-p', 'x'], {server, home: await home()});
    child.stdin.end();
    let stderr = '';
    child.stderr.on('data', chunk => (stderr += chunk));
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise(resolve => child.once('close', resolve));
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
  });
});

async function processesWith(words: string): Promise<string[]> {
  const {execa} = await import('execa');
  const {stdout} = await execa('ps', ['-eo', 'args']);
  return stdout.split('\n').filter(line => line.startsWith(words));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not come about within 10 s');
    await new Promise(resolve => setTimeout(resolve, 30));
  }
}
