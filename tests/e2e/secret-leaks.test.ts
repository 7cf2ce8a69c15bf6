/** Keys that models, commands, tools and servers repeat appear only in files that tools write. */
import {execFile} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {countReplies, getKey, getToolResults} from '../support/request-facts.ts';
import {buildOnce, cliEnvironment, cliPath, runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools, status} from '../support/scripted-replies.ts';
import {findTranscripts, readLines} from '../support/session-files.ts';
import {until} from '../support/wait.ts';
import {home, isSubagent, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';
import {
  DOT_ENV,
  findLeakingFiles,
  findLeaks,
  KEYS,
  leakingModel,
  MODEL_KEY,
  OTHER_KEY,
  projectWithKeys,
} from './secret-leaks-fixture.ts';

const ALLOWED = ['--allowed-tools', 'bash,read_file,grep,write_file,Task'];

describe('a session in which model, tools and commands repeat keys', () => {
  it.each([
    ['text', []],
    ['json', []],
    ['stream-json', ['--include-partial-messages', '--verbose']],
  ])('shows and stores no key with --output-format %s', async (format, flags) => {
    const workspace = await projectWithKeys();
    const at = {server: await serve(leakingModel), cwd: workspace.path, home: await home(), env: KEYS};
    const args = ['-p', `my key is ${MODEL_KEY}`, '--debug', '--output-format', format, ...flags, ...ALLOWED];
    const run = await runCli(args, at);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toContain('[redacted: ANTHROPIC_API_KEY]');
    expect(run.stdout).toContain('[redacted: FOO_API_KEY]');
    expect(findLeaks(run.stdout + run.stderr)).toEqual([]);
    expect(findLeaks(streamedText(run.stdout))).toEqual([]);
    expect(findLeakingFiles(at.home.path)).toEqual([]);
    // Tools write the real content.
    expect(await workspace.read('copy.env')).toBe(DOT_ENV);
    // The model gets the real content of files, and no tool had the key in its environment.
    const sent = JSON.stringify(at.server.requests.at(-1)?.body);
    expect(sent).toContain(MODEL_KEY);
    expect(sent).toContain('\\n[] ');
    expect(getKey(at.server.requests[0])).toBe(MODEL_KEY);
    if (format === 'json') expect(JSON.parse(run.stdout).permission_denials).not.toEqual([]);

    // What is stored does not depend on the format of the output.
    if (format !== 'text') return;
    for (const words of [['list'], ['list', '--json'], ...['show', 'export'].flatMap(eachFormat(at.home.path))]) {
      const output = await runCli(['sessions', ...words], at);
      expect(output.code).toBe(0);
      expect(findLeaks(output.stdout + output.stderr)).toEqual([]);
    }
  });

  it('shows and stores no key of the settings: of MCP servers, hooks and addresses', async () => {
    const key = (of: string) => `${of}-abcdef0123456789`;
    const settings = {
      mcpServers: {
        dying: {
          command: 'sh',
          args: ['-c', 'echo $A_TOKEN >&2; exit 1', '--api-key', key('argument')],
          env: {A_TOKEN: key('variable')},
        },
        far: {
          type: 'http',
          url: `http://x:${key('url')}@127.0.0.1:1/`,
          headers: {Authorization: `Bearer ${key('header')}`},
        },
      },
      hooks: {Stop: [{hooks: [{type: 'http', url: 'http://127.0.0.1:1/', headers: {'x-api-key': key('hook')}}]}]},
      providers: {p: {baseURL: `http://user:${key('base')}@127.0.0.1:1/v1`}},
    };
    const at = {cwd: await projectWithKeys().then(({path}) => path), home: await home()};
    for (const file of [path.join(at.home.path, '.mini-cc/settings.json'), path.join(at.cwd, 'copy.json')]) {
      writeFileSync(file, JSON.stringify(settings, null, 1));
    }
    const read = await runCli(['-p', '--offline', '--debug', 'read copy.json'], at);
    expect(read.stdout).toContain('[redacted: A_TOKEN]');
    const list = await runCli(['mcp', 'list'], at);
    expect(list.stdout).toContain('[redacted: A_TOKEN]');
    const get = await runCli(['mcp', 'get', 'dying'], at);
    expect(get.stdout).toContain('[redacted: api-key]');
    for (const {stdout, stderr} of [read, list, get]) expect(stdout + stderr).not.toContain('abcdef0123456789');
    const stored = findTranscripts(at.home.path).flatMap(readLines);
    expect(stored).not.toEqual([]);
    expect(JSON.stringify(stored)).not.toContain('abcdef0123456789');
  });

  it('has redaction marks in its transcript, and these never overwrite the values in files when it is continued', async () => {
    const workspace = await projectWithKeys();
    const server = await serve((body) => {
      const turn = countReplies(body);
      if (turn === 0) return callTool('read_file', {path: '.env'});
      if (turn === 1) return callTool('bash', {command: `echo ${MODEL_KEY}; sleep 7651`});
      if (turn === 2) return callTool('read_file', {path: '.env'});
      if (turn === 3)
        return callTool('write_file', {path: '.env', content: 'A=1\nKEY=[redacted: ANTHROPIC_API_KEY]\n'});
      return say('done');
    });
    const at = {server, cwd: workspace.path, home: await home(), env: KEYS};
    const child = await spawnCli(['-p', 'start', '--dangerously-skip-permissions'], at);
    child.stdin.end();
    await server.waitForRequests(2);
    const isDone = ({type}: {readonly type: string}) => type !== 'usage_so_far';
    await until(async () => findTranscripts(at.home.path).flatMap(readLines).filter(isDone).length >= 5);
    child.kill('SIGKILL');
    expect(findLeakingFiles(at.home.path)).toEqual([]);

    const run = await runCli(['-p', 'go on', '--continue', '--dangerously-skip-permissions'], at);
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(JSON.stringify(server.requests[2]?.body)).toContain('KEY=[redacted: ANTHROPIC_API_KEY]');
    const [refused] = getToolResults(server.requests.at(-1)!.body);
    expect(refused).toMatchObject({isError: true});
    expect(refused?.text).toContain('[redacted: ANTHROPIC_API_KEY] stands for a value that mini-cc hides');
    expect(await workspace.read('.env')).toBe(DOT_ENV);
    expect(findLeakingFiles(at.home.path)).toEqual([]);
  });

  it('shows no key in the REPL, live or when it is continued', async () => {
    const workspace = await projectWithKeys();
    const at = {server: await serve(leakingModel), cwd: workspace.path, home: await home(), env: KEYS};
    const terminal = await repl({...at, args: ['--debug', ...ALLOWED]});
    await send(terminal, 'spread them');
    await terminal.waitFor('4 no');
    expect(findLeaks(terminal.text())).toEqual([]);
    await answer(terminal, '4 no', '1');
    await terminal.waitFor('Once more');
    await idle(terminal);
    await terminal.waitFor('I found');
    await send(terminal, '/subagents log 1 50 tools');
    await send(terminal, '/subagents diff 1');
    await terminal.waitFor(/\+.*\[redacted: FOO_API_KEY\]/);
    await send(terminal, '/subagents info 1');
    await terminal.waitFor('receipt:');
    terminal.press('ctrl-d');
    await terminal.waitForExit();
    expect(findLeaks(terminal.raw())).toEqual([]);

    const again = await repl({...at, args: ['--continue']});
    await again.waitFor('[redacted: ');
    expect(findLeaks(again.raw())).toEqual([]);
    // A key that the user types is on the screen while it is typed, and in no file.
    await send(again, `/nosuch ${OTHER_KEY}`);
    await again.waitFor('Unknown command');
    await send(again, `remember ${OTHER_KEY}`);
    await again.waitFor(/Once more[\s\S]*Once more/);
    again.press('ctrl-d');
    await again.waitForExit();
    expect(findLeakingFiles(at.home.path)).toEqual([]);
  });
});

describe('a key', () => {
  it('that the server repeats in an error is redacted, and not sent to another model', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return status(401, {message: `invalid x-api-key: ${MODEL_KEY}`});
      const task = {description: 'look', prompt: 'look', agent_type: 'explore'};
      return countReplies(body) === 0
        ? callTools([{name: 'Task', input: task}])
        : status(401, {message: `no: ${MODEL_KEY}`});
    });
    const at = {server, cwd: (await projectWithKeys()).path, home: await home(), env: KEYS};
    const run = await runCli(['-p', 'x', '--debug', '--output-format', 'json'], at);
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('[redacted: ANTHROPIC_API_KEY]');
    expect(findLeaks(run.stdout + run.stderr)).toEqual([]);
    expect(findLeakingFiles(at.home.path)).toEqual([]);
    expect(server.requests.flatMap(({body}) => findLeaks(JSON.stringify(body)))).toEqual([]);
  });

  it('in invalid arguments and settings is redacted in their errors and where they are shown', async () => {
    const workspace = await projectWithKeys();
    await workspace.write('.mini-cc/settings.json', JSON.stringify({model: MODEL_KEY, [OTHER_KEY]: 1}));
    await workspace.write(
      '.mini-cc/agents/odd.json',
      JSON.stringify({name: 'odd', description: MODEL_KEY, tools: [OTHER_KEY]}),
    );
    const at = {cwd: workspace.path, home: await home(), env: KEYS};
    const forms = [
      ...[
        ['config', 'show'],
        ['config', 'show', '--json'],
        ['agents', 'list'],
        ['doctor'],
        ['agents', 'lint', '--json'],
      ],
      ...[
        ['agents', 'show', MODEL_KEY],
        ['--resume', MODEL_KEY, '-p', 'x'],
        ['-p', 'x', '--agent', OTHER_KEY],
      ],
      ...[
        ['-p', 'x', '--debug', '--settings', MODEL_KEY],
        ['sessions', 'show', MODEL_KEY],
        ['-p', `/x ${OTHER_KEY}`, '--offline'],
      ],
    ];
    for (const args of forms) {
      const {stdout, stderr} = await runCli(args, at);
      expect(findLeaks(stdout + stderr), `${args.join(' ')}\n${stdout}${stderr}`).toEqual([]);
    }
    expect(findLeakingFiles(at.home.path)).toEqual([]);
  });

  it('that a model puts into the draft of an agent is redacted in the saved file', async () => {
    const draft = {
      ...{name: 'key-finder', description: `Finds ${MODEL_KEY}, use it to look for keys`, tools: ['read_file']},
      prompt: `You look for ${OTHER_KEY}.`,
    };
    const workspace = await projectWithKeys();
    const at = {
      server: await serve(() => say(JSON.stringify(draft))),
      cwd: workspace.path,
      home: await home(),
      env: KEYS,
    };
    const run = await runCli(['agents', 'create', 'an agent that finds keys', '--yes'], at);
    expect(run.code, run.stderr).toBe(0);
    expect(await workspace.read('.mini-cc/agents/key-finder.json')).toContain('[redacted: FOO_API_KEY]');
    expect(findLeaks(run.stdout + run.stderr)).toEqual([]);
  });
});

it('only the user can read what mini-cc stores, with any umask, also files that had wider permissions before', async () => {
  await buildOnce();
  const at = {server: await serve(leakingModel), cwd: (await projectWithKeys()).path, home: await home(), env: KEYS};
  const ours = path.join(at.home.path, '.mini-cc');
  const temporary = mkdtempSync(path.join(tmpdir(), 'mini-cc-umask-'));
  const run = (...args: string[]) =>
    promisify(execFile)('sh', ['-c', 'umask 000; exec "$@" </dev/null', 'sh', process.execPath, cliPath, ...args], {
      cwd: at.cwd,
      env: {...cliEnvironment(at.home, at), TMPDIR: temporary, NODE_COMPILE_CACHE: ''},
    });
  const wide = path.join(ours, 'logs');
  mkdirSync(wide);
  chmodSync(wide, 0o777);
  await run('-p', 'x', '--debug', ...ALLOWED);
  const [main] = findTranscripts(ours).filter((file) => !file.includes('/subagents/'));
  chmodSync(main!, 0o666);
  await run('-p', 'y', '--continue', '--debug', ...ALLOWED);
  const stored = [ours, temporary].flatMap((folder) =>
    readdirSync(folder, {recursive: true, withFileTypes: true}).map((entry) => path.join(entry.parentPath, entry.name)),
  );
  expect(stored.filter((file) => file.includes('/cache/compiled/')).length).toBeGreaterThan(2);
  expect(stored.filter((file) => (statSync(file).mode & 0o077) !== 0)).toEqual([]);
});

function eachFormat(folder: string) {
  return (verb: string) => {
    const id = path.basename(path.dirname(findTranscripts(folder).find((file) => !file.includes('/subagents/'))!));
    return [
      [verb, id],
      [verb, id, '--json'],
    ];
  };
}

/** The text of all raw stream events together. */
function streamedText(stdout: string): string {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"type":"stream_event"'))
    .map((line) => (JSON.parse(line) as {event: {delta?: Record<string, string>}}).event.delta ?? {})
    .map(({text, thinking, partial_json}) => text ?? thinking ?? partial_json ?? '')
    .join('');
}
