/** What a worker does not take, and what keeps a worker or a session from its queue: one line each, and no work is lost. */
import {randomBytes} from 'node:crypto';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Queue} from 'bullmq';
import {expect, it, onTestFinished} from 'vitest';
import {home, isSubagent, project, searchPathWithout, serve} from '../../e2e/fixture.ts';
import {killGroup, runCli, spawnCli} from '../../support/run-cli.ts';
import {createSmallDisk} from '../../support/small-disk.ts';
import {eventually, SECRET, startRedis, startWorker, withQueue} from './fixture.ts';
import {answer, EDITS} from './task-elsewhere.ts';

const env = {QUEUE_KEY: SECRET};

it('a worker with another secret never gets the job: the session says why in one line, and a worker with the secret does it', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  const server = await serve(answer);
  const wrong = await startWorker({url: redis.url, server, env: {QUEUE_KEY: 'another-secret-of-somebody'}});
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)];
  const running = runCli(args, {cwd: workspace.path, home: own, server, env});
  await eventually(async () => (await redis.client.keys('mini-cc:runs-*:*-1')).length === 1);
  const asked = server.requests.length;
  const listed = await runCli(['workers', '--queue', redis.url, '--secret-env', 'QUEUE_KEY'], {home: own, env});
  expect(listed.stdout).toMatch(/^\S+ +idle +0 runs +0 cached +has another secret$/m);
  // `--json` has what scripts are promised.
  const {stdout} = await runCli(['workers', '--queue', redis.url, '--json'], {home: own});
  expect(Object.keys(JSON.parse(stdout)[0]).sort()).toEqual(['cached', 'labels', 'name', 'running', 'state']);
  await startWorker({url: redis.url, server});
  const run = await running;
  expect(run.stderr).toMatch(/no worker takes its jobs \(\S+ has another secret\); they wait in the queue for one/);
  expect(run.stderr).toMatch(/\[code @\S+-2\] add a file - done/);
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
  // The wrong one asked no model and refused nothing: it had nothing to refuse.
  expect(asked).toBe(1);
  expect(wrong.said().trim().split('\n')).toEqual([expect.stringMatching(/ serves redis:/)]);
});

it('a job that was forged, changed, copied or has run before is refused in one line, without any model call', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  let job: {readonly key: string; readonly data: string} | undefined;
  const server = await serve(async (body) => {
    if (isSubagent(body) && !job) {
      const [key = ''] = await redis.client.keys('mini-cc:runs-*:*-1');
      job = {key, data: (await redis.client.hget(key, 'data'))!};
    }
    return answer(body);
  });
  const worker = await startWorker({url: redis.url, server});
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)];
  const run = await runCli(args, {cwd: workspace.path, home: own, server, env});
  expect(run.stdout).toContain('All done.');
  const asked = server.requests.length;
  const [, name = '', jobId = ''] = /^mini-cc:([^:]+):(.+)$/.exec(job!.key)!;
  const data = JSON.parse(job!.data);
  const queue = new Queue(name, {connection: {url: redis.url}, prefix: 'mini-cc'});
  const refused: [string, object, RegExp][] = [
    [jobId, data, /it has run before/],
    ['copy-1', data, /it is a copy of another job/],
    [
      jobId.replace(/1$/, '2'),
      {...data, body: data.body.replace('made.txt', 'evil.txt')},
      /not signed with this side's secret/,
    ],
    ['old-1', {...data, expires: data.expires - 1}, /not signed with this side's secret/],
    ['newer-1', {...data, protocol: 3}, /has format 3 and this side reads 2: this mini-cc is older; use one version/],
    ['before-1', {...data, protocol: 1}, /has format 1 and this side reads 2: this mini-cc is newer; use one version/],
    ['odd-1', {hello: 1}, /the job is no message of mini-cc/],
  ];
  for (const [id, body] of refused) await queue.add('run', body, {jobId: id});
  await eventually(() => (worker.said().match(/refused job/g)?.length ?? 0) === refused.length);
  for (const [id, , why] of refused) {
    expect(worker.said()).toMatch(new RegExp(`refused job ${id}: .*${why.source}`));
    expect((await queue.getJob(id))!.failedReason).toMatch(why);
  }
  await queue.close();
  expect(worker.said().trim().split('\n')).toHaveLength(1 + refused.length);
  expect(server.requests).toHaveLength(asked);
});

it('a worker that cannot begin says in one line why: its password, its host, git, a sandbox', async () => {
  const [redis, own] = [await startRedis(), await home()];
  await redis.client.config('SET', 'requirepass', 'right');
  const worker = (url: string, more: object = {}) =>
    runCli(['worker', '--queue', url, '--secret-env', 'QUEUE_KEY', '--once'], {home: own, env: {...env, ...more}}).then(
      ({code, stderr}) => `${code} ${stderr}`,
    );
  const wrong = `redis://:wrong@127.0.0.1:${redis.port}`;
  expect(await worker(wrong)).toMatch(
    /^1 mini-cc: redis:\/\/127\.0\.0\.1:\d+: the server refuses the password of the address\n$/,
  );
  expect(await worker(redis.url)).toMatch(/^1 mini-cc: redis:\S+: the server refuses the password of the address\n$/);
  expect(await worker('redis://no-such-host.invalid:6379')).toMatch(/^1 mini-cc: redis:\S+: there is no such host\n$/);
  const noGit = await worker(wrong, {PATH: searchPathWithout('git')});
  expect(noGit).toMatch(/^1 mini-cc: worker: git does not run here \(.*\): install git, and start it again\n$/);
  const noSandbox = await worker(wrong, {PATH: searchPathWithout('bwrap')});
  expect(noSandbox).toMatch(/^1 mini-cc: worker: no sandbox works here: [^\n]*\{"container": true\}[^\n]*\n$/);
  const again = await runCli(['workers', '--queue', wrong], {home: own});
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^mini-cc: .* refuses the password .*\n$/)]);
});

it('a worker whose disk is full or whose settings forbid the agent gives the job back and says why once; another one does it', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  await workspace.write('large.bin', randomBytes(600_000).toString('base64'));
  const server = await serve(answer);
  const full = createSmallDisk(path.join(mkdtempSync(path.join(tmpdir(), 'mini-cc-disk-')), 'disk'), 300);
  const disk = path.dirname(full.copy);
  onTestFinished(() => rmSync(disk, {recursive: true, force: true}));
  const cannot = await startWorker({
    url: redis.url,
    server,
    wrap: full.wrap,
    args: ['--cache', path.join(disk, 'disk')],
  });
  const mayNot = await startWorker({url: redis.url, server, settings: {subagents: {allowAgents: ['explore']}}});
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)];
  const running = spawnCli(args, {cwd: workspace.path, home: own, server, env});
  const child = await running;
  let said = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  onTestFinished(() => killGroup(child));
  await eventually(() => said.match(/gave it back/g)?.length === 2);
  // They are offered the job again, and leave it to others without a word.
  const [key = ''] = await redis.client.keys('mini-cc:runs-*:*-1');
  const countOffers = async () => Number(await redis.client.hget(key, 'ats'));
  const offers = await countOffers();
  await eventually(async () => (await countOffers()) >= offers + 2);
  await startWorker({url: redis.url, server});
  await new Promise((resolve) => child.once('exit', resolve));
  expect(said.match(/gave it back: it cannot lay out the files: .*[Nn]o space left/g)).toHaveLength(1);
  expect(said.match(/gave it back: its settings \(subagents\.allowAgents\) do not allow the agent code/g)).toHaveLength(
    1,
  );
  expect(said).toMatch(/\[code @\S+-3\] add a file - done/);
  expect([cannot.said(), mayNot.said()].join('').trim().split('\n')).toHaveLength(2);
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
});
