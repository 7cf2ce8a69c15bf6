import {randomBytes} from 'node:crypto';
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {home, isSubagent, project, serve} from '../../e2e/fixture.ts';
import {callTool, type MessagesBody, say} from '../../support/messages-server.ts';
import {killGroup, runCli, spawnCli} from '../../support/run-cli.ts';
import {until} from '../../support/wait.ts';
import {listWorkers, SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const elsewhere = {description: 'add a file', agent_type: 'code', isolation: 'worktree', where: 'workers'};
const task = (more: object = {}) => callTool('Task', {...elsewhere, prompt: 'Write made.txt', ...more});

/** The main agent makes these calls; the subagent writes a file, once `mayWrite` resolves, and says so. */
function script(calls: readonly ReturnType<typeof callTool>[], mayWrite: () => Promise<void> = async () => undefined) {
  return async (body: MessagesBody) => {
    const turns = body.messages.filter(({role}) => role === 'assistant').length;
    if (!isSubagent(body)) return turns < calls.length ? calls[turns]! : say('All done.');
    if (turns > 0) return say('I wrote made.txt:1.');
    await mayWrite();
    return callTool('write_file', {path: 'made.txt', content: 'made elsewhere\n'});
  };
}

const EDITS = ['--permission-mode', 'acceptEdits'];
const env = {QUEUE_KEY: SECRET};

it('runs a subagent at a worker and brings text, files, receipt and transcript back; nothing of it stays in Redis', async () => {
  const [redis, server, workspace, own] = [
    await startRedis(),
    await serve(script([task()])),
    await project(),
    await home(),
  ];
  const worker = await startWorker({url: redis.url, server, args: ['--labels', 'fast,linux']});
  // What is not committed goes along.
  await workspace.write('src/uncommitted.ts', 'export const here = 1;\n');
  const options = {cwd: workspace.path, home: own, server, env};
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(redis.url), '--output-format', 'json'];
  const run = await runCli(args, options);
  expect(run.stderr).toMatch(/^ {2}\[code\] add a file \.\.\. queued$/m);
  const [, name] = /^ {2}\[code @(\S+)\] add a file - done \(1 tool, [\d.]+s\)$/m.exec(run.stderr) ?? [];
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
  const {subagents} = JSON.parse(run.stdout);
  expect(subagents).toMatchObject([{agent: 'code'}]);
  const asked = server.requests.findLast(({body}) => !isSubagent(body))!.body.messages;
  const told = JSON.stringify(asked);
  expect(told).toMatch(/I wrote made\.txt:1\./);
  expect(told).toMatch(
    /Receipt: 1 tool · read 0 files · changed 1 file: made\.txt · commands 0 · citations 1\/1 exist/,
  );
  const transcript = /transcript ([^\s"\\]+)/.exec(told)![1]!;
  expect(transcript.startsWith(own.path)).toBe(true);
  expect(readFileSync(transcript, 'utf8')).toContain('made elsewhere');
  // The worker had the files that were not committed, asked for nothing twice, and has the tree now.
  const [listed] = await listWorkers(redis.url, own);
  expect(listed).toMatchObject({name, labels: ['fast', 'linux'], state: 'idle', running: 0});
  expect(listed.cached).toHaveLength(1);
  const keys = await redis.client.keys('mini-cc:*');
  expect(keys.filter((key) => /:(?:control|blob):/.test(key) || /:runs-[^:]+:[0-9a-f-]{30}/.test(key))).toEqual([]);
  worker.kill('SIGTERM');
  expect(await worker.exit).toBe(0);
  expect(await listWorkers(redis.url, own)).toEqual([]);
});

it('what was read leaves Redis, and the same files are sent once', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  // As large as a project of some hundred files, and of no repetition.
  await workspace.write('large.txt', randomBytes(1_500_000).toString('base64'));
  const countIn = async () => Number(/total_net_input_bytes:(\d+)/.exec(await redis.client.info('stats'))![1]);
  const sent: number[] = [];
  const server = await serve(async (body) => {
    if (isSubagent(body)) return say('Nothing to do: src/greet.ts:1.');
    const turns = body.messages.filter(({role}) => role === 'assistant').length;
    sent.push(await countIn());
    return turns < 2 ? task({prompt: `Look, ${turns}`}) : say('All done.');
  });
  await startWorker({url: redis.url, server});
  const args = ['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)];
  expect((await runCli(args, {cwd: workspace.path, home: own, server, env})).code).toBe(0);
  const [first, second] = [sent[1]! - sent[0]!, sent[2]! - sent[1]!];
  const keys = await redis.client.keys('*');
  const sizes = await Promise.all(keys.map(async (key) => Number(await redis.client.memory('USAGE', key))));
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  if (process.env.MINI_CC_FIGURES) console.log({first, second, keys: keys.length, bytes});
  expect(first).toBeGreaterThan(1_500_000);
  expect(second).toBeLessThan(300_000);
  expect(bytes).toBeLessThan(300_000);
});

it('keeps keys and environments out of Redis', async () => {
  const secret = 'sk-very-secret-0123456789abcdef';
  const prompt = `Write made.txt; the key is ${secret}`;
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  let dump = '';
  const server = await serve(
    script([task({prompt})], async () => {
      // The job lies in Redis now.
      for (const key of await redis.client.keys('*')) dump += (await redis.client.dumpBuffer(key))?.toString('latin1');
      dump += JSON.stringify(await redis.client.hgetall((await redis.client.keys('mini-cc:runs-*:*-1'))[0]!));
    }),
  );
  await startWorker({url: redis.url, server});
  const options = {cwd: workspace.path, home: own, server};
  const known = {...env, ANTHROPIC_API_KEY: secret, SOME_TOKEN: 'tok-0123456789abcdef', MARKER: 'an-environment-0123'};
  const run = await runCli(['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)], {...options, env: known});
  expect(run.stdout).toContain('All done.');
  expect(dump).toContain('Write made.txt');
  for (const value of [secret, SECRET, known.SOME_TOKEN, known.MARKER]) expect(dump).not.toContain(value);
});

it('gives a run whose worker is killed to another, and brings its patch once', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  let asked = 0;
  // The first worker never gets an answer.
  const server = await serve(
    script([task()], () => (++asked === 1 ? new Promise(() => undefined) : Promise.resolve())),
  );
  const first = await startWorker({url: redis.url, server});
  const options = {cwd: workspace.path, home: own, server, env};
  const running = runCli(['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)], options);
  await until(async () => asked === 1);
  await startWorker({url: redis.url, server});
  first.kill();
  const run = await running;
  expect(run.stderr).toMatch(/\[code @\S+-2\] add a file - done/);
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
});

it('finds the result of a run after the session was killed, and announces it once', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  const server = await serve(
    script([task({background: true})], () => {
      asked += 1;
      return released;
    }),
  );
  await startWorker({url: redis.url, server});
  const args = [...EDITS, '--settings', withQueue(redis.url)];
  const main = await spawnCli(['-p', 'go', ...args], {cwd: workspace.path, home: own, server, env});
  main.stdout.resume();
  main.stderr.resume();
  await until(async () => asked === 1);
  killGroup(main);
  await redis.kill();
  await redis.start();
  release();
  const options = {cwd: workspace.path, home: own, server, env};
  const again = await runCli(['-p', '--continue', 'and now?', ...args], options);
  expect(again.stdout).toContain('All done.');
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
  const third = await runCli(['-p', '--continue', 'and then?', ...args], options);
  expect(third.code).toBe(0);
  const history = JSON.stringify(server.requests.findLast(({body}) => !isSubagent(body))!.body.messages);
  expect(history.match(/Status: success/g)).toHaveLength(1);
});

it('says in one line what is wrong with a queue, before any model call of the run', async () => {
  const [redis, server, workspace, own] = [
    await startRedis(),
    await serve(() => say('hm')),
    await project(),
    await home(),
  ];
  const worker = (args: readonly string[], more: object = {}) =>
    runCli(['worker', ...args], {home: own, env, ...more}).then(({code, stderr}) => `${code} ${stderr}`);
  const at = ['--queue', redis.url];
  expect(await worker([])).toMatch(/^2 mini-cc: which queue\? --queue redis:\/\/HOST:PORT names it.*\n$/);
  expect(await worker(['--queue', 'http://x'])).toMatch(/^2 mini-cc: --queue takes the address of Redis.*\n$/);
  expect(await worker(at)).toMatch(
    /^2 mini-cc: the queue's secret: the variable MINI_CC_QUEUE_SECRET is not set\..*\n$/,
  );
  const named = ['--secret-env', 'QUEUE_KEY'];
  expect(await worker(['--queue', 'redis://127.0.0.1:1', ...named])).toMatch(
    /^1 mini-cc: redis:\/\/127\.0\.0\.1:1: no Redis server answers there \(connection refused\)\n$/,
  );
  expect(await worker([...at, ...named, '--concurrency', '0'])).toMatch(
    /^2 mini-cc: --concurrency takes a whole number/,
  );
  const ask = async (call: ReturnType<typeof callTool>, settings?: string) => {
    const scripted = await serve(script([call]));
    const args = ['-p', 'go', ...EDITS, ...(settings ? ['--settings', settings] : [])];
    await runCli(args, {cwd: workspace.path, home: own, server: scripted, env});
    expect(scripted.requests.filter(({body}) => isSubagent(body))).toEqual([]);
    return JSON.stringify(scripted.requests.at(-1)!.body.messages.at(-1));
  };
  expect(await ask(task())).toContain('needs the setting subagents.queue');
  expect(await ask(task({isolation: 'none'}), withQueue(redis.url))).toContain('needs isolation: \\"worktree\\"');
  expect(await ask(task({where: 'moon'}))).toContain('where must be local, workers or auto');
  expect(await ask(task(), withQueue('redis://127.0.0.1:1'))).toContain('no Redis server answers there');
  expect(server.requests).toEqual([]);
  expect(existsSync(path.join(workspace.path, 'made.txt'))).toBe(false);
});

it('a worker whose server is away leaves all the same', async () => {
  const redis = await startRedis();
  const worker = await startWorker({url: redis.url});
  await redis.kill();
  await until(async () => worker.said().includes('no Redis server answers there'));
  worker.kill('SIGTERM');
  expect(await worker.exit).toBe(0);
});
