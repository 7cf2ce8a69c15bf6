/** Spans, as a collector on loopback gets them. */
import {readdirSync, readFileSync} from 'node:fs';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {changeAll, numbered} from '../core/fan-out/session-fixture.ts';
import {say} from '../support/messages-server.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {explore, isSubagent, project, serve} from './fixture.ts';

interface SpanJson {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly {readonly key: string; readonly value: Readonly<Record<string, unknown>>}[];
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A receiver of OTLP over HTTP that reads what it gets. */
async function collect() {
  const bodies: string[] = [];
  const requests: {readonly url: string | undefined; readonly key: string | undefined}[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      requests.push({url: request.url, key: request.headers['x-key'] as string | undefined});
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  const url = await listen(server);
  const spans = (): SpanJson[] =>
    bodies.flatMap((body) => {
      const {resourceSpans} = JSON.parse(body) as {resourceSpans: {scopeSpans: {spans: SpanJson[]}[]}[]};
      return resourceSpans.flatMap(({scopeSpans}) => scopeSpans.flatMap((scope) => scope.spans));
    });
  return {url, bodies, requests, spans};
}

const attributes = (span: SpanJson | undefined): Readonly<Record<string, unknown>> =>
  Object.fromEntries((span?.attributes ?? []).map(({key, value}) => [key, Object.values(value)[0]]));

const SECRET = 'sk-ant-secret-0123456789abcdef';
/** A collector is no matter of the user. */
const UNTOLD = /127\.0\.0\.1|fetch|collector/;

async function runWith(env: Readonly<Record<string, string>>) {
  const server = await serve((body) => {
    if (isSubagent(body)) {
      if (countReplies(body) === 0) return callTools([{name: 'glob', input: {pattern: '**/*.ts'}}]);
      return countReplies(body) === 1 ? callTool('read_file', {path: 'src/greet.ts'}) : say(`found ${SECRET}`);
    }
    return countReplies(body) === 0 ? callTools([{...explore('my secret plan'), id: 'toolu_task'}]) : say('done');
  });
  return runCli(['-p', 'the prompt itself'], {
    server,
    cwd: (await project()).path,
    env: {ANTHROPIC_API_KEY: SECRET, ...env},
  });
}

describe('with a collector', () => {
  it('each session, turn, model call, tool call and run is a span, a run below its Task call', async () => {
    const collector = await collect();
    const env = {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b'};
    expect(await runWith(env)).toMatchObject({code: 0, stdout: 'done\n'});
    expect(collector.requests[0]).toEqual({url: '/v1/traces', key: 'a b'});
    const spans = collector.spans();
    const find = (name: string) => spans.find((span) => span.name === name)!;
    const [session, turn, task, run] = ['session', 'turn main', 'execute_tool Task', 'invoke_agent explore'].map(find);
    expect(session!.parentSpanId ?? '').toBe('');
    expect(turn!.parentSpanId).toBe(session!.spanId);
    expect(task!.parentSpanId).toBe(turn!.spanId);
    expect(run!.parentSpanId).toBe(task!.spanId);
    expect(find('execute_tool read_file').parentSpanId).toBe(run!.spanId);
    const below = (parent: SpanJson) =>
      spans.filter(({name, parentSpanId}) => name.startsWith('chat ') && parentSpanId === parent.spanId);
    expect([below(turn!).length, below(run!).length]).toEqual([2, 3]);
    const facts = attributes(run);
    expect(facts).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'explore',
      'mini_cc.strategy': 'subagent',
      'mini_cc.outcome': 'success',
      'mini_cc.files.read': 1,
    });
    expect(facts['mini_cc.files.scanned']).toBeGreaterThan(1);
    expect(facts['mini_cc.duration_ms']).toBeGreaterThan(0);
    expect(facts['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
    expect(facts['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    expect(attributes(below(run!)[0])).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
    });
  });

  it('each part of a fan-out is below the turn that was split, with its own files, tokens and strategy', async () => {
    const collector = await collect();
    const {path: cwd, write} = await project();
    for (const [name, text] of Object.entries(numbered(9))) await write(name, text);
    const args = ['-p', 'Update all files matching src/f*.ts', '--fan-out', 'auto', '--permission-mode', 'acceptEdits'];
    await runCli(args, {server: await serve(changeAll), cwd, env: {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url}});
    const spans = collector.spans();
    const turn = spans.find(({name}) => name === 'turn main')!;
    const parts = spans.filter(({name}) => name === 'invoke_agent code');
    expect(parts.map(({parentSpanId}) => parentSpanId)).toEqual(Array(3).fill(turn.spanId));
    for (const facts of parts.map(attributes)) {
      const files = {'mini_cc.files.read': 3, 'mini_cc.files.scanned': 3};
      expect(facts).toMatchObject({'mini_cc.strategy': 'subagent', 'mini_cc.outcome': 'success', ...files});
      expect(
        Math.min(facts['gen_ai.usage.output_tokens'] as number, facts['mini_cc.duration_ms'] as number),
      ).toBeGreaterThan(0);
    }
  });

  it('what was said is not sent unless asked for, and never with keys', async () => {
    const collector = await collect();
    await runWith({OTEL_EXPORTER_OTLP_ENDPOINT: collector.url});
    expect(collector.bodies.join()).not.toMatch(/the prompt itself|my secret plan|found/);
    await runWith({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    });
    expect(collector.bodies.join()).toMatch(/found/);
    expect(collector.bodies.join()).not.toContain(SECRET);
  });

  it('that never answers, the answer is the same, and leaving is delayed by half a second', async () => {
    const kept: number[] = [];
    const collector = createServer(({socket}) => {
      const askedAt = performance.now();
      socket.once('close', () => kept.push(performance.now() - askedAt));
    });
    const run = await runWith({OTEL_EXPORTER_OTLP_ENDPOINT: await listen(collector)});
    expect(run).toMatchObject({code: 0, stdout: 'done\n', stderr: expect.not.stringMatching(UNTOLD)});
    // Without the limit of half a second the last spans have five.
    await until(() => kept.length > 0, 'the end of the connection');
    expect(Math.max(...kept)).toBeLessThan(4_000);
  });

  it.each([
    ['is down', async () => 'http://127.0.0.1:9'],
    ['refuses', async () => listen(createServer((_, response) => response.writeHead(503).end()))],
    ['has no address that can be used', async () => 'not a url'],
  ])('that %s, the answer is the same', async (_, start) => {
    const run = await runWith({OTEL_EXPORTER_OTLP_ENDPOINT: await start()});
    expect(run).toMatchObject({code: 0, stdout: 'done\n', stderr: expect.not.stringMatching(UNTOLD)});
  });
});

describe('without a collector', () => {
  it('nothing of OpenTelemetry is loaded', () => {
    const dist = path.resolve(import.meta.dirname, '../../dist');
    const read = (file: string) => readFileSync(path.join(dist, file), 'utf8');
    const ofTelemetry = readdirSync(path.join(dist, 'chunks')).filter((name) =>
      read(`chunks/${name}`).includes('/v1/traces'),
    );
    expect(ofTelemetry.length).toBeGreaterThan(0);
    // Chunks that a start loads: those that the entry imports without `import()`.
    const loaded = new Set<string>();
    const follow = (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const [, name = ''] of read(file).matchAll(/(?:from|import)\s*["']\.\/(?:chunks\/)?([\w.-]+\.js)["']/g)) {
        follow(`chunks/${name}`);
      }
    };
    follow('cli.js');
    for (const name of readdirSync(path.join(dist, 'chunks')).filter((each) => each.startsWith('session-')))
      follow(`chunks/${name}`);
    expect(loaded.size).toBeGreaterThan(3);
    expect(ofTelemetry.filter((name) => loaded.has(`chunks/${name}`))).toEqual([]);
  });
});
