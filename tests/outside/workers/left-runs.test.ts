/** Runs that a session left at workers, and a queue that is away or full in the middle: nothing is lost, nothing is untrue. */
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {home, isSubagent, project, serve} from '../../e2e/fixture.ts';
import {callTool, type MessagesBody, say} from '../../support/messages-server.ts';
import {killGroup, runCli, spawnCli} from '../../support/run-cli.ts';
import {callTools} from '../../support/scripted-replies.ts';
import {eventually, SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const env = {QUEUE_KEY: SECRET};
const EDITS = ['--permission-mode', 'acceptEdits'];
const task = (more: object) =>
  callTool('Task', {
    ...{description: 'add a file', prompt: 'Write made.txt', agent_type: 'code'},
    ...{isolation: 'worktree', where: 'workers', ...more},
  });

/** The main agent makes the call; the subagent writes a file, once `mayWrite` resolves. */
function script(call: ReturnType<typeof callTool>, mayWrite: () => Promise<void>) {
  return async (body: MessagesBody) => {
    const turns = body.messages.filter(({role}) => role === 'assistant').length;
    if (!isSubagent(body)) return turns === 0 ? call : say('All done.');
    if (turns > 0) return say('I wrote made.txt:1.');
    await mayWrite();
    return callTool('write_file', {path: 'made.txt', content: 'made elsewhere\n'});
  };
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {open, opened};
}

it('a run that was left at a worker waits there while it cannot be followed, and its end comes though its agent was deleted', async () => {
  const [redis, workspace, own, may] = [await startRedis(), await project(), await home(), gate()];
  const agent = path.join(own.path, '.mini-cc', 'agents', 'maker.json');
  mkdirSync(path.dirname(agent), {recursive: true});
  const tools = ['read_file', 'write_file'];
  writeFileSync(agent, JSON.stringify({name: 'maker', description: 'makes files', tools, prompt: 'Make files.'}));
  let asked = 0;
  const server = await serve(
    script(task({agent_type: 'maker', background: true}), () => {
      asked += 1;
      return may.opened;
    }),
  );
  await startWorker({url: redis.url, server});
  const options = {cwd: workspace.path, home: own, server, env};
  const args = [...EDITS, '--settings', withQueue(redis.url)];
  const main = await spawnCli(['-p', 'go', ...args], options);
  main.stdout.resume();
  main.stderr.resume();
  await eventually(() => asked === 1);
  killGroup(main);
  const again = (settings: readonly string[], more: object = {}) =>
    runCli(['-p', '--continue', 'and now?', ...EDITS, ...settings], {...options, env: {...env, ...more}});
  const cannot = (why: RegExp) =>
    new RegExp(`\\[maker.*\\] add a file went to a worker, and cannot be followed: ${why.source}`);
  const attempts = [
    await again([]),
    await again(args.slice(2), {QUEUE_KEY: 'another-secret-of-somebody'}),
    await again(args.slice(2), {QUEUE_KEY: ''}),
    await again(['--settings', withQueue('redis://127.0.0.1:1')]),
  ];
  expect(attempts.map(({code}) => code)).toEqual([0, 0, 0, 0]);
  expect(attempts[0]!.stderr).toMatch(cannot(/the setting subagents\.queue is missing/));
  expect(attempts[1]!.stderr).toMatch(cannot(/its job was signed with another secret/));
  expect(attempts[2]!.stderr).toMatch(cannot(/the queue's secret: the variable QUEUE_KEY is not set/));
  expect(attempts[3]!.stderr).toMatch(cannot(/subagents\.queue: redis:\S+: no Redis server answers there/));
  rmSync(agent);
  may.open();
  const last = await again(args.slice(2));
  expect(last.stderr).toMatch(/The agent maker was deleted meanwhile: this run had it as it was/);
  expect(last.stderr).toMatch(/\[maker @\S+\] add a file - done/);
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
  await again(args.slice(2));
  const history = JSON.stringify(server.requests.findLast(({body}) => !isSubagent(body))!.body.messages);
  expect(history.match(/Status: success/g)).toHaveLength(1);
  expect(history).not.toMatch(/Status: (?:error|unknown)/);
});

it('a Redis server that is full says so in one line to who begins, and a run that ends while it is full comes back later', async () => {
  const [redis, workspace, own, may] = [await startRedis(), await project(), await home(), gate()];
  let asked = 0;
  const server = await serve(
    script(task({}), () => {
      asked += 1;
      return may.opened;
    }),
  );
  const worker = await startWorker({url: redis.url, server});
  const options = {cwd: workspace.path, home: own, server, env};
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)];
  await redis.client.config('SET', 'maxmemory', '1');
  const refused = await runCli(args, options);
  expect(refused.stderr).toMatch(
    /add a file - failed: redis:\S+: the Redis server is full \(its maxmemory is reached\)/,
  );
  await eventually(() => /the Redis server is full/.test(worker.said()));
  await redis.client.config('SET', 'maxmemory', '0');
  const running = runCli(args, options);
  await eventually(() => asked === 1);
  await redis.client.config('SET', 'maxmemory', '1');
  may.open();
  const isLast = (body: MessagesBody) => isSubagent(body) && body.messages.length > 1;
  await eventually(() => server.requests.some(({body, durationMs}) => isLast(body) && durationMs !== undefined));
  // The worker has tried to write the result.
  const countRefusals = async () =>
    Number(/errorstat_OOM:count=(\d+)/.exec(await redis.client.info('errorstats'))?.[1]);
  const before = await countRefusals();
  await eventually(async () => (await countRefusals()) > before);
  await redis.client.config('SET', 'maxmemory', '0');
  const run = await running;
  expect(run.stderr).toMatch(/\[code @\S+\] add a file - done/);
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
  expect(worker.said().trim().split('\n').length).toBeLessThanOrEqual(4);
});

it('with auto a run goes to a worker only where it would wait here; without a queue that answers it stays, and one line says so', async () => {
  const [redis, workspace, own, may] = [await startRedis(), await project(), await home(), gate()];
  let asked = 0;
  const input = {description: 'look', agent_type: 'code', isolation: 'worktree', where: 'auto'};
  const server = await serve(async (body) => {
    if (!isSubagent(body)) {
      const turns = body.messages.filter(({role}) => role === 'assistant').length;
      if (turns > 0) return say('All done.');
      return callTools(['one', 'two'].map((prompt) => ({name: 'Task', input: {...input, prompt}})));
    }
    asked += 1;
    if (asked === 2) may.open();
    await may.opened;
    return say('Looked.');
  });
  await startWorker({url: redis.url, server});
  const run = (url: string) =>
    runCli(
      ['-p', 'go', '--settings', JSON.stringify({subagents: {maxConcurrent: 1, queue: {url, secretEnv: 'QUEUE_KEY'}}})],
      {cwd: workspace.path, home: own, server, env},
    );
  const served = await run(redis.url);
  const ends = (text: string) => [...text.matchAll(/\[code( @\S+)?\] look - done/g)].map(([, at]) => at !== undefined);
  expect(ends(served.stderr).toSorted()).toEqual([false, true]);
  const alone = await run('redis://127.0.0.1:1');
  expect(ends(alone.stderr)).toEqual([false, false]);
  expect(
    alone.stderr.match(/where: "auto": runs stay on this machine: subagents\.queue: .*connection refused/g),
  ).toHaveLength(1);
});
