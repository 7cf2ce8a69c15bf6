/** Hooks for some calls alone, hooks that nobody waits for, and hooks that are addresses. */
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {home as createHome, project, serve} from '../e2e/fixture.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, say} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';

async function runWith(settings: object, calls: readonly ReturnType<typeof callTool>[], args: readonly string[] = []) {
  const home = await createHome();
  const {path: cwd} = await project();
  const file = path.join(home.path, '.mini-cc/settings.json');
  mkdirSync(path.dirname(file), {recursive: true});
  writeFileSync(file, JSON.stringify(settings));
  const server = await serve([...calls, say('done')]);
  const run = await runCli(['-p', 'go', '--allowed-tools', 'bash', ...args], {server, home, cwd});
  const read = (name: string) => (existsSync(path.join(cwd, name)) ? readFileSync(path.join(cwd, name), 'utf8') : '');
  return {run, cwd, read, told: server.requests.map(({body}) => JSON.stringify(body.messages))};
}

const bash = (command: string) => callTool('bash', {command});
const hook = (more: object) => [{hooks: [{type: 'command', ...more}]}];

it('a hook with `if` is called for the calls that its permission rule is about', async () => {
  const log = {command: 'cat >> log'};
  const hooks = {
    PreToolUse: [
      {hooks: [{type: 'command', ...log, if: 'Bash(touch:*)'}]},
      {hooks: [{type: 'command', ...log, if: 'Edit(src/**)'}]},
      {hooks: [{type: 'command', ...log, if: 'Read(*.json)'}]},
    ],
    Stop: hook({...log, if: 'Bash(touch:*)'}),
  };
  const calls = [bash('echo one'), bash('cd . && touch two'), callTool('read_file', {path: 'package.json'})];
  const {read} = await runWith({hooks}, calls);
  const logged = read('log').trim().split('\n');
  expect(logged.map((line) => JSON.parse(line).tool_input)).toEqual([
    expect.objectContaining({command: 'cd . && touch two'}),
    {file_path: 'package.json'},
  ]);
});

it.each([
  ['by its setting', {command: 'while [ ! -e go ]; do sleep 0.05; done; echo late > late', async: true}],
  ['by its answer', {command: `echo '{"async": true}'; while [ ! -e go ]; do sleep 0.05; done; echo late > late`}],
])('a hook that is async %s is not waited for, and ends before the session', async (_, setting) => {
  const {read, run} = await runWith({hooks: {PreToolUse: hook(setting)}}, [bash('ls late > seen 2>&1; touch go')]);
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(read('seen')).toContain('No such file');
  expect(read('late')).toBe('late\n');
});

/** A server that gets events and gives this answer. */
async function listenTo(answer: object, status = 200) {
  const got: {headers: object; body: string}[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push({headers: request.headers, body});
    response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got};
}

it('an address gets the event, and its answer counts', async () => {
  const denies = {hookSpecificOutput: {permissionDecision: 'deny', permissionDecisionReason: 'by post'}};
  const {url, got} = await listenTo(denies);
  const entry = {type: 'http', url, headers: {'x-who': 'I am $WHO$HOME'}, allowedEnvVars: ['WHO']};
  const settings = {
    hooks: {PreToolUse: [{hooks: [entry]}]},
    env: {WHO: 'Ann'},
    permissions: {allow: ['web_fetch(domain:127.0.0.1)']},
  };
  const {told, read} = await runWith(settings, [bash('touch made')]);
  expect(told[1]).toContain('by post');
  expect(read('made')).toBe('');
  expect(got[0]!.headers).toMatchObject({'x-who': 'I am Ann', 'content-type': 'application/json'});
  expect(JSON.parse(got[0]!.body)).toMatchObject({hook_event_name: 'PreToolUse', tool_input: {command: 'touch made'}});
});

it('an address in a private network needs a rule, and one that fails stops nothing', async () => {
  const {url, got} = await listenTo({}, 500);
  const hooks = {PreToolUse: [{hooks: [{type: 'http', url}]}]};
  const refused = await runWith({hooks}, [bash('touch made')]);
  expect(refused.run.stderr).toMatch(/127\.0\.0\.1 is a private address: it is not fetched/);
  expect(got).toEqual([]);
  const failed = await runWith({hooks, permissions: {allow: ['web_fetch(domain:127.0.0.1)']}}, [bash('touch made')]);
  await until(() => got.length > 0);
  expect(failed.run.stderr).toContain('answered 500');
  expect(failed.run.stdout).toBe('done\n');
});
