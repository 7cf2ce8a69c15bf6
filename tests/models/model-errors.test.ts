import events from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import {describe, expect, it, onTestFinished} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {createMessagesProtocol} from '../../src/models/anthropic/protocol.ts';
import {toCredentialsError, toModelError} from '../../src/models/model-errors.ts';
import {createChatProtocol} from '../../src/models/openai/protocol.ts';
import type {ModelServer} from '../../src/models/protocol.ts';
import {say, status} from '../support/messages-server.ts';
import {ask, hello, modelAt} from './fixture.ts';

describe('an error', () => {
  const once = {maxWaitSeconds: 0};

  it('holds no key, even where the server repeats it', async () => {
    const {reply} = await ask([status(400, {message: 'bad key sk-1234567890\nsecond line'})], once);
    await expect(reply).rejects.toThrow(
      /^the model server refused the request \(400\): bad key \[redacted: SOME_KEY\]$/,
    );
  });

  const KEYS = ['k\u0007', 'k\nx', 'sk-\u201cabc\u201d', '\u043a\u043b\u044e\u0447'];
  const WAYS: readonly Partial<ModelServer>[] = [{}, {sendsKeyAs: 'x-api-key'}, {sendsKeyAs: 'bearer'}];
  it.each([createMessagesProtocol, createChatProtocol].flatMap((create) => KEYS.map((key) => [key, create] as const)))(
    'says at once that no header can hold the key %j',
    async (apiKey, create) => {
      for (const way of WAYS) {
        const model = modelAt({baseURL: 'http://127.0.0.1:1', apiKey, ...way}, {}, create);
        const steps: string[] = [];
        const reply = model.reply(hello(), ({type}) => void (type === 'usage' || steps.push(type)));
        await expect(reply).rejects.toThrow(/^a header of requests to 127\.0\.0\.1:1 .*: check ANTHROPIC_API_KEY$/);
        expect(steps).toEqual([]);
      }
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
    const server = {redactor: new Redactor([])} as Parameters<typeof toModelError>[2];
    const message = (error: Error) => toModelError(error, Anthropic, server).message;
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
    const {reply, server} = await ask(script, {maxWaitSeconds: 1.3});
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

  const words = {host: 'h.example', key: 'KEY', address: 'ADDRESS', redactor: new Redactor([])};
  const answered = (given: {status?: number; error?: unknown; message?: string; headers?: Record<string, string>}) =>
    toModelError(
      Object.assign(Object.create(Anthropic.APIError.prototype), {
        ...{status: given.status, error: given.error, message: given.message ?? ''},
        headers: given.headers && new Headers(given.headers),
      }),
      Anthropic,
      words,
    );

  it.each<[Parameters<typeof answered>[0], string, boolean]>([
    // An error event in a stream has no status.
    [{error: {error: {type: 'invalid_request_error'}}}, 'bad_request', false],
    [{error: {type: 'authentication_error'}}, 'authentication', false],
    [{error: {type: 'permission_error'}}, 'authentication', false],
    [{error: {type: 'not_found_error'}}, 'not_found', false],
    [{error: {type: 'request_too_large'}}, 'bad_request', false],
    [{error: {type: 'overloaded_error'}}, 'overloaded', true],
    [{error: {type: 'rate_limit_error'}}, 'rate_limit', true],
    [{error: {type: 'something'}}, 'server', true],
    [{error: {code: 400}}, 'bad_request', false],
    [{error: {code: 401}}, 'authentication', false],
    [{error: {code: 599}}, 'server', true],
    [{error: {code: 399, type: 'not_found_error'}}, 'not_found', false],
    [{error: {code: 600, type: 'not_found_error'}}, 'not_found', false],
    [{error: {code: 'rate_limit_exceeded'}}, 'rate_limit', true],
    [{error: {code: 'model_not_found'}, status: 400}, 'not_found', false],
    [{status: 400, error: {code: 401}}, 'bad_request', false],
    [{status: 403}, 'authentication', false],
    [{status: 404}, 'not_found', false],
    [{status: 302}, 'not_found', false],
    [{status: 499}, 'bad_request', false],
    [{status: 500}, 'server', true],
    [{status: 400, error: {error: 'Your credit balance is too low'}}, 'billing', false],
    [{status: 400, error: null}, 'bad_request', false],
  ])('of the answer %j is of the kind %s, and may be tried again: %s', (given, kind, retryable) => {
    const {kind: found, details} = answered(given);
    const {words: _, ...facts} = details;
    expect({found, ...facts}).toEqual({
      ...{found: kind, retryable},
      ...(given.status !== undefined && {status: given.status}),
    });
  });

  it.each([
    [{status: 400, error: {error: {message: ' one\ntwo '}}}, 'the model server refused the request (400): one'],
    [{status: 400, error: {message: 'outer', error: {type: 'x'}}}, 'the model server refused the request (400): outer'],
    [{status: 400, error: {error: 'plain'}}, 'the model server refused the request (400): plain'],
    [{status: 500, message: '500 Oops'}, 'the model server failed (500): Oops'],
    [{}, 'the model server failed'],
    [{status: 429}, 'the model server limits the rate of requests (429)'],
    [{status: 529}, 'the model server is overloaded (529)'],
    [{status: 402}, 'the model server asks for payment: check the billing of this key (402)'],
    [{status: 401}, 'the model server refused the key: check KEY (401)'],
    [
      {status: 301},
      'the model server does not know this model or address: check --model and ADDRESS (301): it redirects to nowhere',
    ],
  ])('of the answer %j reads %s', (given, message) => {
    expect(answered(given).message).toBe(message);
  });

  it('names 200 characters of the place to which a server redirects', () => {
    expect(answered({status: 301, headers: {location: 'x'.repeat(300)}}).message).toMatch(/ to x{200}$/);
  });

  it.each([
    [{'retry-after': '2'}, 2000],
    [{'retry-after-ms': '15', 'retry-after': '2'}, 15],
    [{'retry-after': '99999999999999'}, 4.32e15],
    [{'retry-after-ms': '99999999999999999'}, 4.32e15],
    [{'retry-after': 'soon'}, undefined],
    [{'retry-after': '0'}, undefined],
    [{'retry-after': new Date(0).toUTCString()}, undefined],
    [{}, undefined],
  ])('with the headers %j asks to wait %s ms', (headers, ms) => {
    expect(answered({status: 429, headers: headers as Record<string, string>}).details).toEqual({
      ...{retryable: true, status: 429},
      ...(ms !== undefined && {retryAfterMs: ms}),
    });
  });

  it('of a connection has the code of its deepest cause that has one', () => {
    const failed = (cause?: Error) => toModelError(new Anthropic.APIConnectionError({cause}), Anthropic, words);
    const refused = Object.assign(new Error('y'), {code: 'ECONNREFUSED'});
    expect(failed(refused).message).toBe('cannot reach h.example (ECONNREFUSED)');
    expect(failed(new Error('z', {cause: refused})).message).toBe('cannot reach h.example (ECONNREFUSED)');
    expect(failed(Object.assign(new Error('z', {cause: refused}), {code: 7})).message).toContain('(ECONNREFUSED)');
    expect(failed()).toMatchObject({kind: 'connection', message: 'cannot reach h.example', details: {retryable: true}});
    const late = toModelError(new Anthropic.APIConnectionTimeoutError(), Anthropic, words);
    expect(late.message).toBe('h.example did not answer in time');
    const header = failed(Object.assign(new Error('y'), {code: 'ERR_INVALID_CHAR'}));
    expect(header).toMatchObject({kind: 'authentication', details: {retryable: false}});
  });

  it('of missing credentials says what the cloud said, and what to do', () => {
    const missing = (error: Error) => toCredentialsError(error, words);
    expect(missing(new Error('Connection error.', {cause: new Error('No credentials.\nmore')}))).toMatchObject({
      ...{kind: 'authentication', details: {retryable: false}},
      message: 'no credentials for h.example: No credentials; or set apiKeyEnv in ADDRESS',
    });
    const token = new TypeError('Cannot convert argument to a ByteString because the character at index 7 …');
    expect(missing(new Error('Connection error.', {cause: token})).message).toMatch(/^a header of .*: check KEY$/);
    expect(missing(new Error('none')).message).toBe('no credentials for h.example: none; or set apiKeyEnv in ADDRESS');
  });

  it('of a stream that is no JSON says that it is garbled', () => {
    expect(toModelError(new SyntaxError('x'), Anthropic, words)).toMatchObject({
      ...{kind: 'stream', message: 'the stream is garbled', details: {retryable: true}},
    });
  });
});
