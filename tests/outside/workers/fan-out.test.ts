/** Many runs at workers: a fan-out over three of them, stops, messages, and workers that leave. */
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {home, isSubagent, project, serve} from '../../e2e/fixture.ts';
import {send} from '../../e2e/repl-fixture.ts';
import {callTool, type MessagesBody, say} from '../../support/messages-server.ts';
import {runCli, startCli} from '../../support/run-cli.ts';
import {pause, until} from '../../support/wait.ts';
import type {Workspace} from '../../support/workspace.ts';
import {listWorkers, SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const FILES = 60;
const REPLY_MS = 300;
const env = {QUEUE_KEY: SECRET};
const EDITS = ['--permission-mode', 'acceptEdits'];

async function manyFiles(): Promise<Workspace> {
  const workspace = await project();
  for (let index = 0; index < FILES; index += 1) {
    await workspace.write(`parts/f${index}.ts`, `export const value${index} = ${index};\n`);
  }
  await workspace.git('add', '-A');
  await workspace.git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'parts');
  return workspace;
}

/** Each part rewrites its file, with a model that takes its time. */
async function answer(body: MessagesBody) {
  await pause(REPLY_MS, 'a model takes its time, so that each worker has some of the parts');
  const turns = body.messages.filter(({role}) => role === 'assistant').length;
  const [, file = '', number = ''] = /(parts\/f(\d+)\.ts)/.exec(JSON.stringify(body.messages[0])) ?? [];
  if (turns === 0) return callTool('read_file', {path: file});
  if (turns > 1) return say('Done.');
  return callTool('edit_file', {path: file, old_string: `value${number} `, new_string: `renamed${number} `});
}

function hashParts({path: root}: Workspace): string {
  const hash = createHash('sha256');
  for (let index = 0; index < FILES; index += 1) hash.update(readFileSync(path.join(root, `parts/f${index}.ts`)));
  return hash.digest('hex');
}

it('a fan-out of 60 parts over three workers gives the bytes that one machine gives, and each worker has its share', async () => {
  const [redis, server, here, there, own] = [
    ...[await startRedis(), await serve(answer)],
    ...[await manyFiles(), await manyFiles(), await home()],
  ] as const;
  for (let count = 0; count < 3; count += 1) await startWorker({url: redis.url, server, args: ['--concurrency', '4']});
  const prompt = 'Rename the constant in all files in parts/';
  const run = async (workspace: Workspace, where: string) => {
    const settings = withQueue(redis.url, {fanOut: {mode: 'auto', parts: FILES, where}});
    const args = ['-p', prompt, ...EDITS, '--settings', settings, '--output-format', 'json'];
    return runCli(args, {cwd: workspace.path, home: own, server, env, timeoutMs: 240_000});
  };
  const local = await run(here, 'local');
  const remote = await run(there, 'workers');
  const results = {total: FILES, successful: FILES, failed: 0, filesModified: FILES};
  expect(JSON.parse(local.stdout).subagentResults).toEqual(results);
  expect(JSON.parse(remote.stdout).subagentResults).toEqual(results);
  expect(hashParts(there)).toBe(hashParts(here));
  expect(readFileSync(path.join(there.path, 'parts/f7.ts'), 'utf8')).toBe('export const renamed7 = 7;\n');
  const names = [...remote.stderr.matchAll(/^ {2}\[code @(\S+)\] .* - done/gm)].map(([, name]) => name!);
  expect(names).toHaveLength(FILES);
  const shares = [...Map.groupBy(names, (name) => name)].map(([, runs]) => runs.length);
  // Each did at least a third of its fair share.
  expect(shares).toHaveLength(3);
  expect(Math.min(...shares)).toBeGreaterThanOrEqual(FILES / 9);
  // The tree was shipped once to each, and no chunk of a result stays.
  for (const {cached} of await listWorkers(redis.url, own)) expect(cached).toHaveLength(1);
  expect(await redis.client.keys('mini-cc:blob:*')).toEqual([]);
  const seconds = (text: string) => (JSON.parse(text).duration_ms / 1000).toFixed(1);
  console.log(
    `local ${seconds(local.stdout)} s, three workers of 4 ${seconds(remote.stdout)} s, shares ${shares.join(', ')}`,
  );
}, 500_000);

it('a run at a worker reads a message, is stopped within 2 s, and goes on; a worker that leaves gives its run back', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  let asked = 0;
  const read: string[] = [];
  const server = await serve(async (body) => {
    if (!isSubagent(body)) {
      const turns = body.messages.filter(({role}) => role === 'assistant').length;
      const input = {description: 'wait', prompt: 'Wait', agent_type: 'code', background: true};
      return turns === 0 ? callTool('Task', {...input, isolation: 'worktree', where: 'workers'}) : say('Started.');
    }
    asked += 1;
    read.push(JSON.stringify(body.messages.at(-1)));
    await pause(1_500, 'a model takes its time, so that the run goes on while it is managed');
    return callTool('bash', {command: 'ls'});
  });
  const first = await startWorker({url: redis.url, server});
  const cli = await startCli(['--settings', withQueue(redis.url), ...EDITS], {
    cwd: workspace.path,
    home: own,
    server,
    env,
  });
  await cli.waitFor(/^acceptEdits · /m);
  await send(cli, 'go');
  await until(async () => asked > 0);
  await send(cli, '/subagents send 1 look at the tests');
  await until(async () => read.some((text) => text.includes('look at the tests')));
  // Its worker leaves, and another one takes the run at once.
  const second = await startWorker({url: redis.url, server});
  first.kill('SIGTERM');
  expect(await first.exit).toBe(0);
  const before = asked;
  await until(async () => asked > before);
  await send(cli, '/subagents stop 1');
  await until(async () => (await listWorkers(redis.url, own)).every(({running}: {running: number}) => running === 0));
  const atStop = asked;
  second.kill('SIGTERM');
  expect(await second.exit).toBe(0);
  process.kill(cli.pid, 'SIGTERM');
  await cli.exit;
  expect(asked).toBe(atStop);
  expect(second.said()).not.toMatch(/refused/);
});
