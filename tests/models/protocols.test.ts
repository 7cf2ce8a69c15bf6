/** What both protocols ask of a server beside replies: its models, their windows, and how it wants to be asked. */
import {once} from 'node:events';
import {createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders} from 'node:http';
import type {AddressInfo} from 'node:net';
import {describe, expect, it, onTestFinished} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {createMessagesProtocol} from '../../src/models/anthropic/protocol.ts';
import {createContextSize, getKnownWindow, readContextSize} from '../../src/models/context-size.ts';
import {createChatProtocol} from '../../src/models/openai/protocol.ts';
import type {ModelServer} from '../../src/models/protocol.ts';
import {createMessage} from '../support/reply-stream.ts';
import {say} from '../support/scripted-replies.ts';
import {hello, modelAt} from './fixture.ts';

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly thinking?: {readonly type: string};
    readonly max_tokens?: number;
    readonly output_config?: object;
  };
}

/** @param answer a status, then a text or what is sent as JSON, then headers in place of the type of JSON */
async function serve(answer: (asked: Asked, index: number) => readonly [number, unknown, OutgoingHttpHeaders?]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    asked.push({path: request.url ?? '', headers: request.headers, body});
    const [status, value, headers = {'content-type': 'application/json'}] = answer(asked.at(-1)!, asked.length - 1);
    response.writeHead(status, headers).end(typeof value === 'string' ? value : JSON.stringify(value));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return {asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`};
}

const words = {host: 'h', key: 'KEY', address: 'ADDRESS', redactor: new Redactor([])};
const PROTOCOLS = [
  ['Messages', '/v1', (baseURL: string) => createMessagesProtocol({baseURL, apiKey: 'k'}, words)],
  ['chat completions', '', async (baseURL: string) => createChatProtocol({baseURL, apiKey: 'k'}, words)],
] as const;

describe.each(PROTOCOLS)('a server of the protocol %s', (_, version, create) => {
  it('lists its models', async () => {
    const {url, asked} = await serve(() => [200, {data: [{id: 'a'}, {id: 'b/c'}, {name: 'no id'}, null]}]);
    expect(await (await create(url)).listModels()).toEqual(['a', 'b/c']);
    expect(asked[0]!.path).toMatch(new RegExp(`^${version}/models(?:\\?limit=1000)?$`));
  });

  it('lists none where it says something else, and the failure is named', async () => {
    const {url} = await serve((_, index) => [index === 0 ? 200 : 401, {hello: 1}]);
    const protocol = await create(url);
    expect(await protocol.listModels()).toEqual([]);
    await expect(protocol.listModels()).rejects.toThrow(/^the model server refused the key: check KEY/);
  });

  it('says how large the window of a model is, if it does', async () => {
    const {url, asked} = await serve((_, index) => [index === 0 ? 200 : 404, {context_length: 4096}]);
    const protocol = await create(url);
    expect(await protocol.askContextWindow('a/b')).toBe(4096);
    expect(asked[0]!.path).toBe(`${version}/models/a%2Fb`);
    expect(await protocol.askContextWindow('a/b')).toBeUndefined();
  });
});

describe.each([
  [
    'Messages',
    createMessagesProtocol,
    {type: 'message', content: [{type: 'text', text: 'whole'}], stop_reason: 'end_turn'},
  ],
  ['chat completions', createChatProtocol, {choices: [{message: {content: 'whole'}, finish_reason: 'stop'}]}],
] as const)('one JSON object in place of a stream of the protocol %s', (_, create, answer) => {
  const message = JSON.stringify({id: 'm1', role: 'assistant', model: 'm', ...answer});
  const ask = async (body: string, headers: OutgoingHttpHeaders) => {
    const {url} = await serve(() => [200, body, headers]);
    return modelAt({baseURL: url, apiKey: 'k'}, {maxWaitSeconds: 0}, create).reply(hello(), () => undefined);
  };

  it.each([
    ['without a content type', message, {}],
    ['called a stream', message, {'content-type': 'text/event-stream'}],
    ['called text', message, {'content-type': 'text/plain'}],
    ['after a byte order mark and white space', `\uFEFF\r\n ${message}`, {'content-type': 'application/json'}],
  ])('is understood %s', async (_, body, headers) => {
    expect(await ask(body, headers)).toMatchObject({content: [{text: 'whole'}], stopReason: 'end_turn'});
  });

  it('is an error where it tells of one', async () => {
    const error = JSON.stringify({type: 'error', error: {type: 'invalid_request_error', message: 'too many'}});
    await expect(ask(error, {})).rejects.toMatchObject({kind: 'bad_request', message: /too many$/});
  });

  it('is no page of a proxy, whose type the error names', async () => {
    await expect(ask('<html>', {'content-type': 'text/html'})).rejects.toThrow('the server sent text/html instead');
  });
});

it('a whole message may have its text alone as content', async () => {
  const {url} = await serve(() => [200, {type: 'message', id: 'm1', content: 'whole', stop_reason: 'end_turn'}]);
  const reply = await modelAt({baseURL: url, apiKey: 'k'}).reply(hello(), () => undefined);
  expect(reply.content).toEqual([{type: 'text', text: 'whole'}]);
});

describe('a key', () => {
  it.each<[Partial<ModelServer>, object]>([
    [
      {apiKey: 'k', sendsKeyAs: 'x-api-key'},
      {'x-api-key': 'k', authorization: undefined},
    ],
    [{apiKey: 'k'}, {'x-api-key': undefined, authorization: 'Bearer k'}],
    [{authToken: 't'}, {'x-api-key': undefined, authorization: 'Bearer t'}],
  ])('is sent in one header: %j', async (given, headers) => {
    const {url, asked} = await serve(() => [200, {}]);
    await (await createMessagesProtocol({baseURL: url, ...given}, words)).listModels();
    for (const [name, value] of Object.entries(headers)) expect(asked[0]!.headers[name], name).toBe(value);
  });
});

describe('a server that does not take the way in which thinking is asked for', () => {
  it.each([
    ['claude-opus-5-5', 'adaptive thinking is not supported', ['adaptive', 'enabled']],
    ['m', 'thinking.type: use adaptive', ['enabled', 'adaptive']],
    ['m', 'this model does not support thinking', ['enabled', undefined]],
    ['m', 'thinking: Extra inputs are not permitted', ['enabled', undefined]],
    ['m', 'Unknown parameter: thinking', ['enabled', undefined]],
    ['m', 'json: unknown field "thinking"', ['enabled', undefined]],
    ['claude-opus-5-5', 'output_config: Extra inputs are not permitted', ['adaptive', 'enabled']],
    ['claude-opus-5-5', 'unsupported parameter: output_config', ['adaptive', 'enabled']],
  ])('%s: %s', async (id, message, styles) => {
    const usage = {input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
    const {url, asked} = await serve(({body}, index) =>
      body.thinking?.type === styles[0]
        ? [400, {type: 'error', error: {type: 'invalid_request_error', message}}]
        : [200, createMessage(say('hi'), body as never, index, usage)],
    );
    const model = modelAt({baseURL: url, apiKey: 'k'}, {id, thinking: 'low', maxOutputTokens: 4000});
    const steps: string[] = [];
    for (let round = 0; round < 2; round++) {
      await model.reply(hello(), ({type}) => void steps.push(type));
    }
    // The second call knows it.
    expect(asked.map(({body}) => body.thinking?.type)).toEqual([...styles, styles[1]]);
    expect(steps).not.toContain('retry');
  });

  it('is asked without, where it takes no other way either', async () => {
    const usage = {input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
    const {url, asked} = await serve(({body}, index) =>
      body.thinking
        ? [400, {error: {type: 'invalid_request_error', message: `${body.thinking.type} thinking is not supported`}}]
        : [200, createMessage(say('hi'), body as never, index, usage)],
    );
    const change = {id: 'claude-opus-5-5', thinking: 'low', maxOutputTokens: 4000} as const;
    await modelAt({baseURL: url, apiKey: 'k'}, change).reply(hello(), () => undefined);
    expect(asked.map(({body}) => body.thinking?.type)).toEqual(['adaptive', 'enabled', undefined]);
  });

  it.each([
    'no such tool',
    'messages.1.content.0.thinking: Extra inputs are not permitted',
    'Expected `thinking`, but found `text`. A final assistant message must start with a thinking block, not text',
  ])('is not asked again for another mistake: %s', async (message) => {
    const {url, asked} = await serve(() => [400, {error: {type: 'invalid_request_error', message}}]);
    const model = modelAt({baseURL: url, apiKey: 'k'}, {thinking: 'low', maxOutputTokens: 4000});
    await expect(model.reply(hello(), () => undefined)).rejects.toThrow(message);
    expect(asked).toHaveLength(1);
  });
});

it('a server of the Messages protocol that takes no schema of the answer is asked without it', async () => {
  const {url, asked} = await serve(({body}) =>
    body.output_config
      ? [
          422,
          {detail: [{type: 'extra_forbidden', loc: ['body', 'output_config'], msg: 'Extra inputs are not permitted'}]},
        ]
      : [200, {type: 'message', id: 'm1', content: '{}', stop_reason: 'end_turn'}],
  );
  const model = modelAt({baseURL: url, apiKey: 'k'});
  for (const answerSchema of [{type: 'object'}, {type: 'object'}])
    await model.reply(hello({answerSchema}), () => undefined);
  expect(asked.map(({body}) => body.output_config !== undefined)).toEqual([true, false, false]);
});

describe.each([
  ['Messages', createMessagesProtocol, {type: 'message', content: 'hi', stop_reason: 'end_turn'}],
  ['chat completions', createChatProtocol, {choices: [{message: {content: 'hi'}, finish_reason: 'stop'}]}],
] as const)('a server of the protocol %s that limits the tokens of a reply', (_, create, answer) => {
  it.each([
    [
      'max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307',
      4096,
    ],
    [
      'max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384.',
      4096,
    ],
    ['Invalid max_tokens value, the valid range of max_tokens is [1, 8,192]', 8192],
    ['max_completion_tokens must be at most 2048 for gpt-4-0613', 2048],
  ])('is asked with that number, also next time: %s', async (message, limit) => {
    const {url, asked} = await serve(({body}) =>
      body.max_tokens! > limit
        ? [400, {error: {type: 'invalid_request_error', message}}]
        : [200, {id: 'm1', model: 'm', role: 'assistant', ...answer}],
    );
    const model = modelAt({baseURL: url, apiKey: 'k'}, {maxOutputTokens: 16_384}, create);
    for (const maxOutputTokens of [16_384, 16_384, 1000]) {
      expect(await model.reply(hello({maxOutputTokens}), () => undefined)).toMatchObject({content: [{text: 'hi'}]});
    }
    expect(asked.map(({body}) => body.max_tokens)).toEqual([16_384, limit, limit, 1000]);
  });

  it.each([
    "max_tokens is too large: 16384. This model's maximum context length is 8192 tokens and your request has 5000.",
    'input length and `max_tokens` exceed context limit: 8000 + 16384 > 20000',
    'max_tokens is no number',
  ])('is not asked again where it names no such number: %s', async (message) => {
    const {url, asked} = await serve(() => [400, {error: {type: 'invalid_request_error', message}}]);
    const model = modelAt({baseURL: url, apiKey: 'k'}, {maxOutputTokens: 16_384, maxWaitSeconds: 0}, create);
    await expect(model.reply(hello(), () => undefined)).rejects.toMatchObject({kind: 'bad_request'});
    // Chat completions have two names for the parameter, and each of them is tried.
    expect(new Set(asked.map(({body}) => body.max_tokens ?? 16_384))).toEqual(new Set([16_384]));
  });
});

describe('the context window', () => {
  it.each([
    [{max_input_tokens: 1, context_window: 2}, 1],
    [{context_window: 2, context_length: 3}, 2],
    [{max_context_length: 4}, 4],
    [{max_model_len: 5}, 5],
    [{meta: {n_ctx: 6}}, 6],
    [{meta: {n_ctx: 6}, n_ctx: 7}, 7],
    [{context_length: 0, n_ctx: 8}, 8],
    [{context_length: 1.5}, undefined],
    [{context_length: '9'}, undefined],
    [null, undefined],
    ['10', undefined],
  ])('is read of %j as %s', (found, tokens) => {
    expect(readContextSize(found)).toBe(tokens);
  });

  it.each([
    ['claude-opus-5-5', 200_000],
    ['gpt-4.1-mini', 1_000_000],
    ['gpt-5', 200_000],
    ['o3', 200_000],
    ['gpt-4o-mini', 128_000],
    ['glm-4.6', 200_000],
    ['glm-4.5', 128_000],
    ['qwen3:8b', 128_000],
    ['my-own', 200_000],
  ])('of %s is taken for %d where nobody says it', (name, tokens) => {
    expect(getKnownWindow(name)).toBe(tokens);
  });

  it('is what the settings say, else what the server says when it may be asked, once', async () => {
    let asked = 0;
    const size = (set: number | undefined, answer?: number) =>
      createContextSize('gpt-4o', set, async () => {
        asked += 1;
        return answer;
      });
    expect(await size(1)(true)).toBe(1);
    const served = size(undefined, 2);
    expect([await served(false), asked]).toEqual([undefined, 0]);
    expect([await served(true), await served(true), await served(false), asked]).toEqual([2, 2, 2, 1]);
    expect(await size(undefined)(true)).toBe(128_000);
  });
});
