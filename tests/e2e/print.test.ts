import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type RequestBlock, say} from '../support/messages-server.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {callTool, callTools, slow} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';

describe('print mode', () => {
  it('writes only the answer to standard output', async () => {
    const run = await runCli(['-p', 'hello'], {server: await serve([say('Hello, Ada.')])});
    expect(run).toMatchObject({code: 0, stdout: 'Hello, Ada.\n', stderr: ''});
  });

  it('takes the prompt from the argument, from standard input, or from both', async () => {
    const server = await serve([say('one'), say('two')]);
    await runCli(['-p'], {server, input: 'from the pipe\n'});
    await runCli(['-p', 'typed'], {server, input: 'piped\n'});
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('from the pipe');
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('typed\\n\\npiped');
  });

  it('sends the files that a prompt of the command line names by @path, never those that piped words name', async () => {
    const server = await serve(() => say('seen'));
    const {path: cwd} = await project();
    await runCli(['-p', 'explain @src/greet.ts'], {server, cwd});
    await runCli(['-p', 'explain'], {server, cwd, input: 'and @src/greet.ts'});
    const [typed, piped] = server.requests.map(({body}) => JSON.stringify(body.messages));
    expect(typed).toMatch(/names @src\/greet\.ts[\s\S]*export function greet[\s\S]*explain @src\/greet\.ts/);
    expect(piped).not.toContain('export function greet');
  });

  it('answers piped standard input without -p', async () => {
    expect(await runCli([], {server: await serve([say('yes')]), input: 'question'})).toMatchObject({
      code: 0,
      stdout: 'yes\n',
    });
  });

  it('without a terminal and a prompt prints one line that says what to type', async () => {
    const run = await runCli([]);
    expect(run.code).toBe(2);
    expect(run.stdout).toBe('');
    expect(run.stderr).toMatch(/^mini-cc: no prompt.*mini-cc -p.*\n$/);
  });

  it.each([
    ['!echo said', {code: 0, stdout: 'said\n'}],
    ['!echo said; exit 3', {code: 1, stdout: 'said\nexit code 3\n'}],
  ])('prints what the shell command of %s printed', async (prompt, expected) => {
    expect(await runCli(['-p', prompt])).toMatchObject({...expected, stderr: expect.not.stringContaining('said')});
    const {stdout} = await runCli(['-p', prompt, '--output-format', 'json']);
    expect(stdout).toContain(expected.stdout.trim().replace('\n', '\\n'));
  });

  it.each([
    ['/agents create', 'Dropped; nothing was saved.'],
    ['/agents delete rev', 'Did not delete rev.'],
  ])('fails where %s would ask a question', async (prompt, text) => {
    const workspace = await project();
    const rev = {name: 'rev', description: 'Reviews', tools: ['bash'], prompt: 'Review.'};
    await workspace.write('.mini-cc/agents/rev.json', JSON.stringify(rev));
    const run = await runCli(['-p', prompt], {cwd: workspace.path});
    expect(run).toMatchObject({code: 1, stdout: ''});
    expect(run.stderr).toContain(`\nmini-cc: ${text} Here nobody can be asked.\n`);
  });

  it('sends a line that begins with # to the model, because no file of notes can be chosen', async () => {
    const server = await serve([say('Looked at it.')]);
    expect(await runCli(['-p', '#42 is broken'], {server})).toMatchObject({code: 0, stdout: 'Looked at it.\n'});
  });

  it('prints the progress lines of subagents on standard error', async () => {
    const server = await serve((body) => {
      if (isSubagent(body))
        return body.messages.length === 1 ? callTool('glob', {pattern: '**/*'}) : say('all in src/greet.ts:4');
      return body.messages.length === 1 ? callTools([explore()]) : say('It greets.');
    });
    const run = await runCli(['-p', 'explain'], {server, cwd: (await project()).path});
    expect(run.stdout).toBe('It greets.\n');
    expect(run.stderr).toMatch(
      /^> Task: explore codebase\n {2}\[explore\] explore codebase \.\.\. 0 tools, 0\.0s\n {2}\[explore\] explore codebase - done \(1 tool, \d+\.\ds\)\n1 subagent · \d+\.\ds · 1\.\dk tokens read, \d+ came back · est \$0\.\d+\n$/,
    );
  });

  it('gives the main model the final text with a receipt, and nothing else of the run', async () => {
    const server = await serve((body) => {
      if (isSubagent(body))
        return body.messages.length === 1
          ? callTool('read_file', {path: 'src/greet.ts'})
          : say('greet is in src/greet.ts:4');
      return body.messages.length === 1 ? callTools([explore('where is greet?')]) : say('ok');
    });
    await runCli(['-p', 'explain'], {server, cwd: (await project()).path});
    const subagent = server.requests.find((request) => isSubagent(request.body));
    expect(subagent?.body.messages).toMatchObject([{role: 'user', content: [{type: 'text', text: 'where is greet?'}]}]);
    const back = JSON.stringify(server.requests.at(-1)?.body.messages.at(-1));
    expect(back).toContain('greet is in src/greet.ts:4');
    expect(back).toMatch(
      /Receipt: 1 tool · read 1 file · changed none · commands 0 · citations 1\/1 exist · [\d.]+s · tokens in [\d.k]+ out \d+ · est \$\d/,
    );
    expect(back).not.toContain('export function');
  });

  it('runs 20 Task calls of one reply in parallel within the pool, with progress lines and results in order', async () => {
    const tasks = Array.from({length: 20}, (_, index) => explore(`part ${index}`, `part ${index}`));
    const server = await serve((body) => {
      if (!isSubagent(body)) return body.messages.length === 1 ? callTools(tasks) : say('all done');
      const turn = (body.messages.length - 1) / 2;
      return slow(
        turn < 5
          ? callTool('glob', {pattern: `*.${turn}`})
          : say(`found ${JSON.stringify(body.messages[0]).match(/part \d+/)}`),
        3,
      );
    });
    const run = await runCli(['-p', 'go', '--output-format', 'json'], {
      server,
      cwd: (await project()).path,
    });
    const result = JSON.parse(run.stdout);
    expect(result.subagents).toHaveLength(20);
    expect(result.subagents.map((agent: {description: string}) => agent.description)).toEqual(
      tasks.map((task) => task.input.description),
    );
    expect(
      result.subagents.every(
        (agent: {tools: number; outcome: string}) => agent.tools === 5 && agent.outcome === 'success',
      ),
    ).toBe(true);
    for (const task of tasks) {
      expect(run.stderr).toMatch(
        new RegExp(`^  \\[explore\\] ${task.input.description} - done \\(5 tools, \\d+\\.\\ds\\)$`, 'm'),
      );
    }
    const results = server.requests.at(-1)?.body.messages.at(-1)?.content;
    expect(
      (results as readonly RequestBlock[]).map((block) => JSON.stringify(block.content).match(/found (part \d+)/)?.[1]),
    ).toEqual(tasks.map((task) => task.input.prompt));
    expect(server.maxActive).toBeGreaterThan(1);
    // For a server on this machine, the pool has three slots.
    expect(server.maxActive).toBeLessThanOrEqual(3);
  });

  it('prints stream-json messages in the format of Claude Code, those of a subagent with the id of its Task call', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return say('found');
      return body.messages.length === 1 ? callTools([{...explore(), id: 'toolu_task'}]) : say('ok');
    });
    const run = await runCli(['-p', 'x', '--output-format', 'stream-json', '--include-partial-messages'], {server});
    const objects = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects[0]).toMatchObject({
      type: 'system',
      subtype: 'init',
      permissionMode: 'default',
      agents: ['explore', 'code', 'plan'],
    });
    expect(objects[0].tools).toEqual([
      'bash',
      'read_file',
      'write_file',
      'edit_file',
      'grep',
      'glob',
      'symbols',
      'rename_symbol',
      'todo_write',
      'web_fetch',
      'Task',
      'TaskList',
      'TaskOutput',
      'TaskSend',
      'TaskStop',
      'FanOut',
    ]);
    const last = objects.at(-1);
    expect(last).toMatchObject({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'ok',
      num_turns: 2,
      session_id: objects[0].session_id,
    });
    expect(
      objects.filter((object) => object.parent_tool_use_id === 'toolu_task' && object.type === 'assistant'),
    ).toHaveLength(1);
    expect(objects.filter((object) => object.type === 'user' && object.parent_tool_use_id === null)).toHaveLength(1);
    expect(
      objects.some((object) => object.type === 'stream_event' && object.event.type === 'content_block_delta'),
    ).toBe(true);
    expect(last.subagents).toMatchObject([
      {agent: 'explore', description: 'explore codebase', outcome: 'success', tools: 0},
    ]);
  });

  it('denies calls that would need a question, and reports them', async () => {
    const server = await serve([callTool('write_file', {path: 'x.txt', content: 'x'}, 'toolu_w'), say('could not')]);
    const workspace = await project();
    const run = await runCli(['-p', 'write', '--output-format', 'json'], {server, cwd: workspace.path});
    expect(JSON.parse(run.stdout).permission_denials).toMatchObject([
      {tool_name: 'write_file', tool_use_id: 'toolu_w', tool_input: {path: 'x.txt'}},
    ]);
    expect(existsSync(path.join(workspace.path, 'x.txt'))).toBe(false);
  });

  it.each([
    ['--permission-mode', 'acceptEdits'],
    ['--permission-mode', 'bypassPermissions'],
    ['--allowedTools', 'bash,Write'],
  ])('writes without a question with %s %s', async (...flags) => {
    const server = await serve([callTool('write_file', {path: 'x.txt', content: 'hello\n'}), say('done')]);
    const workspace = await project();
    expect(await runCli(['-p', 'write', ...flags], {server, cwd: workspace.path})).toMatchObject({code: 0});
    expect(await workspace.read('x.txt')).toBe('hello\n');
  });

  it('runs the calls of the model, except those of --disallowed-tools', async () => {
    const server = await serve([callTool('bash', {command: 'touch ran'}), say('no')]);
    const workspace = await project();
    await runCli(['-p', 'x', '--dangerously-skip-permissions', '--disallowed-tools', 'bash'], {
      server,
      cwd: workspace.path,
    });
    expect(existsSync(path.join(workspace.path, 'ran'))).toBe(false);
  });

  it('confines the bash of a read-only agent', async () => {
    const leak = `/tmp/mini-cc-leak-${process.pid}`;
    const server = await serve((body) => {
      if (isSubagent(body))
        return body.messages.length === 1
          ? callTool('bash', {command: `echo x > f; echo y > ${leak}; ls`})
          : say('tried');
      return body.messages.length === 1 ? callTools([explore()]) : say('ok');
    });
    const workspace = await project();
    await runCli(['-p', 'x', '--dangerously-skip-permissions'], {server, cwd: workspace.path});
    expect(existsSync(path.join(workspace.path, 'f'))).toBe(false);
    expect(existsSync(leak)).toBe(false);
    expect(JSON.stringify(server.requests[2]?.body.messages)).toContain('Read-only file system');
  });

  it('keeps keys out of the environment of tools', async () => {
    const server = await serve([callTool('bash', {command: 'env'}), say('ok')]);
    await runCli(['-p', 'x', '--dangerously-skip-permissions'], {server, env: {ANTHROPIC_API_KEY: 'canary-key'}});
    expect(server.requests[0]?.headers.authorization).toBe('Bearer canary-key');
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('canary-key');
  });

  it('continues a session by --continue and --resume, and reports an unknown id', async () => {
    const server = await serve([say('Ada it is.'), say('Ada.'), say('Still Ada.')]);
    const at = {server, home: await home(), cwd: (await project()).path};
    const first = await runCli(['-p', 'I am Ada', '--session-id', '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
    expect(first.code).toBe(0);
    await runCli(['-p', 'who am I?', '--continue'], at);
    await runCli(['-p', 'again?', '--resume', '3f2b8c1e'], at);
    expect(JSON.stringify(server.requests[2]?.body.messages)).toMatch(/I am Ada.*Ada it is.*who am I.*Ada\..*again/);
    const unknown = await runCli(['-p', 'x', '--resume', 'ffff'], at);
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^mini-cc: No session ffff in .*\n$/),
    });
    const twice = await runCli(['-p', 'x', '--session-id', '3f2b8c1e-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
    expect(twice).toMatchObject({code: 2, stderr: expect.stringContaining('exists already')});
  });

  it('writes a transcript whose path is in the result, complete and readable by the user alone', async () => {
    const at = {
      server: await serve((body) =>
        isSubagent(body) ? say('found') : body.messages.length === 1 ? callTools([explore()]) : say('ok'),
      ),
      home: await home(),
    };
    const run = await runCli(['-p', 'x', '--output-format', 'json'], at);
    const [{transcript, runId}] = JSON.parse(run.stdout).subagents;
    expect(transcript).toMatch(
      new RegExp(`^${at.home.env.MINI_CC_HOME}/projects/.*/subagents/${runId}/session\\.jsonl$`),
    );
    const lines = readFileSync(transcript, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type).filter((type) => type !== 'usage_so_far')).toEqual([
      ...['session', 'message', 'message', 'end'],
    ]);
  });

  it('dispatches a typed Task at once, without a call of the main model', async () => {
    const server = await serve([say('greet is in src/greet.ts:4')]);
    const run = await runCli(['-p', 'Task(explore): where is greet?'], {server, cwd: (await project()).path});
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('src/greet.ts:4');
    expect(run.stderr).toContain('[explore] where is greet? - done (');
    expect(server.requests).toHaveLength(1);
    expect(await runCli(['-p', 'Task(exploer): x'], {server})).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'Invalid agent_type: "exploer". Did you mean "explore"? Valid types: explore, code, plan',
      ),
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe('print mode in a terminal', () => {
  it('shows one line for each subagent, updated in place, and the answer below', async () => {
    const server = await serve((body) => {
      if (!isSubagent(body)) {
        return body.messages.length === 1
          ? callTools([explore('a', 'part a'), explore('b', 'part b')])
          : say('All read.');
      }
      return body.messages.length === 1 ? slow(callTool('glob', {pattern: '*'}), 80) : slow(say('found'), 80);
    });
    const terminal = await startCli(['-p', 'go'], {server, cwd: (await project()).path, cols: 60});
    onTestFinished(terminal.close);
    await terminal.waitFor(/\[explore\] part a \.\.\. \d tools?, 0\.[1-9]s/);
    expect((await terminal.waitForExit()).code).toBe(0);
    expect(terminal.scrollback()).toEqual([
      '> Task: part a',
      expect.stringMatching(/^ {2}\[explore\] part a - done \(1 tool, \d\.\ds\)$/),
      '> Task: part b',
      expect.stringMatching(/^ {2}\[explore\] part b - done \(1 tool, \d\.\ds\)$/),
      'All read.',
      expect.stringMatching(/^2 subagents · \d\.\ds side by side .* came back · est /),
    ]);
  });
});
