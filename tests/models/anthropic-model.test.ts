import {afterEach, describe, expect, it} from 'vitest';
import type {ModelProgress, ModelReply, ModelRequest} from '../../src/core/contract/model.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {ModelError} from '../../src/core/util/errors.ts';
import {AnthropicModel, type ModelSettings} from '../../src/models/anthropic-model.ts';
import {type MessagesServer, type Script, say, startMessagesServer} from '../support/messages-server.ts';
import {
  callTool,
  cut,
  emptyStream,
  errorEvent,
  garbledJson,
  hangBeforeHeaders,
  resetConnection,
  slow,
  stall,
  status,
  withUsage,
} from '../support/scripted-replies.ts';

const servers: MessagesServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Asked {
  readonly server: MessagesServer;
  readonly progress: ModelProgress[];
  readonly reply: Promise<ModelReply>;
}

async function ask(
  script: Script,
  change: Partial<ModelSettings> = {},
  request: Partial<ModelRequest> = {},
): Promise<Asked> {
  const server = await startMessagesServer(script);
  servers.push(server);
  const model = new AnthropicModel(
    {baseURL: server.url, apiKey: 'key'},
    {
      name: 'm',
      id: 'm',
      offline: false,
      local: true,
      maxOutputTokens: 1000,
      idleSeconds: 5,
      retry: {maxAttempts: 3, maxWaitSeconds: 10},
      redactor: new Redactor([{name: 'SOME_KEY', value: 'sk-1234567890'}]),
      ...change,
    },
  );
  const progress: ModelProgress[] = [];
  const reply = model.reply(
    {
      system: 'system',
      tools: [],
      messages: [{role: 'user', content: 'hello'}],
      mayCallTools: true,
      signal: new AbortController().signal,
      ...request,
    },
    (step) => void progress.push(step),
  );
  reply.catch(() => undefined);
  return {server, progress, reply};
}

const texts = (progress: readonly ModelProgress[]) =>
  progress.flatMap((step) => (step.type === 'text' ? [step.text] : [])).join('');
const retries = (progress: readonly ModelProgress[]) => progress.filter((step) => step.type === 'retry').length;

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

  it('fails with the last error when all attempts are used', async () => {
    const {reply, server} = await ask([status(529), status(529), status(529), status(529)]);
    await expect(reply).rejects.toMatchObject({kind: 'overloaded', message: expect.stringContaining('529')});
    expect(server.requests).toHaveLength(3);
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
    await expect(reply).rejects.toBeInstanceOf(ModelError);
    expect(server.requests).toHaveLength(1);
    expect(retries(progress)).toBe(0);
  });

  it('waits as long as the server asks', async () => {
    const began = performance.now();
    await (await ask([status(429, {retryAfter: 1}), say('ok')])).reply;
    expect(performance.now() - began).toBeGreaterThan(990);
  });

  it('ends a call in which no byte comes', async () => {
    const {reply, server, progress} = await ask([stall(4)], {
      idleSeconds: 0.2,
      retry: {maxAttempts: 2, maxWaitSeconds: 5},
    });
    await expect(reply).rejects.toMatchObject({kind: 'idle', message: 'no byte from the model for 0.2 s'});
    // It is a limit: it is not given twice.
    expect(server.requests).toHaveLength(1);
    expect(progress.some((step) => step.type === 'usage' && step.usage.input_tokens > 0)).toBe(true);
  });

  it('does not take a slow stream for a dead one', async () => {
    const {reply} = await ask([slow(say('word by word, it takes longer than the idle time'), 100)], {idleSeconds: 0.3});
    expect((await reply).stopReason).toBe('end_turn');
  });

  it('ends at once when it is aborted: in a stream, before the headers, while it waits to ask again', async () => {
    for (const script of [[stall(4)], [hangBeforeHeaders()], [status(429, {retryAfter: 5})]]) {
      const abort = new AbortController();
      const {reply, server} = await ask(script, {}, {signal: abort.signal});
      await server.waitForRequests(1);
      setTimeout(() => abort.abort(new Error('enough')), 50);
      const began = performance.now();
      await expect(reply).rejects.toThrow('enough');
      expect(performance.now() - began).toBeLessThan(1000);
    }
  });

  it('names the server that cannot be reached', async () => {
    const {reply, server} = await ask([]);
    await reply.catch(() => undefined);
    await server.close();
    servers.splice(0);
    const model = new AnthropicModel(
      {baseURL: server.url, apiKey: 'key'},
      {
        name: 'm',
        id: 'm',
        offline: false,
        local: true,
        maxOutputTokens: 9,
        idleSeconds: 5,
        retry: {maxAttempts: 1, maxWaitSeconds: 0},
        redactor: new Redactor([]),
      },
    );
    const request = {system: '', tools: [], messages: [], mayCallTools: true, signal: new AbortController().signal};
    await expect(model.reply(request, () => undefined)).rejects.toThrow(
      /cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
    );
  });
});
