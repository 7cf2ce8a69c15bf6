/** What comes back from a worker byte by byte, what its own settings permit, its spans, and a stop. */
import {existsSync, lstatSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {home, isSubagent, processesWith, project, serve} from '../../e2e/fixture.ts';
import {callTool, type MessagesBody, say} from '../../support/messages-server.ts';
import {killGroup, runCli, spawnCli} from '../../support/run-cli.ts';
import {eventually, SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const env = {QUEUE_KEY: SECRET};
const EDITS = ['--permission-mode', 'acceptEdits'];
const BYTES = 3_000_000;

/** The main agent dispatches one run; that one calls these commands one after the other. */
function commands(...asked: readonly string[]) {
  const input = {description: 'change things', prompt: 'Run make.sh', agent_type: 'code', isolation: 'worktree'};
  return async (body: MessagesBody) => {
    const turns = body.messages.filter(({role}) => role === 'assistant').length;
    if (!isSubagent(body)) {
      const isAsked =
        typeof body.messages.at(-1)!.content === 'string' ||
        !JSON.stringify(body.messages.at(-1)).includes('tool_result');
      return isAsked ? callTool('Task', {...input, where: 'workers'}) : say('All done.');
    }
    return turns < asked.length ? callTool('bash', {command: asked[turns]}) : say('Changed.');
  };
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A receiver of OTLP over HTTP. */
async function collect() {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      for (const {scopeSpans} of JSON.parse(Buffer.concat(chunks).toString()).resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans};
}

it('changes of all kinds come back byte by byte, commands run by the rules of the worker alone, and its spans go on', async () => {
  const [redis, workspace, own, collector] = [await startRedis(), await project(), await home(), await collect()];
  const at = (name: string) => path.join(workspace.path, name);
  await workspace.write('gone.txt', 'gone\n');
  await workspace.write('plain.sh', '#!/bin/sh\n');
  await workspace.write('old name', 'moved\n');
  await workspace.write(
    'make.sh',
    `rm gone.txt; chmod +x plain.sh; mv 'old name' 'new"name'; ln -s 'no where' link; mkdir -p 'd ir'
head -c ${BYTES} /dev/urandom > 'd ir/random'; printf '\\000\\r\\n\\377' > 'ümläut'; git -c user.name=a -c user.email=a@b.c commit -qam inner\n`,
  );
  const server = await serve(commands('sh make.sh', 'touch denied.txt', 'sha256sum "d ir/random"'));
  const otel = {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url};
  const permissions = {allow: ['bash(sh make.sh)', 'bash(sha256sum:*)']};
  const worker = await startWorker({url: redis.url, server, settings: {permissions}, env: otel, args: ['--once']});
  const options = {cwd: workspace.path, home: own, server, env: {...env, ...otel}};
  let most = 0;
  const watching = setInterval(async () => {
    most = Math.max(most, (await redis.client.keys('mini-cc:blob:*')).length);
  }, 20);
  const run = await runCli(['-p', 'go', ...EDITS, '--settings', withQueue(redis.url)], options);
  clearInterval(watching);
  expect(run.stderr).toMatch(/\[code @\S+\] change things - done \(3 tools/);
  // --once: it ends by itself, without complaint.
  expect(await worker.exit).toBe(0);
  expect(['gone.txt', 'old name', 'denied.txt'].filter((name) => existsSync(at(name)))).toEqual([]);
  expect(statSync(at('plain.sh')).mode & 0o100).toBe(0o100);
  expect(readFileSync(at('new"name'), 'utf8')).toBe('moved\n');
  expect([lstatSync(at('link')).isSymbolicLink(), readlinkSync(at('link'))]).toEqual([true, 'no where']);
  expect(readFileSync(at('ümläut'))).toEqual(Buffer.from([0, 13, 10, 255]));
  const asked = JSON.stringify(server.requests.findLast(({body}) => isSubagent(body))!.body.messages);
  const [, sum = ''] = /([0-9a-f]{64}) {2}d ir/.exec(asked)!;
  const {createHash} = await import('node:crypto');
  expect(
    createHash('sha256')
      .update(readFileSync(at('d ir/random')))
      .digest('hex'),
  ).toBe(sum);
  // Nobody is asked at a worker.
  expect(asked).toMatch(/touch denied\.txt.*"is_error":true/);
  // 3 MB that cannot be compressed went in chunks; nothing of them stays, and no event.
  expect(most).toBeGreaterThanOrEqual(4);
  const left = await redis.client.keys('mini-cc:*');
  expect(left.filter((key) => /:(?:blob|control):/.test(key))).toEqual([]);
  for (const key of left.filter((each) => each.includes(':events:'))) expect(await redis.client.xlen(key)).toBe(0);
  // All that stays expires.
  const standing = /:workers$|:runs-[^:]+:(?:meta|events|stalled-check|id|marker)$/;
  for (const key of left.filter((each) => !standing.test(each)))
    expect([key, await redis.client.pttl(key)]).not.toEqual([key, -1]);
  // One trace: the worker's session is below the run of the session.
  await eventually(() => collector.spans.filter(({name}) => name === 'session').length === 2);
  expect(new Set(collector.spans.map(({traceId}) => traceId)).size).toBe(1);
  const remote = collector.spans.find(({name, parentSpanId}) => name === 'session' && parentSpanId)!;
  expect(collector.spans.find(({spanId}) => spanId === remote.parentSpanId)!.name).toBe('invoke_agent code');
});

it('a stop reaches a run in the middle of a long command, and nothing of it stays', async () => {
  const [redis, workspace, own] = [await startRedis(), await project(), await home()];
  const server = await serve(commands('sleep 4242'));
  const permissions = {allow: ['bash(sleep:*)']};
  await startWorker({url: redis.url, server, settings: {permissions}});
  const options = {cwd: workspace.path, home: own, server, env};
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
  const settings = withQueue(redis.url);
  const main = await spawnCli(['-p', ...formats, ...EDITS, '--settings', settings], options);
  onTestFinished(() => killGroup(main));
  let said = '';
  for (const stream of [main.stdout, main.stderr]) stream.on('data', (text) => (said += text));
  const send = (line: object) => main.stdin.write(`${JSON.stringify(line)}\n`);
  send({type: 'user', message: {role: 'user', content: 'go'}});
  await eventually(async () => (await processesWith('sleep 4242')).length > 0);
  const stoppedAt = Date.now();
  send({type: 'control_request', request_id: '1', request: {subtype: 'interrupt'}});
  await eventually(async () => (await processesWith('sleep 4242')).length === 0);
  const took = Date.now() - stoppedAt;
  console.log(`a stop took ${took} ms to end the command`);
  expect(took).toBeLessThan(30_000);
  await eventually(() => said.includes('stopped'));
  // A session that leaves says what goes on without it.
  send({type: 'user', message: {role: 'user', content: 'again'}});
  await eventually(async () => (await processesWith('sleep 4242')).length > 0);
  const ended = new Promise((resolve) => main.once('exit', resolve));
  process.kill(main.pid!, 'SIGTERM');
  await ended;
  expect(said).toMatch(/\[code\] change things goes on at \S+: --continue follows it/);
  expect(await processesWith('sleep 4242')).not.toEqual([]);
});
