/**
 * Spans, read by OpenTelemetry's own code: the decoder of its collector protocol that the official packages are made with,
 * generated from the official .proto files. The collector itself is a binary that neither npm nor Debian has.
 * `npm run test:outside`; it needs the network.
 */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, it, onTestFinished} from 'vitest';
import {changeAll, numbered} from '../core/fan-out/session-fixture.ts';
import {explore, isSubagent, project, serve} from '../e2e/fixture.ts';
import {callTool, say} from '../support/messages-server.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {installPackages} from './downloads.ts';

const PACKAGES = {
  '@opentelemetry/otlp-proto-exporter-base@0.51.1':
    'sha512-gxxxwfk0inDMb5DLeuxQ3L8TtptxSiTNHE4nnAJH34IQXAVRhXSXW1rK8PmDKDngRPIZ6J7ncUCjjIn8b+AgqQ==',
  'protobufjs@7.6.6': 'sha512-dYDWdjSl5RNb7SgPxGQcRU+GtvP7s2fpkrY0r432PcOIaZ0/rBcxEZnQN67iJhFuQiVw754JDoPruPCNdGsbjg==',
};

const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-collector-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

interface Decoder {
  decode(body: Uint8Array): object;
  fromObject(json: object): object;
  verify(message: object): string | null;
  toObject(message: object, options: object): {readonly resourceSpans: readonly ResourceSpans[]};
}

interface ResourceSpans {
  readonly resource: {readonly attributes: Attributes};
  readonly scopeSpans: readonly {readonly spans: readonly Span[]}[];
}

type Attributes = readonly {readonly key: string; readonly value: Readonly<Record<string, unknown>>}[];

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
}

let decoder: Decoder;
beforeAll(() => {
  installPackages(PACKAGES, folder);
  const load = createRequire(path.join(folder, 'package.json'));
  const {opentelemetry} = load('@opentelemetry/otlp-proto-exporter-base/build/src/generated/root.js');
  decoder = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
});

async function collect() {
  const spans: Span[] = [];
  const problems: unknown[] = [];
  const services = new Set<unknown>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isJson = request.headers['content-type'] === 'application/json';
    const message = isJson ? decoder.fromObject(JSON.parse(body.toString())) : decoder.decode(body);
    problems.push(...[decoder.verify(message)].filter((problem) => problem !== null));
    // Ids are hexadecimal in JSON, where the generated code expects base64: only their length matters here.
    const {resourceSpans} = decoder.toObject(message, {longs: String, bytes: String, defaults: true});
    for (const {resource, scopeSpans} of resourceSpans) {
      services.add(toRecord(resource.attributes)['service.name']);
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    }
    response.writeHead(200, {'content-type': request.headers['content-type']}).end(isJson ? '{}' : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {url, spans, problems, services};
}

function toRecord(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({key, value}) => {
      const {stringValue, intValue, doubleValue} = value;
      return [key, stringValue || Number(intValue) || doubleValue || Object.values(value)[0]];
    }),
  );
}

describe.each(['http/json', 'http/protobuf'])('by %s', (OTEL_EXPORTER_OTLP_PROTOCOL) => {
  it('the spans of a Task are one tree, with times, files, tokens and the strategy', async () => {
    const collector = await collect();
    const server = await serve((body) => {
      if (!isSubagent(body)) return countReplies(body) === 0 ? callTool('Task', explore().input) : say('done');
      return countReplies(body) === 0 ? callTool('read_file', {path: 'src/greet.ts'}) : say('found');
    });
    const env = {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL};
    expect(await runCli(['-p', 'go'], {server, cwd: (await project()).path, env})).toMatchObject({code: 0});
    const {spans} = collector;
    expect([collector.problems, [...collector.services]]).toEqual([[], ['mini-cc']]);
    expect(new Set(spans.map(({traceId}) => traceId)).size).toBe(1);
    const ids = new Set(spans.map(({spanId}) => spanId));
    expect(spans.filter(({parentSpanId}) => !ids.has(parentSpanId)).map(({name}) => name)).toEqual(['session']);
    for (const {startTimeUnixNano, endTimeUnixNano} of spans)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    const run = toRecord(spans.find(({name}) => name === 'invoke_agent explore')!.attributes);
    expect(run).toMatchObject({'mini_cc.strategy': 'subagent', 'mini_cc.files.read': 1, 'mini_cc.files.scanned': 1});
    expect(run['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
  });

  it('each part of a fan-out is a run below the turn, with its own files', async () => {
    const collector = await collect();
    const {path: cwd, write} = await project();
    for (const [name, text] of Object.entries(numbered(9))) await write(name, text);
    const server = await serve(changeAll);
    const env = {OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL};
    const args = ['-p', 'Update all files matching src/f*.ts', '--fan-out', 'auto', '--permission-mode', 'acceptEdits'];
    expect(await runCli(args, {server, cwd, env})).toMatchObject({code: 0});
    expect(collector.problems).toEqual([]);
    const turn = collector.spans.find(({name}) => name === 'turn main')!;
    const parts = collector.spans.filter(({name}) => name === 'invoke_agent code');
    expect(parts.map(({parentSpanId}) => parentSpanId)).toEqual(Array(3).fill(turn.spanId));
    const facts = {'mini_cc.strategy': 'subagent', 'mini_cc.files.read': 3, 'mini_cc.outcome': 'success'};
    for (const {attributes} of parts) expect(toRecord(attributes)).toMatchObject(facts);
  });
});
