/**
 * A translating proxy that people use, claude-code-router (MIT), stands between mini-cc and a server of the chat
 * completions protocol. It is one package without dependencies; 3.x needs a package that npm does not have.
 * `npm run test:outside`; it needs the network.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import {afterAll, beforeAll, beforeEach, expect, it} from 'vitest';
import {project} from '../e2e/fixture.ts';
import {type ChatServer, startChatServer} from '../support/chat-server.ts';
import {createUserEnvironment} from '../support/environment.ts';
import {callTool, cut, type Reply, say, slow, status} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {downloadsFolder, unpack} from './downloads.ts';

const ROUTER = {
  from: {npm: '@musistudio/claude-code-router@2.0.0'},
  file: /^musistudio-claude-code-router-2\.0\.0\.tgz$/,
  sha256: 'c09fd569577d13e5fd15da40623df8d561f8816eb0f0a045839f4302a9862737',
};
const PROXY_KEY = 'proxy-key-1234567';
const CHAT_KEY = 'chat-key-1234567';

const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-proxy-'));
let script: (body: ChatServer['requests'][number]['body']) => Reply;
let chat: ChatServer;
let proxy: ChildProcess;
let url: string;

beforeAll(async () => {
  unpack(ROUTER, downloadsFolder(folder), path.join(folder, 'router'));
  chat = await startChatServer((body) => script(body));
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  mkdirSync(path.join(folder, 'home/.claude-code-router'), {recursive: true});
  const provider = {
    name: 'chat',
    api_base_url: `${chat.url}/chat/completions`,
    api_key: CHAT_KEY,
    models: ['gpt-test'],
  };
  writeFileSync(
    path.join(folder, 'home/.claude-code-router/config.json'),
    JSON.stringify({
      ...{LOG: false, HOST: '127.0.0.1', PORT: port, APIKEY: PROXY_KEY, NON_INTERACTIVE_MODE: true},
      Providers: [provider],
      Router: {default: 'chat,gpt-test'},
    }),
  );
  const env = {...createUserEnvironment(), HOME: path.join(folder, 'home')};
  proxy = spawn(process.execPath, [path.join(folder, 'router/dist/cli.js'), 'start'], {env, stdio: 'ignore'});
  await waitForServer();
});

afterAll(async () => {
  proxy?.kill('SIGKILL');
  await chat?.close();
  rmSync(folder, {recursive: true, force: true});
});

let before = 0;
beforeEach(() => {
  before = chat.requests.length;
});
const asked = () => chat.requests.slice(before);

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as {port: number};
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function waitForServer(): Promise<void> {
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await until(answers, 'an answer of the proxy');
}

const run = async (...args: readonly string[]) =>
  runCli(['-p', 'go', ...args], {
    cwd: (await project()).path,
    env: {ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: PROXY_KEY, ANTHROPIC_MODEL: 'gpt-test'},
  });
const hasResult = ({messages}: {readonly messages: readonly {role: string}[]}) =>
  messages.some(({role}) => role === 'tool');
const isSubagent = ({tools}: {readonly tools?: unknown}) => !JSON.stringify(tools ?? []).includes('"Task"');

it('text', async () => {
  script = () => say('Hello through the proxy.');
  expect(await run()).toMatchObject({code: 0, stdout: 'Hello through the proxy.\n'});
  expect(asked().map(({headers}) => headers.authorization)).toEqual([`Bearer ${CHAT_KEY}`]);
});

it('tools', async () => {
  script = (body) => (hasResult(body) ? say('read it') : callTool('read_file', {path: 'README.md'}));
  expect(await run()).toMatchObject({code: 0, stdout: 'read it\n'});
  expect(JSON.stringify(asked()[1]!.body.messages)).toContain('Greets people by their name');
});

it('a Task: the subagent asks through the proxy too, and its answer comes back', async () => {
  const task = {description: 'look', prompt: 'look', agent_type: 'explore'};
  script = (body) =>
    isSubagent(body)
      ? hasResult(body)
        ? say('src/greet.ts greets')
        : callTool('glob', {pattern: 'src/*.ts'})
      : hasResult(body)
        ? say('done')
        : callTool('Task', task);
  const {stdout} = await run('--output-format', 'json');
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({subtype: 'success', result: 'done'});
  expect(result.subagents).toMatchObject([{agent: 'explore', outcome: 'success'}]);
  expect(JSON.stringify(asked().at(-1)!.body.messages)).toContain('src/greet.ts greets');
});

it('429 of the server is waited for', async () => {
  script = () => (asked().length === 1 ? status(429) : say('after a wait'));
  const {stdout, stderr, code} = await run();
  expect({stdout, code}).toEqual({stdout: 'after a wait\n', code: 0});
  expect(stderr).toMatch(/retrying in .* \(429\)/);
});

it('a stream that is cut is asked for again, and nothing of it is said twice', async () => {
  script = () =>
    asked().length === 1 ? cut(3, slow(say('A sentence that is cut before its end.'), 20)) : say('whole');
  const {stdout, stderr, code} = await run();
  expect({stdout, code}).toEqual({stdout: 'whole\n', code: 0});
  expect(stderr).toContain('retrying');
});
