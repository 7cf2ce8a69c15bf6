/**
 * Drives mini-cc by `acpx`, a client of the Agent Client Protocol that others wrote, as people do who have no editor. From npm,
 * by its checksum. `npm run test:outside`; it needs the network.
 */
import {existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {home as createHome, project, serve} from '../e2e/fixture.ts';
import {PLAYED} from '../extensions/mcp/fixture.ts';
import type {Script} from '../support/messages-server.ts';
import {buildOnce, cliEnvironment, cliPath} from '../support/run-cli.ts';
import {callTool, hangBeforeHeaders, say, status} from '../support/scripted-replies.ts';
import {installPackages} from './downloads.ts';

const ACPX = {
  'acpx@0.19.1': 'sha512-zKVZVM6tHGXmdXU+sC30jdFLzz0ZpNLMorYKH+it3XcuEcvFl20sLbHPqfdjfsLfV+PmhRDEm1b9Np5KxgFHow==',
};
const MINUTES = 60_000;
const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-acpx-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));
beforeAll(async () => {
  installPackages(ACPX, folder);
  await buildOnce();
}, 5 * MINUTES);

/** A folder, a home and a model server; acpx starts mini-cc there. */
async function setUp(script: Script, flags = '') {
  const server = await serve(script);
  const [home, {path: place}] = [await createHome(), await project()];
  const cwd = realpathSync(place);
  const env = {...cliEnvironment(home, {server}), NO_COLOR: '1'};
  const agent = `${process.execPath} ${cliPath} acp ${flags}`.trim();
  const acpx = async (...args: string[]) => {
    const all = [path.join(folder, 'node_modules/acpx/dist/cli.js'), '--agent', agent, '--ttl', '60', ...args];
    const run = await execa(process.execPath, all, {cwd, env, extendEnv: false, reject: false, stdin: 'ignore'});
    return {code: run.exitCode, out: run.stdout, err: run.stderr};
  };
  onTestFinished(async () => {
    await acpx('sessions', 'close');
  });
  const results = () =>
    server.requests
      .at(-1)!
      .body.messages.flatMap(({content}) => (typeof content === 'string' ? [] : content))
      .filter(({type}) => type === 'tool_result')
      .map(({content}) => JSON.stringify(content));
  return {server, cwd, acpx, results, file: (name: string) => path.join(cwd, name)};
}

/** Methods of the messages in both directions, and the values of `kind` in updates. */
function readMessages(out: string) {
  const messages = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const updates = messages.flatMap(({params}) => params?.update ?? []);
  return {
    methods: messages.flatMap(({method}) => method ?? []) as string[],
    kinds: updates.map(({sessionUpdate}) => sessionUpdate) as string[],
    stop: messages.at(-1).result?.stopReason as string | undefined,
    calls: updates.filter(({sessionUpdate}) => sessionUpdate === 'tool_call').map(({name}) => name) as string[],
  };
}

const read = callTool('read_file', {path: 'a.txt'});
const edit = callTool('edit_file', {path: 'a.txt', old_string: 'one', new_string: 'two'});

describe('acpx', () => {
  test(
    'asks one thing, as text, as JSON and quietly, with a model and an effort of its choice',
    async () => {
      const {acpx, server} = await setUp(() => say('Hello from the model.'));
      const text = await acpx('exec', 'hi');
      expect(text).toMatchObject({code: 0, err: ''});
      expect(text.out).toMatch(/Hello from the model\..*\[done\] end_turn/s);
      const json = await acpx(
        '--format',
        'json',
        '--json-strict',
        '--model',
        'haiku',
        'exec',
        '--config-option',
        'effort=high',
        'hi',
      );
      expect(json.code).toBe(0);
      expect(readMessages(json.out)).toMatchObject({
        stop: 'end_turn',
        kinds: expect.arrayContaining(['available_commands_update', 'session_info_update', 'usage_update']),
      });
      expect(server.requests.at(-1)!.body).toMatchObject({
        model: expect.stringContaining('haiku'),
        thinking: {type: 'adaptive'},
      });
      expect(await acpx('--format', 'quiet', 'exec', 'hi')).toMatchObject({code: 0, out: 'Hello from the model.'});
      expect((await acpx('exec', '--config-option', 'effort=huge', 'hi')).code).not.toBe(0);
    },
    5 * MINUTES,
  );

  test(
    'reads and writes files itself, answers questions, and without its files and terminal mini-cc does',
    async () => {
      const steps = [read, edit, callTool('bash', {command: 'touch made'}), say('Done.')];
      const run = async (...flags: string[]) => {
        const {acpx, file, results} = await setUp(steps);
        writeFileSync(file('a.txt'), 'one\n');
        const {code, out} = await acpx('--format', 'json', ...flags, 'exec', 'go');
        const isMade = existsSync(file('made'));
        return {code, ...readMessages(out), text: readFileSync(file('a.txt'), 'utf8'), isMade, results: results()};
      };
      const yes = await run('--approve-all');
      expect(yes).toMatchObject({
        code: 0,
        stop: 'end_turn',
        calls: ['Read', 'Edit', 'Bash'],
        text: 'two\n',
        isMade: true,
      });
      expect(yes.methods).toEqual(
        expect.arrayContaining(['fs/read_text_file', 'fs/write_text_file', 'session/request_permission']),
      );
      expect(yes.methods.filter((method) => method.startsWith('terminal/'))).toEqual([]);
      const reads = await run('--approve-reads');
      expect(reads).toMatchObject({stop: 'end_turn', text: 'one\n', isMade: false});
      expect(reads.results[1]).toContain('refused');
      const no = await run('--deny-all');
      expect(no).toMatchObject({code: 5, stop: 'end_turn', text: 'one\n', isMade: false});
      const alone = await run('--approve-all', '--no-fs', '--no-terminal');
      expect(alone).toMatchObject({code: 0, text: 'two\n', isMade: true});
      expect(alone.methods.filter((method) => method.startsWith('fs/'))).toEqual([]);
    },
    5 * MINUTES,
  );

  test(
    'keeps a session: prompts go on, its mode and model are set, it is listed, told, cancelled and closed',
    async () => {
      const {acpx, server} = await setUp(({messages}) =>
        JSON.stringify(messages.at(-1)).includes('never') ? hangBeforeHeaders() : say(`answer ${messages.length}`),
      );
      expect((await acpx('sessions', 'new')).code).toBe(0);
      expect((await acpx('first')).out).toContain('answer 1');
      expect(await acpx('set-mode', 'acceptEdits')).toMatchObject({code: 0, out: 'mode set: acceptEdits'});
      expect((await acpx('set', 'model', 'haiku')).code).toBe(0);
      expect((await acpx('second')).out).toContain('answer 3');
      expect(server.requests.at(-1)!.body.model).toContain('haiku');
      expect((await acpx('status')).out).toMatch(/status: running.*mode: acceptEdits/s);
      expect((await acpx('sessions')).out).toContain('first');
      expect((await acpx('sessions', 'history')).out).toMatch(/user\tfirst\n.*answer 1\n.*user\tsecond\n.*answer 3/);
      const before = server.requests.length;
      const cancelled = acpx('never ends');
      await server.waitForRequests(before + 1);
      expect((await acpx('cancel')).code).toBe(0);
      expect((await cancelled).out).toContain('[done] cancelled');
      expect((await acpx('third')).out).toContain('answer');
      expect((await acpx('sessions', 'close')).code).toBe(0);
    },
    5 * MINUTES,
  );

  test(
    'names MCP servers for a session, and a prompt that fails is an error',
    async () => {
      const {acpx, cwd, results} = await setUp(
        [callTool('mcp__play__echo', {text: 'hello'}), say('Heard.'), status(400, {message: 'no such thing'})],
        '--allowed-tools mcp__play',
      );
      const config = path.join(cwd, 'servers.json');
      const mcpServers = [{name: 'play', type: 'stdio', command: process.execPath, args: [PLAYED], env: []}];
      writeFileSync(config, JSON.stringify({mcpServers}));
      expect(await acpx('--mcp-config', config, 'exec', 'say hello')).toMatchObject({code: 0});
      expect(results().at(-1)).toContain('you said hello');
      const failed = await acpx('exec', 'hi');
      expect(failed.code).not.toBe(0);
      expect(`${failed.out}${failed.err}`).toContain('no such thing');
    },
    5 * MINUTES,
  );
});
