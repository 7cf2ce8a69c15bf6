/** An editor that sends what no schema allows, and answers questions with nonsense: each is an error of its own. */
import {once} from 'node:events';
import {readFileSync, realpathSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {home as createHome, project, serve} from '../e2e/fixture.ts';
import type {Script} from '../support/messages-server.ts';
import {spawnCli} from '../support/run-cli.ts';
import {callTool, say} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: {readonly sessionId?: string; readonly stopReason?: string};
  readonly error?: {readonly code: number; readonly message: string};
}

/** Lines in both directions, without the official client. @param answer what the editor answers to each request */
async function startRaw(script: Script, answer: (method: string) => object | undefined = () => ({result: {}})) {
  const server = await serve(script);
  const [home, {path: place}] = [await createHome(), await project()];
  const child = await spawnCli(['acp'], {server, home});
  const exited = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const got: Message[] = [];
  const send = (line: unknown) => child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  let rest = '';
  child.stdout.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      got.push(message);
      if (message.method === undefined || message.id === undefined) continue;
      const reply = answer(message.method);
      if (reply) send({jsonrpc: '2.0', id: message.id, ...reply});
    }
  });
  let ids = 0;
  const request = async (method: string, params: unknown): Promise<Message> => {
    ids += 1;
    const id = `r${ids}`;
    send({jsonrpc: '2.0', id, method, params});
    const find = () => got.find((message) => message.id === id && message.method === undefined);
    await until(() => find() !== undefined, `an answer to ${method}`);
    return find()!;
  };
  const open = async (clientCapabilities: object = {}) => {
    await request('initialize', {protocolVersion: 1, clientCapabilities});
    const {result} = await request('session/new', {cwd, mcpServers: []});
    return result!.sessionId!;
  };
  const prompt = (sessionId: string, text: string) =>
    request('session/prompt', {sessionId, prompt: [{type: 'text', text}]});
  const cwd = realpathSync(place);
  const end = async () => {
    child.stdin.end();
    return (await exited)[0];
  };
  return {server, cwd, got, send, request, open, prompt, end};
}

it('answers what is no message, no method or no valid parameter with the errors of JSON-RPC, and goes on', async () => {
  const {cwd, got, send, request, open, prompt, end} = await startRaw([say('Still here.')]);
  for (const line of ['garbage', '{"half":', '[]', 'null', '5', '{}', {jsonrpc: '2.0', id: 'x'}]) send(line);
  send({jsonrpc: '2.0', id: 9, result: {}});
  send({jsonrpc: '2.0', method: 'session/cancel', params: 7});
  send({jsonrpc: '2.0', method: 'no/such'});
  send({jsonrpc: '2.0', method: '$/cancel_request', params: {requestId: 'nothing'}});
  const code = async (method: string, params: unknown) => (await request(method, params)).error?.code;
  expect(await code('session/new', {cwd, mcpServers: []})).toBe(-32_600);
  for (const params of [null, {}, {protocolVersion: 'one'}]) expect(await code('initialize', params)).toBe(-32_602);
  const sessionId = await open({fs: 'yes', elicitation: 7, unknown: {deep: [1]}});
  expect(got.filter(({id, error}) => id === null && [-32_700, -32_600].includes(error!.code))).toHaveLength(6);
  expect(await code('no/such', {})).toBe(-32_601);
  const wrong: readonly (readonly [string, object])[] = [
    ['session/new', {cwd: 5}],
    ['session/new', {cwd, mcpServers: [{name: 'a'}]}],
    ['session/new', {cwd: '/no/such', mcpServers: []}],
    ['session/prompt', {sessionId, prompt: 'text'}],
    ['session/prompt', {sessionId, prompt: []}],
    ['session/prompt', {sessionId, prompt: [{type: 'video'}]}],
    ['session/set_mode', {sessionId, modeId: 'root'}],
    ['session/set_config_option', {sessionId, configId: 'model', value: {a: 1}}],
    ['session/load', {sessionId: '../../etc/passwd', cwd, mcpServers: []}],
    ['session/delete', {sessionId: '../x'}],
  ];
  for (const [method, params] of wrong)
    expect(await code(method, params), `${method} ${JSON.stringify(params)}`).toBe(-32_602);
  expect(await code('session/prompt', {sessionId: 'none', prompt: [{type: 'text', text: 'hi'}]})).toBe(-32_002);
  expect((await prompt(sessionId, 'hi')).result).toMatchObject({stopReason: 'end_turn'});
  expect(await end()).toBe(0);
});

it('takes nonsense as the answer to a question or a file for no, and asks a silent editor for no further file', async () => {
  const files = {fs: {readTextFile: true, writeTextFile: true}};
  const answers: (object | undefined)[] = [
    ...[{}, {result: null}, {result: {outcome: 5}}, {result: {outcome: {outcome: 'selected', optionId: 'root'}}}],
    ...[{error: 'no'}, {error: {code: 'x'}}],
  ];
  let asked = 0;
  const wild = await startRaw(
    [...answers.map(() => callTool('bash', {command: 'touch made'})), say('Done.')],
    (method) => (method === 'session/request_permission' ? answers[asked++] : {result: {content: 5}}),
  );
  writeFileSync(path.join(wild.cwd, 'a.txt'), 'on disk\n');
  expect((await wild.prompt(await wild.open(files), 'go')).result).toMatchObject({stopReason: 'end_turn'});
  expect(asked).toBe(answers.length);
  expect(() => readFileSync(path.join(wild.cwd, 'made'))).toThrow();

  let reads = 0;
  const silent = await startRaw(
    [callTool('read_file', {path: 'a.txt'}), callTool('read_file', {path: 'a.txt'}), say('Done.')],
    (method) => {
      if (method === 'fs/read_text_file') reads += 1;
      return undefined;
    },
  );
  writeFileSync(path.join(silent.cwd, 'a.txt'), 'on disk\n');
  expect((await silent.prompt(await silent.open(files), 'go')).result).toMatchObject({stopReason: 'end_turn'});
  expect(JSON.stringify(silent.server.requests.at(-1)!.body).split('on disk')).toHaveLength(3);
  expect(reads).toBe(1);
});
