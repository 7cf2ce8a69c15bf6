import events from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {describe, expect, it, onTestFinished} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {createMessagesProtocol} from '../../src/models/anthropic/protocol.ts';
import {toStreamError} from '../../src/models/model-errors.ts';
import {createChatProtocol} from '../../src/models/openai/protocol.ts';
import {say, status} from '../support/messages-server.ts';
import {ask, hello, modelAt} from './fixture.ts';

describe('an error', () => {
  const once = {retry: {maxWaitSeconds: 0}};

  it('holds no key, even where the server repeats it', async () => {
    const {reply} = await ask([status(400, {message: 'bad key sk-1234567890\nsecond line'})], once);
    await expect(reply).rejects.toThrow(
      /^the model server refused the request \(400\): bad key \[redacted: SOME_KEY\]$/,
    );
  });

  it.each([createMessagesProtocol, createChatProtocol])(
    'says at once that no header can hold the key',
    async (create) => {
      const model = modelAt({baseURL: 'http://127.0.0.1:1', apiKey: 'k\u0007'}, {}, create);
      const steps: string[] = [];
      const reply = model.reply(hello(), ({type}) => void steps.push(type));
      await expect(reply).rejects.toThrow(/^a header of requests to 127\.0\.0\.1:1 .*: check ANTHROPIC_API_KEY$/);
      expect(steps).toEqual([]);
    },
  );

  it.each([
    ['Messages', createMessagesProtocol, '/v1/messages'],
    ['chat completions', createChatProtocol, '/v1/chat/completions'],
  ] as const)(
    'names the address to which a server of the %s protocol redirects, and no key goes there',
    async (_, createProtocol, endpoint) => {
      const asked: string[] = [];
      const listen = async (location: string) => {
        const server = createServer((request, response) => {
          asked.push(`${request.url} ${request.headers.authorization ?? request.headers['x-api-key']}`);
          response.writeHead(308, {location}).end();
        }).listen(0, '127.0.0.1');
        onTestFinished(() => void server.close());
        await events.once(server, 'listening');
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      };
      const elsewhere = await listen('https://elsewhere.example/');
      const baseURL = `${await listen(`${elsewhere}/there`)}${endpoint.replace(/\/(?:v1\/messages|chat.*)$/, '')}`;
      const reply = modelAt({baseURL, apiKey: 'key', sendsKeyAs: 'bearer'}, {}, createProtocol).reply(
        hello(),
        () => undefined,
      );
      await expect(reply).rejects.toThrow(`(308): it redirects to ${elsewhere}/there`);
      expect(asked).toEqual([`${endpoint} Bearer key`]);
    },
  );

  it('says that a stream broke off, and why where that says more', () => {
    const server = {redactor: new Redactor([])} as Parameters<typeof toStreamError>[1];
    const message = (error: Error) => toStreamError(error, server).message;
    expect(message(new TypeError('terminated'))).toBe('the stream broke off');
    expect(message(new Error('read ECONNRESET'))).toBe('the stream broke off (read ECONNRESET)');
  });

  it('has at most 200 characters of what the server said', async () => {
    const {reply} = await ask([status(400, {message: 'x'.repeat(5000)})], once);
    await expect(reply).rejects.toThrow(/^the model server refused the request \(400\): x{200}$/);
  });

  it.each([
    [400, 'overloaded_error', 'overloaded'],
    [529, 'api_error', 'overloaded'],
    [400, 'rate_limit_error', 'rate_limit'],
    [429, 'api_error', 'rate_limit'],
    [400, 'billing_error', 'billing'],
    [402, 'api_error', 'billing'],
    [429, 'insufficient_quota', 'billing'],
    [408, 'timeout_error', 'server'],
    [409, 'conflict_error', 'server'],
    [503, 'api_error', 'server'],
  ] as const)('with status %d and type %s is of the kind %s', async (code, errorType, kind) => {
    const {reply} = await ask([status(code, {errorType})], once);
    await expect(reply).rejects.toMatchObject({kind});
  });

  it.each([
    ['in seconds', () => ({retryAfter: 1})],
    // A date has whole seconds: this one is between 1 and 2 s away.
    ['as a date', () => ({retryAfter: new Date(Date.now() + 2_000).toUTCString()})],
    ['in milliseconds', () => ({retryAfterMs: 900})],
  ])('says when to ask again %s, and no call is made before', async (_, when) => {
    const {reply, server} = await ask([status(429, when()), say('ok')]);
    await reply;
    expect(server.requests[1]!.at - server.requests[0]!.at).toBeGreaterThan(890);
  });

  it('ends the call when all waits together would be longer than the settings allow', async () => {
    // The second wait alone is at most 1.25 s, both together are at least 1.45 s.
    const script = [1, 2, 3, 4].map(() => status(529, {retryAfterMs: 700}));
    const {reply, server} = await ask(script, {retry: {maxWaitSeconds: 1.3}});
    await expect(reply).rejects.toMatchObject({kind: 'overloaded'});
    expect(server.requests).toHaveLength(2);
  });

  it('waits longer before each further attempt', async () => {
    const {reply, progress} = await ask([status(500), status(500), say('ok')]);
    await reply;
    const waits = progress.flatMap((step) => (step.type === 'retry' ? [step.waitMs] : []));
    expect(waits[0]).toBeGreaterThanOrEqual(375);
    expect(waits[0]).toBeLessThanOrEqual(625);
    expect(waits[1]).toBeGreaterThanOrEqual(750);
  });
});
