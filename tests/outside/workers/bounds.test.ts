/** What a queue, a worker's places and a connection are held by, and for how long. */
import {createServer} from 'node:net';
import {Job, Queue} from 'bullmq';
import {expect, it, onTestFinished} from 'vitest';
import {home, isSubagent, project, serve} from '../../e2e/fixture.ts';
import {callTool, callTools, type MessagesBody, say} from '../../support/messages-server.ts';
import {killGroup, runCli, spawnCli} from '../../support/run-cli.ts';
import {startProxy} from './dropping-proxy.ts';
import {eventually, listWorkers, SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const env = {QUEUE_KEY: SECRET};
const EDITS = ['--permission-mode', 'acceptEdits'];
const NOTICED_MS = 60_000;

const task = (name: string, more: object = {}) => ({
  name: 'Task',
  input: {
    ...{description: `write ${name}`, prompt: `Write ${name}.txt`, agent_type: 'code'},
    ...{isolation: 'worktree', where: 'workers', ...more},
  },
});

/** What a subagent is asked for is written, once `mayWrite` resolves. */
async function write(body: MessagesBody, mayWrite: (name: string) => Promise<void> = async () => undefined) {
  const [, name = ''] = /Write (\w+)\.txt/.exec(JSON.stringify(body.messages[0])) ?? [];
  if (body.messages.some(({role}) => role === 'assistant')) return say(`I wrote ${name}.txt:1.`);
  await mayWrite(name);
  return callTool('write_file', {path: `${name}.txt`, content: `${name}\n`});
}

const countReplies = ({messages}: MessagesBody) => messages.filter(({role}) => role === 'assistant').length;

it('a job whose files only its session has holds no place of a worker while that is away, and is done when it returns', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  const server = await serve((body) => {
    if (isSubagent(body)) return write(body);
    if (countReplies(body) > 0) return say('All done.');
    return callTools([task(JSON.stringify(body.messages).includes('other') ? 'other' : 'left', {background: true})]);
  });
  const options = {cwd: workspace.path, home: own, server, env};
  const settings = [...EDITS, '--settings', withQueue(redis.url)];
  const main = await spawnCli(['-p', 'go', ...settings], options);
  main.stdout.resume();
  main.stderr.resume();
  await eventually(async () => (await redis.client.keys('mini-cc:runs-*:*-1')).length === 1);
  killGroup(main);
  // Its session has left, and the sign of its presence has expired.
  const presence = await redis.client.keys('mini-cc:session:*');
  expect(presence).toHaveLength(1);
  await redis.client.unlink(...presence);
  const worker = await startWorker({url: redis.url, server, args: ['--concurrency', '1']});
  const [key = ''] = await redis.client.keys('mini-cc:runs-*:*-1');
  const attempts = async () => Number(await redis.client.hget(key, 'ats'));
  await eventually(async () => (await attempts()) >= 2);
  expect(await listWorkers(redis.url, own)).toMatchObject([{state: 'idle', running: 0}]);
  // Its one place is free for others.
  const workspace2 = await project();
  const other = await runCli(['-p', 'the other', ...settings], {...options, cwd: workspace2.path, home: await home()});
  expect(other.stderr).toMatch(/\[code @\S+\] write other - done/);
  // It has waited for long.
  const [, queueName = '', jobId = ''] = /^mini-cc:(runs-[^:]+):(.+)$/.exec(key)!;
  const queue = new Queue(queueName, {connection: redis.client as never, prefix: 'mini-cc', skipVersionCheck: true});
  await (await Job.fromId(queue, jobId))!.changeDelay(600_000);
  const before = await attempts();
  const again = await runCli(['-p', '--continue', 'and now?', ...settings], options);
  expect(again.stderr).toMatch(/\[code @\S+\] write left - done/);
  // The worker that begins it at once finds the session.
  expect(again.stderr.match(/gave it back/g)).toHaveLength(before);
  expect(await workspace.read('left.txt')).toBe('left\n');
  expect(worker.said().trim().split('\n')).toHaveLength(1);
});

it('connections that are gone without a word are noticed on both sides, and the run ends as if nothing had been', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  const [there, here] = [await startProxy(redis.port), await startProxy(redis.port)];
  onTestFinished(() => there.close());
  onTestFinished(() => here.close());
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  const server = await serve((body) => {
    if (!isSubagent(body)) return countReplies(body) === 0 ? callTools([task('made')]) : say('All done.');
    asked += countReplies(body) === 0 ? 1 : 0;
    return write(body, () => released);
  });
  await startWorker({url: `redis://127.0.0.1:${there.port}`, server});
  // Before it has any job.
  there.forget();
  const forgottenAt = performance.now();
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(`redis://127.0.0.1:${here.port}`)];
  const running = runCli(args, {cwd: workspace.path, home: own, server, env, timeoutMs: 200_000});
  await eventually(() => asked === 1);
  console.log(
    `a worker took a job ${((performance.now() - forgottenAt) / 1000).toFixed(1)} s after its connections were forgotten`,
  );
  there.forget();
  here.forget();
  const again = performance.now();
  release();
  const run = await running;
  const took = performance.now() - again;
  console.log(`the run ended ${(took / 1000).toFixed(1)} s after all connections were forgotten`);
  expect(run.stderr).toMatch(/\[code @\S+\] write made - done/);
  expect(await workspace.read('made.txt')).toBe('made\n');
  expect(took).toBeLessThan(NOTICED_MS);
  // It was noticed before the worker had lost the job.
  expect(asked).toBe(1);
});

it('an address where something answers that is no Redis server, or has no such database, is told in one line', async () => {
  const silent = createServer(() => undefined);
  const talkative = createServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const own = await home();
  for (const server of [silent, talkative]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const {port} = server.address() as {port: number};
    const run = await runCli(['workers', '--queue', `redis://127.0.0.1:${port}`], {home: own});
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^mini-cc: redis:\/\/127\.0\.0\.1:\d+: .*no Redis server.*\n$/);
  }
  const redis = await startRedis();
  const ask = (url: string) => runCli(['workers', '--queue', url], {home: own});
  expect((await ask(`${redis.url}/99`)).stderr).toMatch(
    /^mini-cc: redis:\S+: the server has no database of this number\n$/,
  );
  expect((await ask(`${redis.url}/x`)).stderr).toMatch(
    /^mini-cc: redis:\S+: after the port stands the number of a database.*\n$/,
  );
  expect((await ask(redis.url.replace('redis:', 'rediss:'))).stderr).toMatch(
    /^mini-cc: rediss:\S+: no server answers there over TLS.*\n$/,
  );
  const cache = ['worker', '--queue', redis.url, '--secret-env', 'QUEUE_KEY', '--cache', '/etc/hostname/none'];
  const worker = await runCli(cache, {home: own, env});
  expect(worker.stderr).toMatch(/^mini-cc: worker: files cannot be kept in "\/etc\/hostname\/none": .*--cache\n$/);
});
