/** MCP servers in sessions of the built program: who is asked, what is trusted, what a first request costs, what is left. */
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {startDriven} from '../../drivers/driven.ts';
import {home as createHome, project, serve} from '../../e2e/fixture.ts';
import {runCli, spawnCli} from '../../support/run-cli.ts';
import {hasSandbox} from '../../support/sandbox.ts';
import {callTool, callTools, say} from '../../support/scripted-replies.ts';
import {PLAYED, played, readLog} from './fixture.ts';

const results = (request: {body: {messages: readonly unknown[]}}) => JSON.stringify(request.body.messages.at(-1));

async function setUp(names: readonly string[], ...words: string[]) {
  const [{path: cwd}, home] = [await project(), await createHome()];
  const log = path.join(home.path, 'log');
  const write = (more: object = {}) => {
    const mcpServers = Object.fromEntries(names.map((name) => [name, {...played(log, ...words), ...more}]));
    writeFileSync(path.join(cwd, '.mcp.json'), JSON.stringify({mcpServers}));
  };
  write();
  return {cwd, home, log, write};
}

it('grows the first request by less than 1 KB, and starts nothing, until a server is needed', async () => {
  const {cwd, home, log} = await setUp(['everything', 'filesystem', 'memory'], 'many');
  const server = await serve([say('one'), say('two')]);
  await runCli(['-p', 'hello', '--strict-mcp-config'], {server, cwd, home});
  const run = await runCli(['-p', 'hello', '--trust'], {server, cwd, home});
  expect(run).toMatchObject({code: 0, stdout: 'two\n'});
  const [bare, ready] = server.requests;
  expect(ready!.bytes - bare!.bytes).toBeGreaterThan(0);
  expect(ready!.bytes - bare!.bytes).toBeLessThan(1024);
  expect(readLog(log)).toEqual([]);
});

it('asks about each tool, unless a rule names it or its server; deny rules win, and plan mode calls none', async () => {
  const {cwd, home, log} = await setUp(['notes', 'other']);
  const calls = ['mcp__notes__echo', 'mcp__other__echo', 'mcp__notes__fail', 'mcp__other__wrong'];
  const script = () => serve([callTools(calls.map((name) => ({name, input: {text: 'x'}}))), say('done')]);
  const server = await script();
  const rules = ['--allowed-tools', 'mcp__notes', 'mcp__other__wrong', '--disallowed-tools', 'mcp__notes__fail'];
  const run = await runCli(['-p', 'go', '--trust', ...rules, '--output-format', 'json'], {server, cwd, home});
  expect(run).toMatchObject({code: 0});
  const [allowed, asked, denied, named] = (
    server.requests[1]!.body.messages.at(-1)!.content as readonly {content: string}[]
  ).map(({content}) => content);
  expect(allowed).toBe('you said x (1)');
  expect(asked).toMatch(
    /is a tool of the MCP server other, and nobody can be asked here.*--allowed-tools 'mcp__other__echo' allows it/,
  );
  expect(denied).toMatch(/^mcp__notes__fail is not a tool of this agent/);
  expect(named).toContain('the right one');
  expect(JSON.parse(run.stdout).permission_denials).toHaveLength(1);
  // What a rule refuses is not offered.
  expect(server.requests[1]!.body.tools!.map(({name}) => name)).not.toContain('mcp__notes__fail');
  const planned = await script();
  await runCli(['-p', 'go', '--permission-mode', 'plan', '--allowed-tools', 'mcp__notes'], {
    server: planned,
    cwd,
    home,
  });
  expect(results(planned.requests[1]!)).toContain('plan mode changes nothing');
  expect(readLog(log).filter((line) => line.startsWith('tools/call'))).toEqual(['tools/call echo', 'tools/call wrong']);
});

it('uses a server of the project once it is approved, and asks again when its entry changes', async () => {
  const {cwd, home, log, write} = await setUp(['notes']);
  const script = () => serve([callTool('mcp__notes__echo', {}), say('done')]);
  const go = ['-p', 'go', '--dangerously-skip-permissions'];
  const first = await runCli(go, {server: await script(), cwd, home});
  expect(first.stderr).toContain('ignored, as this directory is not trusted: .mcp.json: mcpServers.notes');
  await runCli([...go, '--trust'], {server: await script(), cwd, home});
  expect(readLog(log).filter((line) => line.startsWith('start'))).toHaveLength(1);
  write({env: {LOG: log, EVIL: '1'}});
  const changed = await runCli(go, {server: await script(), cwd, home});
  expect(changed.stderr).toContain('.mcp.json: mcpServers.notes');
  expect(readLog(log).filter((line) => line.startsWith('start'))).toHaveLength(1);
});

it('reads the resources that a prompt names, without the punctuation of its sentence', async () => {
  const {cwd, home} = await setUp(['notes']);
  mkdirSync(path.join(cwd, '.mini-cc/commands'), {recursive: true});
  writeFileSync(
    path.join(cwd, '.mini-cc/commands/see.md'),
    'See @notes:note://1, then (@notes:note://2). And @notes:note://3!',
  );
  const server = await serve([say('done')]);
  await runCli(['-p', '/see', '--trust'], {server, cwd, home});
  const sent = JSON.stringify(server.requests[0]!.body.messages);
  for (const [, name, text] of sent.matchAll(/names @(\S+)\. It contains:.*?the text of ([^"\\]+)/g)) {
    expect(name).toBe(`notes:${text}`);
  }
  expect([...sent.matchAll(/the text of (note:[^"\\]+)/g)].map(([, uri]) => uri)).toEqual([
    'note://1',
    'note://2',
    'note://3',
  ]);
});

it('leaves no server behind when it is killed', async () => {
  const {cwd, home, log} = await setUp(['notes']);
  const server = await serve([callTool('mcp__notes__hang', {}), say('never')]);
  const child = await spawnCli(['-p', 'go', '--trust', '--dangerously-skip-permissions'], {server, cwd, home});
  await expect.poll(() => readLog(log)).toContain('tools/call hang');
  const pid = Number(readLog(log)[0]!.slice('start '.length));
  child.kill('SIGKILL');
  const isThere = () => existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  await expect.poll(isThere).toBe(false);
});

it('adds, lists, shows and removes servers on the command line', async () => {
  const {cwd, home} = await setUp([]);
  const mcp = (...args: string[]) => runCli(['mcp', ...args], {cwd, home});
  const added = await mcp('add', 'notes', '--env', 'A=1', '--', process.execPath, PLAYED, '--flag');
  expect(added).toMatchObject({code: 0, stdout: `Added the MCP server notes to ${cwd}/.mini-cc/settings.local.json\n`});
  const http = ['-t', 'http', 'web', 'http://127.0.0.1:1/x', '-H', 'X: ${Y}', '-s', 'project'];
  expect(await mcp('add', ...http)).toMatchObject({code: 0});
  const entry = {type: 'http', url: 'http://127.0.0.1:1/x', headers: {X: '${Y}'}};
  expect(JSON.parse(readFileSync(path.join(cwd, '.mcp.json'), 'utf8'))).toEqual({mcpServers: {web: entry}});
  // Who typed them approved them.
  const listed = await mcp('list', '--json');
  expect(listed.stderr).toBe('');
  expect(JSON.parse(listed.stdout)).toMatchObject([
    {name: 'notes', status: 'connected', transport: 'stdio', version: 'played 1.0'},
    {name: 'web', status: 'failed', problem: expect.stringContaining('Y is not set')},
  ]);
  expect((await mcp('get', 'notes')).stdout).toMatch(
    /^notes: connected, 13 tools\n[\s\S]*mcp__notes__echo: Says the text again/,
  );
  expect(await mcp('remove', 'web')).toMatchObject({code: 0});
  expect(await mcp('remove', 'notse')).toMatchObject({code: 2, stderr: expect.stringMatching(/did you mean notes\?/)});
  for (const [words, problem] of [
    [['add', 'my notes', '--', 'x'], /"my notes" is no name/],
    [['add', 'a__b', '--', 'x'], /"a__b" is no name/],
    [['add', '--transport', 'http', 'q', 'nowhere'], /"nowhere" is no address/],
    [['list', '--mcp-config', ''], /--mcp-config is empty/],
    [['list', '--mcp-config', cwd], /is a folder, not a file/],
    [['list', '--mcp-config', '{"mcpServers":{"a":{"type":"http","url":"ftp://x"}}}'], /"ftp:\/\/x" is no address/],
  ] as const) {
    expect(await mcp(...words)).toMatchObject({code: 2, stdout: '', stderr: expect.stringMatching(problem)});
  }
  expect(await mcp('lst')).toMatchObject({code: 2, stderr: expect.stringContaining('did you mean list?')});
});

it('lets git ignore the settings that it creates for the user alone, once, and keeps what is ignored already', async () => {
  const {cwd, home} = await setUp([]);
  const git = (...args: string[]) => execFileSync('git', args, {cwd, encoding: 'utf8'});
  const add = (name: string) => runCli(['mcp', 'add', name, '-e', 'TOKEN=secret', '--', 'x'], {cwd, home});
  const local = path.join(cwd, '.mini-cc/settings.local.json');
  const ignore = path.join(cwd, '.mini-cc/.gitignore');
  expect(await add('a')).toMatchObject({code: 0, stderr: ''});
  expect(git('status', '--porcelain', '-uall')).not.toMatch(/settings\.local|gitignore/);
  expect(readFileSync(ignore, 'utf8')).toBe('.gitignore\nsettings.local.json\n');
  rmSync(ignore);
  await add('b');
  expect(existsSync(ignore)).toBe(false);
  rmSync(local);
  writeFileSync(ignore, 'notes');
  await add('c');
  expect(readFileSync(ignore, 'utf8')).toBe('notes\nsettings.local.json\n');
  rmSync(local);
  await add('d');
  expect(readFileSync(ignore, 'utf8')).toBe('notes\nsettings.local.json\n');
});

it('shows what of a server cannot be used in lists, and in the session that uses it', async () => {
  const {cwd, home} = await setUp(['odd'], 'malformed', 'no-prompts');
  const server = await serve([callTool('mcp__odd__echo', {text: 'x'}), say('done')]);
  const run = await runCli(['-p', 'go', '--trust', '--dangerously-skip-permissions'], {server, cwd, home});
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(run.stderr).toMatch(/The MCP server odd: the tool bare is left out: inputSchema: .*, and 2 more: \/mcp odd/);
  expect(run.stderr).not.toContain('prompts');
  for (const [words, indent] of [
    [['list'], ' {4}'],
    [['get', 'odd'], ' {2}'],
  ] as const) {
    const {stdout} = await runCli(['mcp', ...words], {cwd, home});
    expect(stdout).toMatch(/odd: connected, 16 tools\n/);
    for (const problem of ['the tool bare is left out: ', 'it has prompts and does not list them: ']) {
      expect(stdout).toMatch(new RegExp(`^${indent}warning: ${problem}`, 'm'));
    }
  }
});

it('takes servers of a driver, also in its own process, and answers its requests about them', async () => {
  const {cwd, home, log} = await setUp([]);
  const server = await serve([
    callTools([
      {name: 'mcp__calc__add', input: {a: 2, b: 3}},
      {name: 'mcp__notes__echo', input: {text: 'hi'}},
    ]),
    say('done'),
  ]);
  const driven = await startDriven(['--dangerously-skip-permissions'], {server, cwd, home});
  const tool = {name: 'add', description: 'Adds', inputSchema: {type: 'object', properties: {a: {type: 'number'}}}};
  const ready = await driven.request({
    subtype: 'initialize',
    sdkMcpServers: ['calc'],
    sdkMcpServerManifests: {calc: {toolsListResult: {tools: [{name: 'bare'}, tool]}}},
    mcpServers: {notes: played(log)},
  });
  expect(ready.mcp_servers_applied).toBe(true);
  const answers: Record<string, object> = {
    initialize: {protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo: {name: 'calc', version: '1'}},
    'tools/list': {tools: [tool]},
    'tools/call': {content: [{type: 'text', text: 'five'}]},
  };
  let isDone = false;
  const serving = (async () => {
    while (!isDone) {
      const {request_id: id, request} = await driven.next(
        (line) => isDone || (line.type === 'control_request' && line.request.subtype === 'mcp_message'),
      );
      if (isDone) return;
      const {id: messageId, method} = request.message;
      const mcp_response = {jsonrpc: '2.0', id: messageId ?? 0, result: answers[method] ?? {}};
      driven.send({type: 'control_response', response: {subtype: 'success', request_id: id, response: {mcp_response}}});
    }
  })();
  driven.send({type: 'user', session_id: '', message: {role: 'user', content: 'go'}, parent_tool_use_id: null});
  await expect.poll(() => server.requests.length).toBe(2);
  expect(results(server.requests[1]!)).toMatch(/five[\s\S]*you said hi/);
  // The driver told its tools beforehand: they are in the first request.
  expect(server.requests[0]!.body.tools!.map(({name}) => name)).toContain('mcp__calc__add');
  const {mcpServers} = await driven.request({subtype: 'mcp_status'});
  expect(mcpServers).toMatchObject([
    {name: 'calc', status: 'connected'},
    {name: 'notes', status: 'connected', serverInfo: {name: 'played', version: '1.0'}},
  ]);
  const read = (serverName: string) => driven.request({subtype: 'mcp_read_resource', serverName, uri: 'notes://today'});
  expect(await read('notes')).toMatchObject({contents: [{text: 'the text of notes://today'}]});
  await driven.request({subtype: 'mcp_toggle', serverName: 'notes', enabled: false});
  await expect(read('notes')).rejects.toThrow('The MCP server notes is not used');
  expect(await driven.request({subtype: 'mcp_set_servers', servers: {more: played(log)}})).toMatchObject({
    added: ['more'],
  });
  await driven.request({subtype: 'mcp_reconnect', serverName: 'more'});
  await expect(driven.request({subtype: 'mcp_reconnect', serverName: 'nope'})).rejects.toThrow(
    'there is no MCP server',
  );
  const after = await driven.request({subtype: 'mcp_status'});
  expect(after.mcpServers.map(({name, status}: {name: string; status: string}) => [name, status])).toEqual([
    ['calc', 'connected'],
    ['more', 'connected'],
    ['notes', 'disabled'],
  ]);
  const init = driven.lines.find((line) => line.subtype === 'init');
  expect(init.mcp_servers).toEqual([
    {name: 'calc', status: 'pending'},
    {name: 'notes', status: 'pending'},
  ]);
  isDone = true;
  expect(await driven.end()).toBe(0);
  await serving.catch(() => undefined);
});

it.runIf(await hasSandbox())('runs a server of a read-only agent in the sandbox, without a question', async () => {
  const {cwd, home, log} = await setUp(['notes']);
  const agents = {
    reader: {
      ...{description: 'Reads notes', prompt: 'You read notes.', tools: ['read_file'], readOnly: true},
      mcpServers: ['notes'],
    },
    other: {description: 'Reads', prompt: 'You read.', tools: ['read_file', 'mcp__notes__echo'], readOnly: true},
  };
  const task = (agent: string) => ({name: 'Task', input: {description: 'look', prompt: 'look', agent_type: agent}});
  const file = path.join(cwd, 'made');
  const server = await serve((body) => {
    const isReader = JSON.stringify(body.system).includes('You read notes.');
    const isOther = JSON.stringify(body.system).includes('You read.');
    if (isOther) return say(`tools: ${body.tools!.map(({name}) => name).join()}`);
    if (!isReader) return body.messages.length === 1 ? callTools([task('reader'), task('other')]) : say('done');
    if (body.messages.length > 1) return say('found src/greet.ts:1');
    return callTools([
      {name: 'mcp__notes__echo', input: {text: 'hi'}},
      {name: 'mcp__notes__write', input: {path: file}},
      {name: 'mcp__notes__env', input: {}},
    ]);
  });
  const env = {SOME_TOKEN: 'abcdefgh12345', LOG: undefined};
  await runCli(['-p', 'go', '--trust', '--agents', JSON.stringify(agents)], {server, cwd, home, env});
  const reader = server.requests.find(
    ({body}) => body.messages.length === 3 && JSON.stringify(body.system).includes('You read notes.'),
  );
  const [echo, write, environment] = reader!.body.messages.at(-1)!.content as readonly {content: string}[];
  // Its log is outside of what the sandbox shows: it cannot write there either.
  expect([echo!.content, write!.content, environment!.content].join('\n')).not.toContain('written');
  expect(existsSync(file)).toBe(false);
  expect(JSON.stringify(environment)).not.toContain('abcdefgh12345');
  const main = server.requests.find(({body}) => results({body}).includes('tools: '));
  expect(results(main!)).toContain('tools: read_file');
  expect(results(main!)).not.toContain('read_file,');
  expect(readLog(log)).toEqual([]);
});
