/** `createAgentRun` and `runAgent`: one run with tools, a model and limits of the program's own. */
import {readFileSync} from 'node:fs';
import {expect, it, onTestFinished} from 'vitest';
import {createAgentRun, runAgent, UsageError} from '../../src/library/index.ts';
import type {AgentRunOptions, CustomModel, RunEvent} from '../../src/library/public.d.ts';
import {listProcesses} from '../../src/sandbox/launch/process-groups.ts';
import {createHome} from '../support/environment.ts';
import {callTool, hangBeforeHeaders, type Reply, say, startMessagesServer} from '../support/messages-server.ts';
import {countReplies, getToolNames} from '../support/request-facts.ts';
import {until} from '../support/wait.ts';
import {typescriptProject} from '../support/workspace.ts';

async function place() {
  const [workspace, home] = [await typescriptProject(), await createHome()];
  onTestFinished(async () => void (await Promise.all([workspace.remove(), home.remove()])));
  return {cwd: workspace.path, home: home.env.MINI_CC_HOME!};
}

async function prepared(options: Omit<AgentRunOptions, 'cwd' | 'home'>) {
  const run = await createAgentRun({...(await place()), ...options});
  onTestFinished(run.close);
  return run;
}

async function serverWith(reply: (turn: number) => Reply) {
  const server = await startMessagesServer((body) => reply(countReplies(body)));
  onTestFinished(() => server.close());
  return server;
}

const double = {
  name: 'double',
  description: 'Doubles a number.',
  inputSchema: {type: 'object', properties: {n: {type: 'integer', description: 'the number'}}, required: ['n']},
  run: ({n}: {n: number}) => String(2 * n),
};

/** Calls the tool once with this input, then answers with the result that it got. */
function callsOnce(name: string, input: unknown): CustomModel {
  return {
    name: 'scripted',
    reply: ({messages}) => {
      if (messages.length === 1) return {content: [{type: 'tool_use', id: 'call-1', name, input}]};
      const [result] = messages.at(-1)!.content as readonly {content: string}[];
      return result!.content;
    },
  };
}

it('answers offline where there is no key, and writes a transcript of the session', async () => {
  const run = await prepared({prompt: 'Read src/greet.ts'});
  const result = await runAgent(run);
  expect(result).toMatchObject({outcome: 'success', text: expect.stringContaining('src/greet.ts')});
  await run.close();
  const lines = readFileSync(run.transcript, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as {readonly type: string});
  expect(lines[0]).toMatchObject({type: 'session', id: run.sessionId});
  expect(lines.filter(({type}) => type === 'message')).toHaveLength(run.history.messages.length);
});

it('offers all tools but those of Task, or the named ones and those of the program', async () => {
  const server = await serverWith(() => say('yes'));
  const more = {apiKey: 'k', baseURL: server.url, model: 'some-model', prompt: 'x'};
  await runAgent(await prepared(more));
  await runAgent(await prepared({...more, tools: ['grep', 'Read', double]}));
  const [all, named] = server.requests.map(({body}) => getToolNames(body));
  expect(all).toContain('bash');
  expect(all?.filter((name) => name.startsWith('Task'))).toEqual([]);
  expect(named).toEqual(['read_file', 'grep', 'double']);
  expect(server.requests[0]?.body.model).toBe('some-model');
  expect(server.requests[1]?.body.tools?.at(-1)).toMatchObject({
    description: 'Doubles a number.',
    input_schema: {type: 'object', properties: {n: {type: 'integer', description: 'the number'}}, required: ['n']},
  });
});

it('runs a tool of the program, and reports the call by events and in the result', async () => {
  const events: RunEvent[] = [];
  const run = await prepared({
    ...{prompt: 'double 21', tools: [double], model: callsOnce('double', {n: 21})},
    onEvent: (event) => events.push(event),
  });
  const result = await runAgent(run);
  expect(result).toMatchObject({outcome: 'success', text: '42', turns: 2, tools: [{tool: 'double', isError: false}]});
  const ended = events.find((event) => event.type === 'tool_end');
  expect(ended).toMatchObject({agentId: 'main', tool: 'double', preview: '42', isError: false});
  expect(events.filter(({type}) => type === 'text_delta')).toMatchObject([{text: '42'}]);
});

it('refuses input that does not match the schema, and reports what the tool throws', async () => {
  const wrong = await prepared({prompt: 'x', tools: [double], model: callsOnce('double', {n: 'many'})});
  expect((await runAgent(wrong)).text).toContain('Invalid input for double');
  const broken = {...double, run: () => Promise.reject(new Error('no numbers today'))};
  const thrown = await prepared({prompt: 'x', tools: [broken], model: callsOnce('double', {n: 1})});
  expect((await runAgent(thrown)).text).toContain('no numbers today');
});

it('goes on with a second prompt, and in a later process with its session', async () => {
  const where = await place();
  const model: CustomModel = {name: 'counter', reply: ({messages}) => `${messages.length} messages`};
  const run = await createAgentRun({...where, prompt: 'one', model});
  expect((await runAgent(run)).text).toBe('1 messages');
  run.history.appendPrompt('two');
  expect((await runAgent(run)).text).toBe('3 messages');
  await run.close();
  const later = await createAgentRun({...where, prompt: 'three', model, resume: run.sessionId});
  onTestFinished(later.close);
  expect((await runAgent(later)).text).toBe('5 messages');
});

it('keeps to its limits and to the permission mode', async () => {
  const server = await serverWith((turn) =>
    turn < 5 ? callTool('write_file', {path: 'new.txt', content: 'x'}) : say('ok'),
  );
  const more = {apiKey: 'k', baseURL: server.url, prompt: 'x'};
  const limited = await runAgent(await prepared({...more, maxTurns: 2}));
  expect(limited).toMatchObject({outcome: 'limit', limit: '2 turns', tools: [{tool: 'write_file', isError: true}, {}]});
  const allowed = await runAgent(await prepared({...more, maxTurns: 2, permissionMode: 'acceptEdits'}));
  expect(allowed.tools[0]).toMatchObject({tool: 'write_file', isError: false});
  const ruled = await runAgent(await prepared({...more, maxTurns: 2, allowedTools: ['edit_file(new.txt)']}));
  expect(ruled.tools[0]).toMatchObject({isError: false});
});

it.each([
  ['its timeout in milliseconds', {timeout: 200}, 'timeout'],
  ['the signal of the program', {signal: AbortSignal.timeout(300)}, 'stopped'],
] as const)('is ended by %s', async (_, options, outcome) => {
  const server = await serverWith(() => hangBeforeHeaders());
  const run = await prepared({apiKey: 'k', baseURL: server.url, prompt: 'x', ...options});
  expect(await runAgent(run)).toMatchObject({outcome});
});

it('is ended when it is closed', async () => {
  const server = await serverWith(() => hangBeforeHeaders());
  const run = await prepared({apiKey: 'k', baseURL: server.url, prompt: 'x'});
  const ended = runAgent(run);
  await run.close();
  expect(await ended).toMatchObject({outcome: 'stopped'});
});

it('runs as an agent of the project', async () => {
  const server = await serverWith(() => say('yes'));
  await runAgent(await prepared({apiKey: 'k', baseURL: server.url, prompt: 'x', agent_type: 'explore'}));
  expect(getToolNames(server.requests[0]!.body)).toEqual(['bash', 'read_file', 'grep', 'glob', 'symbols']);
});

it.each([
  [{prompt: ' '}, 'A run needs a prompt'],
  [{prompt: 'x', maxTurns: 0}, 'maxTurns must be a whole number from 1 on, not 0'],
  [{prompt: 'x', timeout: -1}, 'timeout must be a number of milliseconds, or 0 for none, not -1'],
  [{prompt: 'x', tools: ['nope']}, 'mini-cc has none of these tools: nope. It has: bash, read_file'],
  [
    {prompt: 'x', tools: [{...double, inputSchema: {type: 'string'}}]},
    'The inputSchema of double must be of type object',
  ],
  [{prompt: 'x', tools: ['grep', {...double, name: 'grep'}]}, 'Two tools are named grep'],
  [{prompt: 'x', agent_type: 'nope'}, 'nope'],
  [{prompt: 'x', resume: 'no-such-session'}, 'no-such-session'],
] as const)('refuses %j', async (options, message) => {
  const created = createAgentRun({...(await place()), ...options});
  await expect(created).rejects.toThrow(UsageError);
  await expect(created).rejects.toThrow(message);
});

it.each([
  ['reads', 'cat package.json'],
  ['leaves a process in the background', 'sleep 1000 & echo $!'],
])('leaves no process in the program that runs it, after a command that %s', async (_, command) => {
  const children = () => listProcesses().filter(({parent}) => parent === process.pid);
  const before = new Set(children().map(({pid}) => pid));
  const started = () => children().filter(({pid}) => !before.has(pid));
  const run = await prepared({prompt: 'go', model: callsOnce('bash', {command}), permissionMode: 'bypassPermissions'});
  expect(await runAgent(run)).toMatchObject({outcome: 'success'});
  expect(started()).not.toEqual([]);
  await run.close();
  await until(() => started().length === 0, 'the end of what it started');
});
