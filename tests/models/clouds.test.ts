/** Bedrock and Vertex, by the SDK's own packages, against a server on loopback: addresses, keys and answers. */

import {mkdtemp, rm} from 'node:fs/promises';
import {createServer, type IncomingHttpHeaders} from 'node:http';
import {createRequire} from 'node:module';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import type {ModelProgress} from '../../src/core/contract/model.ts';
import {say} from '../support/messages-server.ts';
import {createEvents} from '../support/reply-stream.ts';
import {hello, modelAt, retries} from './fixture.ts';

const {EventStreamCodec} = createRequire(import.meta.url)('@smithy/eventstream-codec') as {
  EventStreamCodec: new (
    toUtf8: (bytes: Uint8Array) => string,
    fromUtf8: (text: string) => Uint8Array,
  ) => {encode(message: {headers: object; body: Uint8Array}): Uint8Array};
};

interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

async function cloud(type: string, encode: (event: object & {type: string}) => Uint8Array | string) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    seen.push({path: request.url ?? '', headers: request.headers, body});
    response.writeHead(200, {'content-type': type});
    const usage = {input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
    for (const event of createEvents(say('From the cloud.'), body, 0, usage)) response.write(encode(event));
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return {seen, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`};
}

it('asks Vertex for a model of a project and a region, with the given token', async () => {
  const {seen, baseURL} = await cloud(
    'text/event-stream',
    (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  const server = {baseURL, api: 'vertex', region: 'us-east5', project: 'my-project', apiKey: 'token-12345'} as const;
  const reply = await modelAt(server, {id: 'claude-x', name: 'cloud/claude-x'}).reply(hello(), () => undefined);
  expect(reply).toMatchObject({content: [{text: 'From the cloud.'}], usage: {input_tokens: 3, output_tokens: 2}});
  expect(seen[0]!.path).toContain(
    '/projects/my-project/locations/us-east5/publishers/anthropic/models/claude-x:streamRawPredict',
  );
  expect(seen[0]!.headers.authorization).toBe('Bearer token-12345');
  expect(seen[0]!.body).not.toHaveProperty('model');
});

it('asks Bedrock for a model of a region, with the given key, and reads its binary stream', async () => {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString(),
    (text) => Buffer.from(text),
  );
  const header = (value: string) => ({type: 'string', value});
  const {seen, baseURL} = await cloud('application/vnd.amazon.eventstream', (event) =>
    codec.encode({
      headers: {
        ':event-type': header('chunk'),
        ':content-type': header('application/json'),
        ':message-type': header('event'),
      },
      body: Buffer.from(JSON.stringify({bytes: Buffer.from(JSON.stringify(event)).toString('base64')})),
    }),
  );
  const server = {baseURL, api: 'bedrock', region: 'us-east-1', apiKey: 'bedrock-key-1'} as const;
  const reply = await modelAt(server, {id: 'anthropic.claude-x', name: 'aws/anthropic.claude-x'}).reply(
    hello(),
    () => undefined,
  );
  expect(reply).toMatchObject({content: [{text: 'From the cloud.'}], stopReason: 'end_turn'});
  expect(seen[0]!.path).toBe('/model/anthropic.claude-x/invoke-with-response-stream');
  expect(seen[0]!.headers.authorization).toBe('Bearer bedrock-key-1');
});

it('ends at once, and says so, where a machine has no credentials for its cloud', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'mini-cc-clouds-'));
  onTestFinished(() => rm(home, {recursive: true}));
  const hidden = Object.keys(process.env).filter((name) => /^(AWS|GOOGLE|GCLOUD|CLOUDSDK)_/.test(name));
  for (const name of hidden) vi.stubEnv(name, undefined);
  for (const name of ['HOME', 'CLOUDSDK_CONFIG']) vi.stubEnv(name, home);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('METADATA_SERVER_DETECTION', 'none');
  onTestFinished(() => void vi.unstubAllEnvs());
  const places = {bedrock: {region: 'us-east-1'}, vertex: {region: 'us-east5', project: 'my-project'}};
  for (const api of ['bedrock', 'vertex'] as const) {
    const progress: ModelProgress[] = [];
    const model = modelAt({baseURL: 'http://127.0.0.1:9', api, ...places[api]}, {id: 'm', name: `${api}/m`});
    await expect(model.reply(hello(), (step) => void progress.push(step))).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringMatching(/^no credentials for .*: Could not load .*; or set apiKeyEnv in /),
    });
    expect(retries(progress)).toBe(0);
  }
});
