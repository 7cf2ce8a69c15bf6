import {describe, expect, it} from 'vitest';
import type {Message, ModelRequest} from '../../src/core/contract/model.ts';
import {FakeClock} from '../core/fake-clock.ts';
import {
  callTool,
  cut,
  emptyStream,
  errorEvent,
  garbledJson,
  hangBeforeHeaders,
  resetConnection,
  say,
  slow,
  stall,
  status,
  withUsage,
} from '../support/messages-server.ts';
import {getKey} from '../support/request-facts.ts';
import {until} from '../support/wait.ts';
import {ask, hello, type ModelSettings, modelAt, retries, serve, text, texts} from './fixture.ts';

describe('a model behind a server', () => {
  it('streams its text and returns the whole reply with its usage', async () => {
    const usage = {input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 50, cache_creation_input_tokens: 3};
    const {reply, progress} = await ask([withUsage(say('Hello, world.'), usage)]);
    expect(await reply).toMatchObject({
      content: [{type: 'text', text: 'Hello, world.'}],
      stopReason: 'end_turn',
      usage,
    });
    expect(texts(progress)).toBe('Hello, world.');
  });

  it('sends its request with a length, not in chunks', async () => {
    const {server, reply} = await ask([say('ok')]);
    await reply;
    const [{headers, bytes}] = server.requests as [(typeof server.requests)[number]];
    expect(headers).toMatchObject({'content-length': String(bytes), 'content-type': 'application/json'});
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  it('returns tool calls with their input', async () => {
    const {reply} = await ask([callTool('bash', {command: 'echo "ü"'}, 'toolu_1')]);
    expect((await reply).content).toMatchObject([{type: 'tool_use', id: 'toolu_1', input: {command: 'echo "ü"'}}]);
  });

  it('does not complete the cut-off input of a call: it names it as garbled', async () => {
    const {reply} = await ask([garbledJson('bash', '{"command": "rm -rf /home/me', 'toolu_1')]);
    expect([...(await reply).garbledInputs]).toEqual([['toolu_1', '{"command": "rm -rf /home/me']]);
  });

  it('marks system and the end of the history for the cache', async () => {
    const {server, reply} = await ask([say('ok')]);
    await reply;
    const {body} = server.requests[0]!;
    expect(JSON.stringify(body.system)).toContain('cache_control');
    expect(JSON.stringify(body.messages.at(-1))).toContain('cache_control');
  });

  it.each([
    ['529 three times', [status(529), status(529), say('at last')], 2],
    ['a rate limit', [status(429, {retryAfter: 1}), say('at last')], 1],
    ['a server error', [status(500), say('at last')], 1],
    ['a stream that breaks off', [cut(4), say('at last')], 1],
    ['an error event in the stream', [errorEvent('overloaded_error'), say('at last')], 1],
    ['an empty stream', [emptyStream(), say('at last')], 1],
    ['a closed connection', [resetConnection(), say('at last')], 1],
  ] as const)('asks again after %s, and says so', async (_, script, count) => {
    const {reply, progress} = await ask(script);
    expect((await reply).content).toMatchObject([{text: 'at last'}]);
    expect(retries(progress)).toBe(count);
  });

  it('fails with the last error when the time for further attempts is used, however many there were', async () => {
    const {reply, progress} = await ask(() => status(529), {maxWaitSeconds: 1});
    await expect(reply).rejects.toMatchObject({kind: 'overloaded', message: expect.stringContaining('529')});
    const waited = progress.reduce((sum, step) => sum + (step.type === 'retry' ? step.waitMs : 0), 0);
    expect(waited).toBeGreaterThan(800);
    expect(waited).toBeLessThanOrEqual(1_000);
  });

  it.each([
    [401, 'authentication', /ANTHROPIC_API_KEY/],
    [403, 'authentication', /key/],
    [402, 'billing', /billing/],
    [400, 'bad_request', /refused the request/],
    [404, 'not_found', /--model/],
  ] as const)('does not ask again after %d, and says what to do', async (code, kind, words) => {
    const {reply, server} = await ask([status(code), say('no')]);
    await expect(reply).rejects.toMatchObject({kind, message: expect.stringMatching(words)});
    expect(server.requests).toHaveLength(1);
  });

  it('never asks sooner than the server wants: a longer Retry-After is the failure at once', async () => {
    const {reply, server, progress} = await ask([status(429, {retryAfter: 600}), say('no')]);
    await expect(reply).rejects.toThrow(/\(429\): .*; the server asks to wait 600 s$/);
    expect(server.requests).toHaveLength(1);
    expect(retries(progress)).toBe(0);
  });

  it('waits as long as the server asks', async () => {
    const began = performance.now();
    await (await ask([status(429, {retryAfter: 1}), say('ok')])).reply;
    expect(performance.now() - began).toBeGreaterThan(990);
  });

  it('ends a call in which no byte comes', async () => {
    const clock = new FakeClock();
    const replyLimits = {idleSeconds: 30, thinkingSeconds: 600};
    const {reply, server, progress} = await ask([stall(4)], {clock, replyLimits, maxWaitSeconds: 500});
    await until(
      () => progress.some((step) => step.type === 'usage' && step.usage.input_tokens > 0),
      'the first tokens',
    );
    const message = 'no byte from the model for 30 s';
    await expect(clock.advanceUntil(reply, 10_000)).rejects.toMatchObject({kind: 'idle', message});
    // It is a limit: it is not given twice.
    expect(server.requests).toHaveLength(1);
  });

  it('does not take a slow stream for a dead one', async () => {
    const clock = new FakeClock();
    const server = await serve([slow(say('word by word, it takes longer than the idle time'), 10)]);
    const replyLimits = {idleSeconds: 30, thinkingSeconds: 600};
    const model = modelAt({baseURL: server.url, apiKey: 'key'}, {clock, replyLimits});
    const reply = await model.reply(hello(), () => clock.advance(9_000));
    expect(reply.stopReason).toBe('end_turn');
    expect(clock.now()).toBeGreaterThan(30_000);
  });

  it('waits for bytes without an end where the settings name no idle time', async () => {
    const clock = new FakeClock();
    const server = await serve([slow(say('ok'), 10)]);
    const replyLimits = {idleSeconds: 0, thinkingSeconds: 0};
    const model = modelAt({baseURL: server.url, apiKey: 'key'}, {clock, replyLimits});
    const reply = await model.reply(hello(), ({type}) => {
      if (type === 'text') clock.advance(40_000);
    });
    expect(reply.stopReason).toBe('end_turn');
  });

  it('ends at once when it is aborted: in a stream, before the headers, while it waits to ask again', async () => {
    for (const [script, reached] of [
      [stall(4), 'usage'],
      [hangBeforeHeaders(), undefined],
      [status(429, {retryAfter: 900}), 'retry'],
    ] as const) {
      const abort = new AbortController();
      const {reply, server, progress} = await ask([script], {maxWaitSeconds: 1000}, {signal: abort.signal});
      await server.waitForRequests(1);
      await until(() => reached === undefined || progress.some(({type}) => type === reached), reached);
      abort.abort(new Error('enough'));
      await expect(reply).rejects.toThrow('enough');
    }
  });

  it('names the server that cannot be reached', async () => {
    const {reply, server} = await ask([]);
    await reply.catch(() => undefined);
    await server.close();
    const model = modelAt({baseURL: server.url, apiKey: 'key'}, {maxWaitSeconds: 0});
    await expect(model.reply(hello(), () => undefined)).rejects.toThrow(
      /cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
    );
  });
});

describe('a request', () => {
  const body = async (change: Partial<ModelSettings>, request: Partial<ModelRequest>) => {
    const {server, reply} = await ask([say('ok')], change, request);
    await reply;
    return server.requests[0]!.body;
  };
  const tool = {name: 'look', description: 'looks', input_schema: {type: 'object' as const}};

  it('lets the reply be as long as the settings say, and no longer than the budget has left', async () => {
    expect((await body({maxOutputTokens: 1000}, {})).max_tokens).toBe(1000);
    expect((await body({maxOutputTokens: 1000}, {maxOutputTokens: 300})).max_tokens).toBe(300);
    expect((await body({maxOutputTokens: 1000}, {maxOutputTokens: 5000})).max_tokens).toBe(1000);
    // No server takes 0.
    expect((await body({}, {maxOutputTokens: 0})).max_tokens).toBe(1);
  });

  it('offers the tools, and forbids calls where none may be made', async () => {
    const free = await body({}, {tools: [tool]});
    expect(free.tools).toMatchObject([tool]);
    expect(free).not.toHaveProperty('tool_choice');
    expect(await body({}, {tools: [tool], mayCallTools: false})).toMatchObject({tool_choice: {type: 'none'}});
    const without = await body({}, {tools: [], mayCallTools: false});
    expect(without).not.toHaveProperty('tools');
    expect(without).not.toHaveProperty('tool_choice');
  });

  it('asks for an answer by a schema', async () => {
    const schema = {type: 'object', properties: {name: {type: 'string'}}};
    expect(await body({}, {answerSchema: schema})).toMatchObject({
      output_config: {format: {type: 'json_schema', schema}},
    });
    expect(await body({}, {})).not.toHaveProperty('output_config');
  });

  it('marks system, tools, and the history where it ends and where the last request ended; in copies', async () => {
    const messages: Message[] = [
      {role: 'user', content: 'hello'},
      {role: 'assistant', content: [{type: 'text', text: 'hi'}]},
      {role: 'user', content: [text('one'), text('two')]},
    ];
    const before = structuredClone(messages);
    const tools = ['a', 'b'].map((name) => ({name, input_schema: {type: 'object' as const}}));
    const sent = await body({}, {messages, tools});
    expect(JSON.stringify(sent).match(/cache_control/g)).toHaveLength(4);
    expect(sent).toMatchObject({system: [{cache_control: {}}], tools: [{name: 'a'}, {name: 'b', cache_control: {}}]});
    expect(sent.messages[0]?.content).toMatchObject([{text: 'hello', cache_control: {}}]);
    expect(sent.messages.at(-1)?.content).toMatchObject([{text: 'one'}, {text: 'two', cache_control: {}}]);
    expect(messages).toEqual(before);
  });

  it('brings the key or the token', async () => {
    const keyed = await serve([say('ok'), say('ok')]);
    await modelAt({baseURL: keyed.url, apiKey: 'key'}).reply(hello(), () => undefined);
    await modelAt({baseURL: keyed.url, authToken: 'token'}).reply(hello(), () => undefined);
    expect(keyed.requests.map(getKey)).toEqual(['key', 'token']);
  });
});
