/** `mini-cc runs`: what is at work in all sessions of a person on this machine. */
import {existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {getOwnRecord} from '../../src/core/util/process-owner.ts';
import type {Home} from '../support/environment.ts';
import {countReplies} from '../support/request-facts.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools, hangBeforeHeaders, say} from '../support/scripted-replies.ts';
import {pause, until} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

async function list(own: Home, ...args: string[]) {
  const {stdout} = await runCli(['runs', '--json', ...args], {home: own});
  return JSON.parse(stdout).sessions as {
    session: string;
    state: string;
    folder: string;
    pid: number;
    waits_for?: string;
    tokens: number;
    runs: {run: string; agent: string; description: string; state: string; tokens: number}[];
  }[];
}

const countLive = (own: Home) => {
  const folder = path.join(own.path, '.mini-cc', 'live');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')).length : 0;
};

it('shows what waits for a person first, stops a run of another session, and shows a killed session until the next start', async () => {
  const own = await home();
  const server = await serve((body) => {
    const prompt = JSON.stringify(body.messages);
    if (isSubagent(body)) return hangBeforeHeaders();
    if (prompt.includes('tool_result')) return say('done');
    if (prompt.includes('write')) return callTool('write_file', {path: 'new.txt', content: 'x'});
    return callTools([explore('look', 'look around')]);
  });
  const asking = await repl({server, home: own});
  await until(() => countLive(own) === 1, 'a published session');
  const watching = await spawnCli(['runs', '--watch'], {home: own});
  onTestFinished(() => killGroup(watching));
  let watched = '';
  watching.stdout.on('data', (chunk) => (watched += chunk));
  watching.stderr.resume();
  await until(() => watched.includes('idle'), 'the idle session in the watched list');
  await send(asking, 'write it');
  await asking.waitFor(/Write new\.txt\?/);
  await until(() => watched.includes('waiting: main: Write new.txt?'), 'the question in the watched list');
  const workspace = await project();
  const child = await spawnCli(['-p', 'explore it'], {server, home: own, cwd: workspace.path});
  onTestFinished(() => killGroup(child));
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.resume();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await until(() => countLive(own) === 2, 'two published sessions');

  const [first, second] = await list(own);
  expect(first).toMatchObject({state: 'waiting', waits_for: expect.stringContaining('Write new.txt?')});
  expect(second).toMatchObject({state: 'working', folder: workspace.path, pid: child.pid});
  expect(second!.runs).toMatchObject([{agent: 'explore', description: 'look around', state: 'running'}]);
  const sockets = readdirSync(path.join(own.path, '.mini-cc', 'live')).filter((name) => name.endsWith('.sock'));
  for (const name of sockets) expect(statSync(path.join(own.path, '.mini-cc', 'live', name)).mode & 0o077).toBe(0);

  const text = (await runCli(['runs'], {home: own})).stdout;
  expect(text).toMatch(/waiting: main: Write new\.txt\?[\s\S]*working[\s\S]*running {2}explore {2}look around/);
  const unknown = await runCli(['runs', 'stop', 'nothing'], {home: own});
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/No run "nothing" is at work/)]);
  const open = await runCli(['runs', 'open', first!.session], {home: own});
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining(`is open: process ${first!.pid}`)]);
  const log = await runCli(['runs', 'log', second!.runs[0]!.run.slice(0, 8)], {home: own});
  expect(log.stdout).toContain('"look"');
  const stopped = await runCli(['runs', 'stop', second!.runs[0]!.run], {home: own});
  expect([stopped.code, stopped.stdout]).toEqual([0, expect.stringContaining('Stopped')]);
  await ended;
  expect(said).toBe('done\n');
  expect(countLive(own)).toBe(1);

  process.kill(first!.pid, 'SIGKILL');
  await asking.waitForExit();
  expect((await list(own)).map(({state}) => state)).toEqual(['dead']);
  const projects = path.join(own.path, '.mini-cc', 'projects');
  const locks = readdirSync(projects).map((project) => path.join(projects, project, first!.session, 'lock'));
  expect(locks.filter((lock) => existsSync(lock))).toHaveLength(1);
  // It is another project, where the next session starts.
  await repl({server, home: own});
  await until(async () => (await list(own)).map(({state}) => state).join() === 'idle', 'only the new session');
  await until(() => !locks.some((lock) => existsSync(lock)), 'no lock of the killed session');
  expect(readdirSync(path.join(own.path, '.mini-cc', 'live')).some((name) => name.startsWith(`${first!.pid}.`))).toBe(
    false,
  );
  expect((await list(own, '--all')).some(({state}) => state === 'ended')).toBe(true);
});

it('lists what ended sessions and their runs did from their files, and shows the transcript of an ended run', async () => {
  const own = await home();
  const server = await serve((body) => {
    if (isSubagent(body)) return countReplies(body) === 0 ? callTool('glob', {pattern: '*'}) : say('found it');
    return countReplies(body) === 0 ? callTools([explore('look', 'look around')]) : say('done');
  });
  await runCli(['-p', 'go'], {server, home: own, cwd: (await project()).path});
  const [session] = await list(own, '--all');
  expect(session).toMatchObject({state: 'ended', tools: 2, cost: expect.any(Number)});
  expect(session!.runs).toMatchObject([{agent: 'explore', description: 'look around', state: 'done', tools: 1}]);
  const {run, tokens} = session!.runs[0]!;
  expect(tokens).toBeGreaterThan(0);
  expect(session!.tokens).toBeGreaterThan(tokens);
  const log = await runCli(['runs', 'log', run.slice(0, 8)], {home: own});
  expect([log.code, log.stdout]).toEqual([0, expect.stringContaining('found it')]);
  const unknown = await runCli(['runs', 'log', 'nothing'], {home: own});
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('No run "nothing"')]);
});

it('asks for the id where it is empty, and opens a session in a terminal only', async () => {
  const at = {server: await serve(() => say('done')), home: await home(), cwd: (await project()).path};
  await runCli(['-p', 'hi', '--session-id', '11111111-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
  const refusal = async (...words: string[]) => {
    const {code, stdout, stderr} = await runCli(words, at);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    return stderr;
  };
  for (const verb of ['stop', 'log']) {
    expect(await refusal('runs', verb, '')).toBe(`mini-cc: mini-cc runs ${verb} needs the id of one run\n`);
  }
  for (const words of [[''], ['1111', '2222']]) {
    expect(await refusal('runs', 'open', ...words)).toBe('mini-cc: mini-cc runs open needs the id of one session\n');
  }
  expect(await refusal('sessions', 'show', '')).toBe('mini-cc: mini-cc sessions show needs the id of one session\n');
  expect(await refusal('runs', 'open', '1111')).toMatch(
    /^mini-cc: no terminal for a REPL: type mini-cc --cwd '.*' --resume 11111111-\S+ -p "your question"\n$/,
  );
});

describe('many sessions', () => {
  const RUNS = Array.from({length: 8}, (_, index) => {
    const facts = {tools: 7, tokens: 1000, cost: 0.01, age_ms: 100};
    return {run: `run-${index}`, agent: 'explore', description: 'look around', state: 'running', ...facts};
  });

  /** Publishes sessions as mini-cc does. This process answers for the living ones, and counts what they are asked. */
  function publish(own: Home, live: number, dead: number, ended: number) {
    const folder = path.join(own.path, '.mini-cc', 'live');
    mkdirSync(folder, {recursive: true});
    const asked = {status: 0, changed: 0};
    const toChange: (() => void)[] = [];
    let tools = 1;
    const write = (name: string, record: object) =>
      writeFileSync(path.join(folder, `${name}.json`), JSON.stringify({version: 1, ...getOwnRecord(), ...record}));
    for (let index = 0; index < live; index += 1) {
      const [session, socket] = [`live-${index}`, path.join(folder, `${index}.sock`)];
      const facts = {folder: '/p', state: 'working', pid: process.pid, tokens: 8000, cost: 0.1, age_ms: 1000};
      const server = createServer((client) => {
        client.on('error', () => client.destroy());
        client.once('data', (line) => {
          const {type} = JSON.parse(String(line)) as {type: 'status' | 'changed'};
          asked[type] += 1;
          const reply = () => client.end(`${JSON.stringify({session, ...facts, tools, runs: RUNS})}\n`);
          if (type === 'status') reply();
          else toChange.push(reply);
        });
      });
      server.listen(socket);
      onTestFinished(() => void server.close());
      write(`${index}`, {session, folder: '/p', socket, startedAt: Date.now()});
    }
    const killed = {started: 'long ago', folder: '/p', socket: path.join(folder, 'no.sock'), startedAt: Date.now()};
    for (let index = 0; index < dead; index += 1) write(`dead-${index}`, {session: `dead-${index}`, ...killed});
    for (let index = 0; index < ended; index += 1) {
      const at = path.join(own.path, '.mini-cc', 'projects', 'p', `ended-${index}`);
      for (const name of ['', ...RUNS.map(({run}) => `subagents/${run}`)]) {
        mkdirSync(path.join(at, name), {recursive: true});
        const header = {type: 'session', version: 1, id: `ended-${index}`, agent: 'main', cwd: '/p', at: new Date()};
        writeFileSync(path.join(at, name, 'session.jsonl'), `${JSON.stringify(header)}\n`);
      }
    }
    return {
      asked,
      /** Has one session say that it did something. */
      change() {
        tools += 1;
        toChange.shift()!();
      },
    };
  }

  /** Counts the files that are opened and the folders that are listed, by Node's trace of its calls. */
  async function countFiles(own: Home, ...args: string[]) {
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    const pattern = path.join(folder.path, 'trace-${rotation}-${pid}.json');
    const traced = `--trace-event-categories=node.fs.sync --trace-event-file-pattern=${pattern}`;
    const {stdout} = await runCli(['runs', '--json', ...args], {home: own, env: {NODE_OPTIONS: traced}});
    const traces = readdirSync(folder.path).map((name) => readFileSync(path.join(folder.path, name), 'utf8'));
    const calls = traces.flatMap((text) => JSON.parse(text).traceEvents as {ph: string; name: string}[]);
    const opened = calls.filter(({ph, name}) => ph === 'B' && /^fs\.sync\.(?:open|readdir)$/.test(name));
    return {sessions: JSON.parse(stdout).sessions as {state: string; runs: object[]}[], files: opened.length};
  }

  it('are asked once each, and two files are read for each, its own and that of its process: transcripts are read where nobody answers', async () => {
    const [none, some] = [await home(), await home()];
    await countFiles(none);
    const {files: without} = await countFiles(none);
    const {asked} = publish(some, 30, 10, 10);
    const {sessions, files} = await countFiles(some);
    expect(sessions.filter(({state, runs}) => state === 'working' && runs.length === 8)).toHaveLength(30);
    expect(sessions.filter(({state}) => state === 'dead')).toHaveLength(10);
    expect(asked).toEqual({status: 30, changed: 0});
    expect(files - without).toBe(2 * 40 + 2 * 10);
    const all = await countFiles(some, '--all');
    expect(all.sessions).toHaveLength(50);
    // Of an ended session its first line, and then its transcript, are read.
    expect(all.files - files).toBe(2 + 10 + 2 * 10);
  });

  it('are asked again by --watch only when one of them did something', async () => {
    const own = await home();
    const {asked, change} = publish(own, 5, 1, 0);
    const child = await spawnCli(['runs', '--watch'], {home: own});
    onTestFinished(() => killGroup(child));
    let said = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    child.stderr.resume();
    await until(() => said.includes('1 tool '), 'the first list');
    await until(() => asked.changed === 5, 'a question to each for its next change');
    await pause(2500, 'nothing happens in this time, so nothing is asked');
    expect(asked).toEqual({status: 5, changed: 5});
    change();
    await until(() => said.includes('2 tools '), 'the list after a change');
    await until(() => asked.changed === 6, 'a new question to the one that changed');
    expect(asked.status).toBe(10);
  });
});
