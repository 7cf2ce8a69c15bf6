/** Keys that models, commands, tools and servers repeat are seen nowhere but in the files that tools write. */
import {execFile} from 'node:child_process';
import {chmodSync, mkdirSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {keyOf, toolResultsOf, turnOf} from '../support/request-facts.ts';
import {buildOnce, cliEnvironment, cliPath, runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools, status} from '../support/scripted-replies.ts';
import {transcriptsBelow, wholeLines} from '../support/session-files.ts';
import {home, isSubagent, serve, until} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';
import {
  DOT_ENV,
  KEYS,
  leaksIn,
  leakyFiles,
  OTHER,
  OWN,
  projectWithKeys,
  spreadingModel,
} from './secret-leaks-fixture.ts';

const ALLOWED = ['--allowed-tools', 'bash,read_file,grep,write_file,Task'];

describe('a session in which keys are spread', () => {
  it.each([
    ['text', []],
    ['json', []],
    ['stream-json', ['--include-partial-messages', '--verbose']],
  ])('shows and stores none of them with --output-format %s', async (format, flags) => {
    const workspace = await projectWithKeys();
    const at = {server: await serve(spreadingModel), cwd: workspace.path, home: await home(), env: KEYS};
    const args = ['-p', `my key is ${OWN}`, '--debug', '--output-format', format, ...flags, ...ALLOWED];
    const run = await runCli(args, at);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toContain('[redacted: ANTHROPIC_API_KEY]');
    expect(run.stdout).toContain('[redacted: FOO_API_KEY]');
    expect(leaksIn(run.stdout + run.stderr)).toEqual([]);
    expect(leaksIn(streamedText(run.stdout))).toEqual([]);
    expect(leakyFiles(at.home.path)).toEqual([]);
    // What tools write is what was meant.
    expect(await workspace.read('copy.env')).toBe(DOT_ENV);
    // The model of this session reads what is there, and no tool had the key in its environment.
    const sent = JSON.stringify(at.server.requests.at(-1)?.body);
    expect(sent).toContain(OWN);
    expect(sent).toContain('\\n[] ');
    expect(keyOf(at.server.requests[0])).toBe(OWN);
    if (format === 'json') expect(JSON.parse(run.stdout).permission_denials).not.toEqual([]);

    for (const words of [['list'], ['list', '--json'], ...['show', 'export'].flatMap(eachFormat(at.home.path))]) {
      const told = await runCli(['sessions', ...words], at);
      expect(told.code).toBe(0);
      expect(leaksIn(told.stdout + told.stderr)).toEqual([]);
    }
  });

  it('has marks in its transcript, which are not written over the values when it goes on', async () => {
    const workspace = await projectWithKeys();
    const server = await serve((body) => {
      const turn = turnOf(body);
      if (turn === 0) return callTool('read_file', {path: '.env'});
      if (turn === 1) return callTool('bash', {command: `echo ${OWN}; sleep 7651`});
      if (turn === 2) return callTool('read_file', {path: '.env'});
      if (turn === 3)
        return callTool('write_file', {path: '.env', content: 'A=1\nKEY=[redacted: ANTHROPIC_API_KEY]\n'});
      return say('done');
    });
    const at = {server, cwd: workspace.path, home: await home(), env: KEYS};
    const child = await spawnCli(['-p', 'start', '--dangerously-skip-permissions'], at);
    child.stdin.end();
    await server.waitForRequests(2);
    await until(async () => transcriptsBelow(at.home.path).flatMap(wholeLines).length >= 5);
    child.kill('SIGKILL');
    expect(leakyFiles(at.home.path)).toEqual([]);

    const run = await runCli(['-p', 'go on', '--continue', '--dangerously-skip-permissions'], at);
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(JSON.stringify(server.requests[2]?.body)).toContain('KEY=[redacted: ANTHROPIC_API_KEY]');
    const [refused] = toolResultsOf(server.requests.at(-1)!.body);
    expect(refused).toMatchObject({isError: true});
    expect(refused?.text).toContain('[redacted: ANTHROPIC_API_KEY] stands for a value that mini-cc hides');
    expect(await workspace.read('.env')).toBe(DOT_ENV);
    expect(leakyFiles(at.home.path)).toEqual([]);
  });

  it('shows none of them in the REPL, live or when it goes on', async () => {
    const workspace = await projectWithKeys();
    const at = {server: await serve(spreadingModel), cwd: workspace.path, home: await home(), env: KEYS};
    const terminal = await repl({...at, args: ['--debug', ...ALLOWED]});
    await send(terminal, 'spread them');
    await terminal.waitFor('4 no');
    expect(leaksIn(terminal.text())).toEqual([]);
    // In its first moment a question takes no keys.
    await new Promise((resolve) => setTimeout(resolve, 350));
    terminal.type('1');
    await terminal.waitFor('Once more', 20_000);
    await idle(terminal);
    await terminal.waitFor('I found');
    await send(terminal, '/subagents log 1 50 tools');
    await send(terminal, '/subagents diff 1');
    await terminal.waitFor(/\+.*\[redacted: FOO_API_KEY\]/);
    await send(terminal, '/subagents info 1');
    await terminal.waitFor('receipt:');
    terminal.press('ctrl-d');
    await terminal.waitForExit();
    expect(leaksIn(terminal.raw())).toEqual([]);

    const again = await repl({...at, args: ['--continue']});
    await again.waitFor('[redacted: ');
    expect(leaksIn(again.raw())).toEqual([]);
    // Typed by the person: on the screen while it is typed, in no file.
    await send(again, `/nosuch ${OTHER}`);
    await again.waitFor('Unknown command');
    await send(again, `remember ${OTHER}`);
    await again.waitFor(/Once more[\s\S]*Once more/);
    again.press('ctrl-d');
    await again.waitForExit();
    expect(leakyFiles(at.home.path)).toEqual([]);
  });
});

describe('a key', () => {
  it('that the server repeats in an error is not told, and not given to another model', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return status(401, {message: `invalid x-api-key: ${OWN}`});
      const task = {description: 'look', prompt: 'look', agent_type: 'explore'};
      return turnOf(body) === 0 ? callTools([{name: 'Task', input: task}]) : status(401, {message: `no: ${OWN}`});
    });
    const at = {server, cwd: (await projectWithKeys()).path, home: await home(), env: KEYS};
    const run = await runCli(['-p', 'x', '--debug', '--output-format', 'json'], at);
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('[redacted: ANTHROPIC_API_KEY]');
    expect(leaksIn(run.stdout + run.stderr)).toEqual([]);
    expect(leakyFiles(at.home.path)).toEqual([]);
    expect(server.requests.flatMap(({body}) => leaksIn(JSON.stringify(body)))).toEqual([]);
  });

  it('is not told by wrong arguments and settings, nor by what shows them', async () => {
    const workspace = await projectWithKeys();
    await workspace.write('.mini-cc/settings.json', JSON.stringify({model: OWN, [OTHER]: 1}));
    await workspace.write('.mini-cc/agents/odd.json', JSON.stringify({name: 'odd', description: OWN, tools: [OTHER]}));
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
        ['agents', 'show', OWN],
        ['--resume', OWN, '-p', 'x'],
        ['-p', 'x', '--agent', OTHER],
      ],
      ...[
        ['-p', 'x', '--debug', '--settings', OWN],
        ['sessions', 'show', OWN],
        ['-p', `/x ${OTHER}`, '--offline'],
      ],
    ];
    for (const args of forms) {
      const {stdout, stderr} = await runCli(args, at);
      expect(leaksIn(stdout + stderr), `${args.join(' ')}\n${stdout}${stderr}`).toEqual([]);
    }
    expect(leakyFiles(at.home.path)).toEqual([]);
  });

  it('that a model puts into the draft of an agent is not saved with it', async () => {
    const draft = {
      ...{name: 'key-finder', description: `Finds ${OWN}, use it to look for keys`, tools: ['read_file']},
      prompt: `You look for ${OTHER}.`,
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
    expect(leaksIn(run.stdout + run.stderr)).toEqual([]);
  });
});

it('what mini-cc stores is readable by the user alone, whatever the umask, and whatever it was before', async () => {
  await buildOnce();
  const at = {server: await serve(spreadingModel), cwd: (await projectWithKeys()).path, home: await home(), env: KEYS};
  const ours = path.join(at.home.path, '.mini-cc');
  const run = (...args: string[]) =>
    promisify(execFile)('sh', ['-c', 'umask 000; exec "$@" </dev/null', 'sh', process.execPath, cliPath, ...args], {
      cwd: at.cwd,
      env: cliEnvironment(at.home, at),
    });
  const wide = path.join(ours, 'logs');
  mkdirSync(wide);
  chmodSync(wide, 0o777);
  await run('-p', 'x', '--debug', ...ALLOWED);
  const [main] = transcriptsBelow(ours).filter((file) => !file.includes('/subagents/'));
  chmodSync(main!, 0o666);
  await run('-p', 'y', '--continue', '--debug', ...ALLOWED);
  const modes = readdirSync(ours, {recursive: true, withFileTypes: true})
    // Of compiled code its folder is closed.
    .filter(({parentPath}) => !parentPath.includes('/cache'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => (statSync(file).mode & 0o077) !== 0);
  expect(modes).toEqual([]);
});

function eachFormat(folder: string) {
  return (verb: string) => {
    const id = path.basename(path.dirname(transcriptsBelow(folder).find((file) => !file.includes('/subagents/'))!));
    return [
      [verb, id],
      [verb, id, '--json'],
    ];
  };
}

/** The pieces of the raw stream of each block, put together again. */
function streamedText(stdout: string): string {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"type":"stream_event"'))
    .map((line) => (JSON.parse(line) as {event: {delta?: Record<string, string>}}).event.delta ?? {})
    .map(({text, thinking, partial_json}) => text ?? thinking ?? partial_json ?? '')
    .join('');
}
