import {existsSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {type RunOptions, runCli} from '../support/run-cli.ts';
import {callTool, callTools, status, withUsage} from '../support/scripted-replies.ts';
import type {Workspace} from '../support/workspace.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

const REVIEWER = {
  name: 'reviewer',
  description: 'Code review expert focusing on code quality and improvements',
  tools: ['bash', 'read_file'],
  prompt: 'You are a code review expert. Never modify files, only report findings.',
};

function agents(workspace: Workspace, ...args: readonly string[]) {
  return runCli(['agents', ...args], {cwd: workspace.path});
}

async function withReviewer(change: object = {}): Promise<Workspace> {
  const workspace = await project();
  await workspace.write('.mini-cc/agents/reviewer.json', JSON.stringify({...REVIEWER, ...change}));
  return workspace;
}

describe('mini-cc agents', () => {
  it('lists built-in and custom agents, as text and as JSON', async () => {
    const workspace = await withReviewer();
    const text = await agents(workspace, 'list');
    expect(text).toMatchObject({code: 0, stderr: ''});
    expect(text.stdout).toContain('reviewer · project · read-only');
    const entries = JSON.parse((await agents(workspace, 'list', '--json')).stdout);
    const ofReview = ['correctness', 'security', 'tests', 'api', 'verifier'].map((name) => `review-${name}`);
    const names = ['explore', 'code', 'plan', 'reviewer', ...ofReview];
    expect(entries.map((entry: {name: string}) => entry.name)).toEqual(names);
    expect(entries.at(-1)).toMatchObject({source: 'shipped', readOnly: true});
    expect(entries[3]).toEqual({
      ...{name: 'reviewer', description: REVIEWER.description, source: 'project', model: null, readOnly: true},
      ...{file: path.join(workspace.path, '.mini-cc/agents/reviewer.json'), tools: ['bash', 'read_file']},
      ...{hidden: false, errors: [], warnings: []},
    });
  });

  it('creates an agent from a text; it has no lint findings, and Task can dispatch it', async () => {
    const workspace = await project();
    const text = 'a code review agent with read-only access, focusing on code quality';
    expect(await agents(workspace, 'create', text, '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Saved .mini-cc/agents/reviewer.json'),
    });
    expect(await agents(workspace, 'lint')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 errors, 0 warnings'),
    });
    const run = await runCli(['-p', 'Task(reviewer): review src'], {cwd: workspace.path});
    expect(run.stderr).toContain('[reviewer] review src - done (');
    expect(JSON.parse(await workspace.read('.mini-cc/agents/reviewer.json'))).toMatchObject({
      name: 'reviewer',
      tools: expect.not.arrayContaining(['write_file']),
    });
  });

  it('drafts with an answer of the model that is checked against a schema', async () => {
    const workspace = await project();
    const drafted = {
      name: 'api-tester',
      description: 'Tests the HTTP interface of this project.',
      tools: ['bash', 'read_file'],
      prompt: 'You test the interface of this project. Report failures with path:line.',
    };
    const server = await serve([say(`Here it is:\n\`\`\`json\n${JSON.stringify(drafted)}\n\`\`\``)]);
    const run = await runCli(['agents', 'create', 'tests our API', '--yes'], {cwd: workspace.path, server});
    expect(run).toMatchObject({code: 0});
    expect(JSON.stringify(server.requests[0]?.body)).toContain('json_schema');
    expect(JSON.parse(await workspace.read('.mini-cc/agents/api-tester.json'))).toMatchObject(drafted);
  });

  it('never overwrites: a second agent of the same name gets another name', async () => {
    const workspace = await withReviewer();
    await agents(workspace, 'create', '--template', 'reviewer', '--yes');
    expect(JSON.parse(await workspace.read('.mini-cc/agents/reviewer.json'))).toEqual(REVIEWER);
    expect(JSON.parse(await workspace.read('.mini-cc/agents/reviewer-2.json')).name).toBe('reviewer-2');
  });

  it('takes a text or a template, not both and not neither', async () => {
    const workspace = await project();
    for (const words of [[], ['reviews SQL', '--template', 'reviewer']]) {
      const run = await agents(workspace, 'create', ...words, '--yes');
      expect(run).toMatchObject({code: 2, stderr: expect.stringContaining('needs either a text')});
    }
  });

  it('saves and deletes only with --yes', async () => {
    const workspace = await withReviewer();
    expect(await agents(workspace, 'create', 'x')).toMatchObject({code: 2, stderr: expect.stringContaining('--yes')});
    const asked = await agents(workspace, 'delete', 'reviewer');
    expect(asked).toMatchObject({code: 2, stderr: expect.stringContaining('.mini-cc/agents/reviewer.json: say --yes')});
    expect(await agents(workspace, 'delete', 'reviewer', '--yes')).toMatchObject({code: 0});
    expect(existsSync(path.join(workspace.path, '.mini-cc/agents/reviewer.json'))).toBe(false);
  });

  it.each([
    ['../../package', /Not an agent name: "..\/..\/package"/],
    ['explore', /explore is built in and cannot be deleted/],
    ['reviwer', /No agent reviwer\. Did you mean reviewer\?/],
  ])('refuses to delete %s, and says why', async (name, words) => {
    const workspace = await withReviewer();
    expect(await agents(workspace, 'delete', name, '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(words),
    });
    expect(existsSync(path.join(workspace.path, 'package.json'))).toBe(true);
    expect(existsSync(path.join(workspace.path, '.mini-cc/agents/reviewer.json'))).toBe(true);
  });

  it('reports lint findings with file, line and column, exits 2 for errors, and lists the other agents too', async () => {
    const workspace = await withReviewer();
    await workspace.write('.mini-cc/agents/broken.json', '{\n  "name": "broken",\n  "tools": [}\n');
    await workspace.write('.mini-cc/agents/typo.json', JSON.stringify({...REVIEWER, name: 'typo', tols: ['bash']}));
    const run = await agents(workspace, 'lint');
    expect(run.code).toBe(2);
    expect(run.stdout).toMatch(/\.mini-cc\/agents\/broken\.json:3:13: /);
    expect(run.stdout).toMatch(/typo\.json:1:\d+: .*tols.*\(did you mean "?tools"?\?\)/);
    expect(run.stdout).toContain('reviewer (read-only): bash, read_file');
    const listed = JSON.parse((await agents(workspace, 'list', '--json')).stdout);
    expect(listed.find((entry: {name: string}) => entry.name === 'broken').errors[0]).toMatchObject({
      file: expect.stringContaining('broken.json'),
      ...{line: 3, column: 13, text: expect.any(String)},
    });
  });

  it('prints the JSON Schema and shows one agent', async () => {
    const workspace = await withReviewer();
    expect(JSON.parse((await agents(workspace, 'schema')).stdout)).toMatchObject({
      type: 'object',
      required: expect.arrayContaining(['name', 'tools', 'prompt']),
    });
    expect((await agents(workspace, 'show', 'reviewer')).stdout).toContain('read-only: yes');
    expect(await agents(workspace, 'show', 'nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No agent nobody'),
    });
    expect(await agents(workspace, 'frobnicate')).toMatchObject({code: 2});
  });
});

it('stats count the stored runs by agent, definition and model', async () => {
  const [workspace, own] = [await withReviewer(), await home()];
  const given = {cwd: workspace.path, home: own};
  const task = (agent: string, prompt: string) => ({
    name: 'Task',
    input: {description: prompt, prompt, agent_type: agent},
  });
  const hasResult = ({messages}: MessagesBody) => JSON.stringify(messages).includes('tool_result');
  const server = await serve((body) => {
    const text = JSON.stringify(body.messages);
    if (!isSubagent(body)) return hasResult(body) ? say('done') : callTools(text.includes('again') ? [second] : first);
    if (text.includes('fail')) return status(400, {message: 'no such deployment'});
    const usage = {input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 0};
    if (text.includes('write') && !hasResult(body))
      return withUsage(callTool('write_file', {path: 'new.txt', content: 'x'}), usage);
    return withUsage(say('found'), usage);
  });
  const second = task('reviewer', 'look');
  const first = [task('code', 'write it'), task('reviewer', 'look'), task('reviewer', 'fail')];
  const args = ['--permission-mode', 'bypassPermissions'];
  const done = await runCli(['-p', 'go', '--output-format', 'json', ...args], {...given, server});
  const {subagents} = JSON.parse(done.stdout);
  const {runId} = subagents.find(({agent}: {agent: string}) => agent === 'code');
  const undone = await runCli(['-p', '--continue', `/subagents undo ${runId}`], given);
  expect(undone.stdout).toContain('1 new file deleted');
  await workspace.write('.mini-cc/agents/reviewer.json', JSON.stringify({...REVIEWER, prompt: 'Another.'}));
  await runCli(['-p', 'again', ...args], {...given, server});

  const {stdout, code} = await runCli(['agents', 'stats', '--json'], given);
  const {agents: stats} = JSON.parse(stdout);
  expect([code, stats.length]).toEqual([0, 3]);
  const rest = {definition: expect.stringMatching(/^[0-9a-f]{64}$/), duration_ms: expect.any(Number)};
  const model = stats[0].model;
  expect(stats[0]).toEqual({
    ...{agent: 'code', model, runs: 1, outcomes: {success: 1}, unverified: 0, undone: 1},
    ...{turns: {median: 2, p95: 2}, tokens: 230, usd: expect.any(Number), ...rest},
  });
  expect(stats[1]).toMatchObject({agent: 'reviewer', runs: 2, outcomes: {success: 1, error: 1}, undone: 0, ...rest});
  expect(stats[1]).toMatchObject({turns: {median: 0, p95: 1}, tokens: 115, unverified: 2});
  expect(stats[2]).toMatchObject({agent: 'reviewer', runs: 1, outcomes: {success: 1}, tokens: 115});
  expect(stats[1].definition).not.toBe(stats[2].definition);

  const text = await runCli(['agents', 'stats', 'reviewer'], given);
  expect(text.stdout).toMatch(/^agent +runs .*\nreviewer +2 .*\n.*1 success, 1 error/);
  expect(text.stdout).not.toContain('code ');
  expect((await runCli(['-p', '/agents stats code'], given)).stdout).toMatch(/code +1 .*\n.*definition/);
  expect(await runCli(['agents', 'stats', 'nobody'], given)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No agent nobody'),
  });
});

describe('a custom agent', () => {
  const dispatch = (agent: string) => ({
    name: 'Task',
    input: {description: 'review it', prompt: 'review', agent_type: agent},
  });

  it('is in the schema of Task, and runs with its own prompt and only its own tools', async () => {
    const workspace = await withReviewer();
    const server = await serve((body) => {
      if (!isSubagent(body)) return body.messages.length === 1 ? callTools([dispatch('reviewer')]) : say('done');
      return body.messages.length === 1
        ? callTools([
            {name: 'write_file', input: {path: 'f', content: 'x'}},
            {name: 'bash', input: {command: 'echo x > f'}},
          ])
        : say('nothing could be written');
    });
    const run = await runCli(['-p', 'x', '--dangerously-skip-permissions'], {cwd: workspace.path, server});
    expect(run.code).toBe(0);
    expect(JSON.stringify(server.requests[0]?.body.tools)).toContain('"enum":["explore","code","plan","reviewer"]');
    expect(JSON.stringify(server.requests[1]?.body.system)).toContain('You are a code review expert.');
    expect(server.requests[1]?.body.tools?.map((tool) => tool.name)).toEqual(['bash', 'read_file']);
    const results = JSON.stringify(server.requests[2]?.body.messages.at(-1));
    expect(results).toContain('write_file is not a tool of this agent');
    expect(results).toContain('Read-only file system');
    expect(existsSync(path.join(workspace.path, 'f'))).toBe(false);
  });

  it('runs with its own model, unless the call names another', async () => {
    const workspace = await withReviewer({model: 'haiku'});
    const server = await serve((body) =>
      isSubagent(body)
        ? say('ok')
        : body.messages.length === 1
          ? callTools([
              dispatch('reviewer'),
              {name: 'Task', input: {...dispatch('reviewer').input, prompt: 'other', model: 'opus'}},
            ])
          : say('ok'),
    );
    await runCli(['-p', 'x'], {cwd: workspace.path, server});
    const models = server.requests.filter((request) => isSubagent(request.body)).map((request) => request.body.model);
    expect(models.toSorted()).toEqual(['claude-haiku-5-5', 'claude-opus-5-5']);
  });

  it('can come from .claude/agents, with its tool names mapped', async () => {
    const workspace = await project();
    await workspace.write(
      '.claude/agents/go-pro.md',
      '---\nname: go-pro\ndescription: Writes Go: idiomatic, tested\ntools: Read, Grep, Bash\nmodel: sonnet\n---\nYou write Go.\n',
    );
    const [entry] = JSON.parse((await agents(workspace, 'list', '--json')).stdout).slice(3);
    expect(entry).toMatchObject({
      name: 'go-pro',
      source: 'claude-project',
      tools: ['bash', 'read_file', 'grep'],
      readOnly: false,
    });
  });

  it('can be defined by --agents, and the session can run as it by --agent', async () => {
    const json = JSON.stringify({
      pirate: {description: 'Answers as a pirate', prompt: 'You are a pirate.', tools: ['read_file']},
    });
    const server = await serve([say('Arr.')]);
    const at: RunOptions = {server, home: await home()};
    expect(await runCli(['-p', 'hello', '--agents', json, '--agent', 'pirate'], at)).toMatchObject({
      code: 0,
      stdout: 'Arr.\n',
    });
    expect(JSON.stringify(server.requests[0]?.body.system)).toContain('You are a pirate.');
    expect(server.requests[0]?.body.tools?.map((tool) => tool.name)).toEqual(['read_file']);
    expect(await runCli(['-p', 'x', '--agent', 'pirat'], at)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no agent "pirat"'),
    });
  });

  it('with a misspelled name is an error that lists the valid names, without a model call of a subagent', async () => {
    const workspace = await withReviewer();
    const server = await serve([callTool('Task', {subagent_type: 'reviwer', prompt: 'x'}), say('sorry')]);
    await runCli(['-p', 'x'], {cwd: workspace.path, server});
    expect(JSON.stringify(server.requests[1]?.body.messages.at(-1))).toContain(
      'Invalid agent_type: \\"reviwer\\". Did you mean \\"reviewer\\"? Valid types: explore, code, plan, reviewer',
    );
    expect(server.requests).toHaveLength(2);
  });

  it('with a malformed name runs, and the result says what was repaired', async () => {
    const workspace = await withReviewer();
    const server = await serve((body) =>
      isSubagent(body)
        ? say('fine')
        : body.messages.length === 1
          ? callTool('Task', {'subagent_type="reviewer</arg_value>': '审查代码'})
          : say('ok'),
    );
    await runCli(['-p', 'x'], {cwd: workspace.path, server});
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('审查代码');
    expect(JSON.stringify(server.requests[2]?.body.messages.at(-1))).toContain('Repaired: agent_type from key');
  });
});
