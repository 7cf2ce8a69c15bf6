/** `mini-cc runs`: what is at work in all sessions of a person on this machine. */
import {existsSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import type {Home} from '../support/environment.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools, hangBeforeHeaders, say} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
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
    runs: {run: string; agent: string; description: string; state: string}[];
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
  await send(asking, 'write it');
  await asking.waitFor(/Write new\.txt\?/);
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
  await repl({server, home: own});
  await until(async () => (await list(own)).map(({state}) => state).join() === 'idle', 'only the new session');
  expect((await list(own, '--all')).some(({state}) => state === 'ended')).toBe(true);
});
