/**
 * The official Agent SDK drives the built program. It is installed from npm into a scratch folder, by its checksum, and is
 * never a dependency: its licence is not open. `npm run test:outside`; it needs the network.
 */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {home as makeHome, project, serve} from '../e2e/fixture.ts';
import {PLAYED} from '../extensions/mcp/fixture.ts';
import type {Home} from '../support/environment.ts';
import {callTool, callTools, type Script, say, slow} from '../support/messages-server.ts';
import {buildOnce, cliEnvironment, cliPath} from '../support/run-cli.ts';
import {withUsage} from '../support/scripted-replies.ts';
import {installPackages} from './downloads.ts';

const VERSION = '0.3.330';
const INTEGRITY = 'sha512-7om9Xus6tfkeCUCfzg6ilJuN6Z7okkEvJ0mx+ukXa/Id5U/6BGtPkOYni+3ebedwa3b9SVF7A05+ln+/9EoU/w==';
const MINUTES = 60_000;

const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-agent-sdk-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

// biome-ignore lint/suspicious/noExplicitAny: another program's messages
type Any = any;
let query: (call: {prompt: unknown; options: object}) => Any;
let sdk: Any;
let zod: Any;

/** The SDK sets them in its own process. */
const SET_BY_SDK = ['CLAUDE_AGENT_SDK_VERSION', 'NoDefaultCurrentDirectoryInExePath'];
afterAll(() => {
  for (const name of SET_BY_SDK) delete process.env[name];
});

beforeAll(async () => {
  await buildOnce();
  installPackages({[`@anthropic-ai/claude-agent-sdk@${VERSION}`]: INTEGRITY}, folder);
  const load = (file: string) => import(pathToFileURL(path.join(folder, 'node_modules', file)).href);
  [sdk, {z: zod}] = await Promise.all([load('@anthropic-ai/claude-agent-sdk/sdk.mjs'), load('zod/index.js')]);
  ({query} = sdk);
}, 5 * MINUTES);

/** @returns all messages of the session, in order */
async function drive(
  script: Script,
  prompt: unknown,
  options: object = {},
  onMessage: (message: Any, session: Any) => unknown = () => undefined,
  place?: {readonly cwd: string; readonly home: Home},
) {
  const server = await serve(script);
  const {cwd, home} = place ?? {cwd: (await project()).path, home: await makeHome()};
  const env = cliEnvironment(home, {server});
  const session = query({
    prompt,
    options: {pathToClaudeCodeExecutable: cliPath, executable: process.execPath, cwd, env, ...options},
  });
  const messages: Any[] = [];
  // After a result that is an error the SDK throws: that is then the last thing it does.
  let failure: unknown;
  try {
    for await (const message of session) {
      messages.push(message);
      await onMessage(message, session);
    }
  } catch (error) {
    failure = error;
  }
  const result = messages.findLast(isResult);
  if (failure && !result?.is_error) throw failure;
  return {messages, server, result, failure};
}

const user = (content: string) => ({
  type: 'user',
  message: {role: 'user', content},
  parent_tool_use_id: null,
  session_id: '',
});
/** Sends the second prompt once the first was answered. */
function twoPrompts() {
  let answered: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    answered = resolve;
  });
  async function* prompts() {
    yield user('one');
    await first;
    yield user('two');
  }
  return {prompts: prompts(), answered};
}
const isResult = ({type}: Any) => type === 'result';

test('one shot', async () => {
  const {result, messages} = await drive([say('Hi')], 'hello');
  expect(result).toMatchObject({subtype: 'success', result: 'Hi'});
  expect(messages[0]).toMatchObject({subtype: 'init', mcp_servers: []});
});

test('streaming input: two turns in one session', async () => {
  const {prompts, answered} = twoPrompts();
  const {messages} = await drive([say('a'), say('b')], prompts, {}, (message) => isResult(message) && answered());
  const results = messages.filter(isResult);
  expect(results.map(({result}) => result)).toEqual(['a', 'b']);
  expect(new Set(results.map(({session_id: id}) => id)).size).toBe(1);
});

test('partial messages', async () => {
  const {messages} = await drive([say('Hi there')], 'hello', {includePartialMessages: true});
  const kinds = messages.filter(({type}) => type === 'stream_event').map(({event}) => event.type);
  expect(new Set(kinds)).toEqual(
    new Set([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]),
  );
});

test('canUseTool allows with a changed input, denies, and interrupts', async () => {
  const write = callTool('write_file', {path: 'b.txt', content: 'x'});
  const asked: Any[] = [];
  const allowed = await drive([write, say('ok')], 'go', {
    canUseTool: async (name: string, input: object) => {
      asked.push([name, input]);
      return {behavior: 'allow', updatedInput: {...input, content: 'changed'}};
    },
  });
  expect(asked).toEqual([['Write', {file_path: 'b.txt', content: 'x'}]]);
  expect(allowed.result).toMatchObject({result: 'ok', permission_denials: []});
  const deny = (interrupt: boolean) => ({canUseTool: async () => ({behavior: 'deny', message: 'not now', interrupt})});
  const denied = await drive([write, say('ok')], 'go', deny(false));
  expect(JSON.stringify(denied.server.requests[1]!.body.messages)).toContain('not now');
  const stopped = await drive([write, say('never')], 'go', deny(true));
  expect(stopped.result).toMatchObject({subtype: 'error_during_execution'});
});

test('hooks', async () => {
  const hook = async () => ({
    hookSpecificOutput: {hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'by hook'},
  });
  const options = {
    ...{permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true},
    hooks: {PreToolUse: [{matcher: 'Bash', hooks: [hook]}]},
  };
  const {server} = await drive([callTool('bash', {command: 'touch made'}), say('ok')], 'go', options);
  expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('by hook');
  const told: string[] = [];
  const tell = async ({hook_event_name: event}: Any) => {
    told.push(event);
    const additionalContext = `context of ${event}`;
    return ['UserPromptSubmit', 'PostToolUse'].includes(event)
      ? {hookSpecificOutput: {hookEventName: event, additionalContext}}
      : {};
  };
  const events = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
  const hooks = Object.fromEntries(events.map((event) => [event, [{hooks: [tell]}]]));
  const more = await drive([callTool('glob', {pattern: '*.json'}), say('ok')], 'go', {hooks});
  expect(told).toEqual(events);
  expect(JSON.stringify(more.server.requests[0]!.body.messages)).toContain('context of UserPromptSubmit');
  expect(JSON.stringify(more.server.requests[1]!.body.messages)).toContain('context of PostToolUse');
});

test('agents of the program, and messages that say whose they are', async () => {
  const task = {name: 'Task', input: {description: 'look', prompt: 'look', agent_type: 'rev'}};
  const script: Script = (body) =>
    !body.tools?.some(({name}) => name === 'Task')
      ? say('found')
      : body.messages.length === 1
        ? callTools([task])
        : say('done');
  const agents = {rev: {description: 'Reviews', prompt: 'You review.', tools: ['Read']}};
  const {messages, result} = await drive(script, 'go', {agents});
  expect(result.result).toBe('done');
  expect(messages.some(({parent_tool_use_id: id}) => typeof id === 'string')).toBe(true);
});

test('interrupt, then the next prompt', async () => {
  const {prompts, answered} = twoPrompts();
  const asked = Promise.withResolvers<void>();
  const script: Script = (_, index) => {
    asked.resolve();
    return index === 0 ? slow(say('long'), 4_000) : say('after');
  };
  let interrupted = false;
  const {messages} = await drive(script, prompts, {}, async (message, session) => {
    if (message.subtype === 'init' && !interrupted) {
      interrupted = true;
      await asked.promise;
      await session.interrupt();
    }
    if (isResult(message)) answered();
  });
  expect(messages.filter(isResult).map(({subtype}) => subtype)).toEqual(['error_during_execution', 'success']);
});

test('setModel, setPermissionMode, context usage', async () => {
  const {prompts, answered} = twoPrompts();
  let usage: Any;
  const {server, messages} = await drive([say('a'), say('b')], prompts, {}, async (message, session) => {
    if (!isResult(message) || usage) return;
    await session.setModel('haiku');
    await session.setPermissionMode('plan');
    usage = await session.getContextUsage();
    answered();
  });
  expect(server.requests[1]!.body.model).toMatch(/haiku/);
  expect(messages.findLast(({subtype}) => subtype === 'init')).toMatchObject({permissionMode: 'plan'});
  expect(usage.totalTokens).toBeGreaterThan(0);
});

test('resume, and fork', async () => {
  const place = {cwd: (await project()).path, home: await makeHome()};
  const go = (text: string, answer: string, options: object = {}) =>
    drive([say(answer)], text, options, undefined, place);
  const first = await go('one', 'a');
  const resumed = await go('two', 'b', {resume: first.result.session_id});
  expect(resumed.result).toMatchObject({result: 'b', session_id: first.result.session_id});
  expect(JSON.stringify(resumed.server.requests[0]!.body.messages)).toContain('one');
  const forked = await go('three', 'c', {resume: first.result.session_id, forkSession: true});
  expect(forked.result.session_id).not.toBe(first.result.session_id);
  expect(JSON.stringify(forked.server.requests[0]!.body.messages)).toMatch(/one.*two.*three/s);
  const again = await go('four', 'd', {continue: true});
  expect(JSON.stringify(again.server.requests[0]!.body.messages)).toContain('three');
});

test('structured output', async () => {
  const schema = {type: 'object', properties: {colour: {type: 'string'}}, required: ['colour']};
  const {result} = await drive([say('{"colour": "red"}')], 'which?', {outputFormat: {type: 'json_schema', schema}});
  expect(result).toMatchObject({subtype: 'success', structured_output: {colour: 'red'}});
  const wrong = await drive(() => say('{}'), 'which?', {outputFormat: {type: 'json_schema', schema}});
  expect(wrong.result).toMatchObject({subtype: 'error_max_structured_output_retries'});
});

test('thinking, settings and rules in the middle', async () => {
  const {prompts, answered} = twoPrompts();
  const script = [say('a'), callTool('bash', {command: 'touch made'}), say('b')];
  let applied = false;
  const options = {model: 'claude-sonnet-4-5', permissionMode: 'acceptEdits'};
  const {server, result} = await drive(script, prompts, options, async (message, session) => {
    if (!isResult(message) || applied) return;
    applied = true;
    await session.setMaxThinkingTokens(2048);
    await session.applyFlagSettings({permissions: {allow: ['Bash(touch:*)']}});
    answered();
  });
  expect(server.requests[1]!.body.thinking).toMatchObject({budget_tokens: 2048});
  expect(result).toMatchObject({result: 'b', permission_denials: []});
});

test('max turns, and a system prompt', async () => {
  const loop: Script = () => callTool('read_file', {path: 'package.json'});
  const {result, server} = await drive(loop, 'go', {maxTurns: 2, systemPrompt: 'You are a cat.'});
  expect(result).toMatchObject({subtype: 'error_max_turns', errors: [expect.stringContaining('2 turns')]});
  expect(JSON.stringify(server.requests[0]!.body.system)).toContain('You are a cat.');
});

test('budget', async () => {
  const loop: Script = () =>
    withUsage(callTool('read_file', {path: 'package.json'}), {input_tokens: 100_000, output_tokens: 1_000});
  const {result} = await drive(loop, 'go', {maxBudgetUsd: 0.5});
  expect(result).toMatchObject({subtype: 'error_max_budget_usd', total_cost_usd: expect.any(Number)});
});

test('MCP servers: one of the SDK, and a program', async () => {
  const shape = {a: zod.number(), b: zod.number()};
  const add = sdk.tool('add', 'Adds two numbers', shape, async ({a, b}: {a: number; b: number}) => ({
    content: [{type: 'text', text: `the sum is ${a + b}`}],
  }));
  const calc = sdk.createSdkMcpServer({name: 'calc', version: '1.0.0', tools: [add]});
  const script = [
    callTools([
      {name: 'mcp__calc__add', input: {a: 2, b: 3}},
      {name: 'mcp__notes__echo', input: {text: 'hi'}},
    ]),
    say('ok'),
  ];
  const {prompts, answered} = twoPrompts();
  let status: Any;
  const options = {
    mcpServers: {calc, notes: {command: process.execPath, args: [PLAYED]}},
    allowedTools: ['mcp__calc', 'mcp__notes__echo'],
  };
  const {server, messages} = await drive([...script, say('again')], prompts, options, async (message, session) => {
    if (!isResult(message) || status) return;
    status = await session.mcpServerStatus();
    answered();
  });
  expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toMatch(/the sum is 5.*you said hi/s);
  expect(status).toMatchObject([
    {name: 'calc', status: 'connected'},
    {name: 'notes', status: 'connected'},
  ]);
  const [init] = messages;
  expect(init.mcp_servers.map(({name}: Any) => name)).toEqual(['calc', 'notes']);
  // The second prompt's: the tools of both are known by then.
  expect(messages.findLast(({subtype}) => subtype === 'init').tools).toContain('mcp__notes__echo');
  const delivered = await drive(script, 'go', {...options, mcpServersDelivery: 'initialize'});
  expect(delivered.result).toMatchObject({result: 'ok', permission_denials: []});
});
