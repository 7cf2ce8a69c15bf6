/** One scene for each method of a session and for each function of the Agent SDK. */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {serve} from '../../e2e/fixture.ts';
import {PLAYED} from '../../extensions/mcp/fixture.ts';
import {callTool, callTools, type Script, say, slow} from '../../support/messages-server.ts';
import {cliEnvironment, cliPath} from '../../support/run-cli.ts';
import {type Any, between, drive, isResult, loaded, loadSdk, makePlace, told, user, withTask} from './driven.ts';

loadSdk();

const bash = (command: string, rest: object = {}) => callTool('Bash', {command, description: 'do it', ...rest});
const notes = {command: process.execPath, args: [PLAYED]};
const uuid = (digit: number) => `7c1dbd09-5bb7-4a0c-9f2b-0d8d1f0a1c0${digit}`;

test('interrupt', async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const script: Script = (_, index) => {
    asked.resolve();
    return index === 0 ? slow(say('long'), 4_000) : say('after');
  };
  async function* prompts() {
    yield user('one');
    await answered.promise;
    yield user('two');
  }
  let interrupted = false;
  const {messages} = await drive(script, prompts(), {}, async (message, session) => {
    if (message.subtype === 'init' && !interrupted) {
      interrupted = true;
      await asked.promise;
      await session.interrupt();
    }
    if (isResult(message)) answered.resolve();
  });
  expect(messages.filter(isResult).map(({subtype}) => subtype)).toEqual(['error_during_execution', 'success']);
});

test('setPermissionMode', async () => {
  const script = [say('a'), callTool('Write', {path: 'made', file_path: 'made', content: 'x'}), say('b')];
  const {cwd, result} = await between((session) => session.setPermissionMode('acceptEdits'), script);
  expect(readFileSync(path.join(cwd, 'made'), 'utf8')).toBe('x');
  expect(result.permission_denials).toEqual([]);
});

test('setMcpPermissionModeOverride', async () => {
  const {result} = await between(
    (session) => session.setMcpPermissionModeOverride('notes', 'default').catch(() => 0),
    undefined,
    {
      mcpServers: {notes},
    },
  );
  expect(result.result).toBe('b');
});

test('setModel', async () => {
  const {bodies} = await between((session) => session.setModel('claude-haiku-4-5'));
  expect(bodies[1]!.model).toBe('claude-haiku-4-5');
});

test('setModel without a name takes the first one again', async () => {
  const act = async (session: Any) => {
    await session.setModel('claude-haiku-4-5');
    await session.setModel();
  };
  const {bodies} = await between(act, undefined, {model: 'claude-sonnet-4-5'});
  expect(bodies[1]!.model).toBe('claude-sonnet-4-5');
});

test('setMaxThinkingTokens', async () => {
  const {bodies} = await between((session) => session.setMaxThinkingTokens(2048), undefined, {
    model: 'claude-sonnet-4-5',
  });
  expect(bodies[1]!.thinking).toMatchObject({budget_tokens: 2048});
});

test('setMaxThinkingTokens: null', async () => {
  const {result} = await between((session) => session.setMaxThinkingTokens(null));
  expect(result.result).toBe('b');
});

test('applyFlagSettings: rules', async () => {
  const act = (session: Any) => session.applyFlagSettings({permissions: {allow: ['Bash(touch:*)']}});
  const {result} = await between(act, [say('a'), bash('touch made'), say('b')]);
  expect(result).toMatchObject({result: 'b', permission_denials: []});
});

test('applyFlagSettings: model and effort', async () => {
  const act = (session: Any) => session.applyFlagSettings({model: 'claude-haiku-4-5', effortLevel: 'high'});
  const {bodies} = await between(act);
  expect(bodies[1]!.model).toBe('claude-haiku-4-5');
});

test('applyFlagSettings: keys that mini-cc lacks are no error', async () => {
  const {result} = await between((session) => session.applyFlagSettings({outputStyle: 'default', effortLevel: null}));
  expect(result.result).toBe('b');
});

test('updateSettings', async () => {
  const act = (session: Any) => session.updateSettings('localSettings', {outputStyle: 'default'});
  const {result} = await between((session) => act(session).catch((error: Error) => error.message));
  expect(result.result).toBe('b');
});

test('initializationResult', async () => {
  const {value} = await between((session) => session.initializationResult());
  expect(value).toMatchObject({
    ...{commands: expect.any(Array), agents: expect.any(Array), models: expect.any(Array), account: expect.any(Object)},
    ...{output_style: expect.any(String), available_output_styles: expect.any(Array)},
  });
});

test('reinitialize', async () => {
  const {value, result} = await between((session) => session.reinitialize());
  expect(value.commands).toEqual(expect.any(Array));
  expect(result.result).toBe('b');
});

test('supportedCommands', async () => {
  const {value} = await between((session) => session.supportedCommands());
  expect(value[0]).toMatchObject({name: expect.any(String), description: expect.any(String)});
});

test('supportedModels', async () => {
  const {value} = await between((session) => session.supportedModels());
  expect(value[0]).toMatchObject({value: expect.any(String), displayName: expect.any(String)});
});

test('supportedAgents', async () => {
  const agents = {rev: {description: 'Reviews', prompt: 'You review.'}};
  const {value} = await between((session) => session.supportedAgents(), undefined, {agents});
  expect(value).toEqual(expect.arrayContaining([expect.objectContaining({name: 'rev', description: 'Reviews'})]));
});

test('accountInfo', async () => {
  const {value} = await between((session) => session.accountInfo());
  expect(value).toEqual(expect.any(Object));
});

test('mcpServerStatus', async () => {
  const {value} = await between((session) => session.mcpServerStatus(), undefined, {mcpServers: {notes}});
  expect(value).toMatchObject([{name: 'notes', status: 'connected'}]);
});

test('getContextUsage', async () => {
  const {value} = await between((session) => session.getContextUsage());
  expect(value).toMatchObject({
    ...{totalTokens: expect.any(Number), maxTokens: expect.any(Number), model: expect.any(String)},
    ...{percentage: expect.any(Number), rawMaxTokens: expect.any(Number), memoryFiles: expect.any(Array)},
    ...{mcpTools: expect.any(Array), agents: expect.any(Array), gridRows: expect.any(Array)},
  });
  expect(value.totalTokens).toBeGreaterThan(0);
});

test('usage', async () => {
  const {value} = await between((session) => session.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET());
  expect(value.session).toMatchObject({total_cost_usd: expect.any(Number), model_usage: expect.any(Object)});
  expect(Object.keys(value.session.model_usage)).toHaveLength(1);
});

test('readFile', async () => {
  const {value} = await between((session, {cwd}) => session.readFile(path.join(cwd, 'package.json')));
  expect(JSON.parse(value.contents)).toEqual(expect.any(Object));
  expect(value.absPath).toMatch(/package\.json$/);
});

test('readFile: the first bytes, and as base64', async () => {
  const {value} = await between(async (session, {cwd}) => {
    const file = path.join(cwd, 'package.json');
    return [await session.readFile(file, {maxBytes: 5}), await session.readFile(file, {encoding: 'base64'})];
  });
  expect(value[0]).toMatchObject({truncated: true});
  expect(value[0].contents).toHaveLength(5);
  expect(Buffer.from(value[1].contents, 'base64').toString()).toContain('"name"');
});

test('readFile: no file', async () => {
  const {value} = await between((session, {cwd}) => session.readFile(path.join(cwd, 'none.txt')));
  expect(value).toBeNull();
});

test('reloadPlugins', async () => {
  const {value} = await between((session) => session.reloadPlugins());
  expect(value).toMatchObject({
    ...{commands: expect.any(Array), agents: expect.any(Array), plugins: [], mcpServers: expect.any(Array)},
    error_count: 0,
  });
});

test.fails('reloadSkills', async () => {
  const {value} = await between((session, {cwd}) => {
    const folder = path.join(cwd, '.claude/skills/bake');
    mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, 'SKILL.md'), '---\nname: bake\ndescription: How to bake\n---\nBake.\n');
    return session.reloadSkills();
  });
  expect(value.skills).toEqual(expect.any(Array));
});

test('reloadOutputStyles', async () => {
  const {result} = await between((session) => session.reloadOutputStyles().catch((error: Error) => error.message));
  expect(result.result).toBe('b');
});

test('rewindFiles', async () => {
  const write = callTool('Write', {path: 'made', file_path: 'made', content: 'x'});
  const answered = Promise.withResolvers<void>();
  async function* prompts() {
    yield user('one', {uuid: uuid(1)});
    await answered.promise;
  }
  let value: Any;
  const options = {permissionMode: 'acceptEdits', enableFileCheckpointing: true};
  const {cwd} = await drive([write, say('a')], prompts(), options, async (message, session) => {
    if (!isResult(message)) return;
    value = [await session.rewindFiles(uuid(1), {dryRun: true}), await session.rewindFiles(uuid(1))];
    answered.resolve();
  });
  expect(value[0]).toMatchObject({canRewind: true, filesChanged: [path.join(cwd, 'made')]});
  expect(value[1]).toMatchObject({canRewind: true});
  expect(() => readFileSync(path.join(cwd, 'made'))).toThrow('ENOENT');
});

test.fails('seedReadState', async () => {
  const {result} = await between(async (session, {cwd}) => {
    const {mtimeMs} = (await import('node:fs')).statSync(path.join(cwd, 'package.json'));
    await session.seedReadState(path.join(cwd, 'package.json'), mtimeMs);
  });
  expect(result.result).toBe('b');
});

test('reconnectMcpServer', async () => {
  const act = async (session: Any) => {
    await session.reconnectMcpServer('notes');
    return session.mcpServerStatus();
  };
  const {value} = await between(act, undefined, {mcpServers: {notes}});
  expect(value).toMatchObject([{name: 'notes', status: 'connected'}]);
});

test('toggleMcpServer', async () => {
  const act = async (session: Any) => {
    await session.toggleMcpServer('notes', false);
    return session.mcpServerStatus();
  };
  const {value} = await between(act, undefined, {mcpServers: {notes}});
  expect(value).toMatchObject([{name: 'notes', status: 'disabled'}]);
});

test('readMcpResource', async () => {
  const act = async (session: Any) => {
    await session.mcpServerStatus();
    return session.readMcpResource('notes', 'notes://today');
  };
  const {value} = await between((session) => act(session), undefined, {mcpServers: {notes}});
  expect(value.contents[0]).toMatchObject({uri: 'notes://today', text: expect.any(String)});
});

test('setMcpServers', async () => {
  const {value, result} = await between(
    (session) => session.setMcpServers({notes}),
    [say('a'), callTool('mcp__notes__echo', {text: 'hi'}), say('b')],
    {allowedTools: ['mcp__notes__echo']},
  );
  expect(value).toMatchObject({added: ['notes'], removed: [], errors: {}});
  expect(result).toMatchObject({result: 'b', permission_denials: []});
});

test('streamInput', async () => {
  const answered = Promise.withResolvers<void>();
  async function* prompts() {
    yield user('one');
    await answered.promise;
  }
  let count = 0;
  const {messages} = await drive([say('a'), say('b')], prompts(), {}, async (message, session) => {
    if (!isResult(message)) return;
    count += 1;
    if (count === 2) return answered.resolve();
    async function* further() {
      yield user('two');
    }
    await session.streamInput(further());
  });
  expect(messages.filter(isResult).map(({result}) => result)).toEqual(['a', 'b']);
});

const rev = {description: 'Reads', prompt: 'You read.'};

test('task_started, task_progress and task_notification of a subagent in the background', async () => {
  const script = withTask('rev', [callTool('Read', {path: 'package.json', file_path: 'package.json'}), say('found')], {
    ...{background: true, run_in_background: true},
  });
  const {messages, result} = await drive(script, 'go', {agents: {rev}});
  expect(result.subtype).toBe('success');
  const kinds = messages.map(({subtype}) => subtype);
  expect(kinds).toEqual(expect.arrayContaining(['task_started', 'task_notification']));
  const ended = messages.find(({subtype}) => subtype === 'task_notification');
  expect(ended).toMatchObject({
    ...{status: 'completed', task_id: expect.any(String), output_file: expect.any(String), tool_use_id: 'toolu_task_1'},
    summary: expect.any(String),
  });
});

test('stopTask', async () => {
  const answered = Promise.withResolvers<void>();
  async function* prompts() {
    yield user('one');
    await answered.promise;
  }
  const script = [bash('sleep 600', {background: true, run_in_background: true}), say('it runs'), say('it ended')];
  let task: string | undefined;
  const {messages} = await drive(script, prompts(), {allowedTools: ['Bash']}, async (message, session) => {
    if (message.subtype === 'task_started') task = message.task_id;
    if (message.subtype === 'task_notification') answered.resolve();
    if (!isResult(message)) return;
    if (task === undefined) answered.resolve();
    else await session.stopTask(task);
    task = undefined;
  });
  expect(messages.find(({subtype}) => subtype === 'task_notification')).toMatchObject({status: 'stopped'});
});

test('backgroundTasks', async () => {
  const {value} = await between((session) => session.backgroundTasks());
  expect(value).toEqual(expect.any(Boolean));
});

test('close', async () => {
  const {messages} = await drive([say('a')], 'go', {}, (message, session) => {
    if (isResult(message)) session.close();
  });
  expect(messages.filter(isResult)).toHaveLength(1);
});

test('startup: a session that waits for its prompt', async () => {
  const server = await serve([say('ok')]);
  const {cwd, home} = await makePlace();
  const env = cliEnvironment(home, {server});
  const options = {pathToClaudeCodeExecutable: cliPath, executable: process.execPath, cwd, env};
  const warm = await loaded.sdk.startup({options});
  const messages: Any[] = [];
  for await (const message of warm.query('go')) messages.push(message);
  expect(messages.find(isResult)).toMatchObject({result: 'ok'});
});

test('tool and createSdkMcpServer', async () => {
  const {tool, createSdkMcpServer} = loaded.sdk;
  const words: string[] = [];
  const shout = tool('shout', 'Shouts', {word: loaded.zod.string()}, async ({word}: Any) => {
    words.push(word);
    return {content: [{type: 'text', text: word.toUpperCase()}]};
  });
  const mcpServers = {voice: createSdkMcpServer({name: 'voice', version: '1.0.0', tools: [shout]})};
  const script = [callTools([{name: 'mcp__voice__shout', input: {word: 'hey'}}]), say('ok')];
  const {bodies} = await drive(script, 'go', {mcpServers, allowedTools: ['mcp__voice__shout']});
  expect(words).toEqual(['hey']);
  expect(told(bodies[1])).toContain('HEY');
});

test('a tool of the driver that fails', async () => {
  const {tool, createSdkMcpServer} = loaded.sdk;
  const fails = tool('fails', 'Fails', {}, async () => {
    throw new Error('out of order');
  });
  const mcpServers = {voice: createSdkMcpServer({name: 'voice', version: '1.0.0', tools: [fails]})};
  const script = [callTool('mcp__voice__fails', {}), say('ok')];
  const {bodies, result} = await drive(script, 'go', {mcpServers, allowedTools: ['mcp__voice__fails']});
  expect(result.result).toBe('ok');
  expect(told(bodies[1])).toContain('out of order');
});

/** Two prompts of one session, with an index for the functions that read sessions. */
async function recorded() {
  const place = await makePlace();
  writeFileSync(path.join(place.home.path, '.mini-cc/settings.json'), JSON.stringify({claude: {sessions: true}}));
  vi.stubEnv('CLAUDE_CONFIG_DIR', path.join(place.home.path, '.claude'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const {result} = await drive([say('the answer')], 'the question', {}, undefined, place);
  return {...place, id: result.session_id as string};
}

test.fails('listSessions', async () => {
  const {cwd, id} = await recorded();
  const listed = await loaded.sdk.listSessions({dir: cwd});
  expect(listed).toEqual([expect.objectContaining({sessionId: id})]);
});

test.fails('getSessionMessages', async () => {
  const {cwd, id} = await recorded();
  const messages = await loaded.sdk.getSessionMessages(id, {dir: cwd});
  expect(JSON.stringify(messages)).toMatch(/the question.*the answer/s);
});

test.fails('getSessionInfo', async () => {
  const {cwd, id} = await recorded();
  expect(await loaded.sdk.getSessionInfo(id, {dir: cwd})).toMatchObject({sessionId: id});
});
