import Anthropic, {APIError} from '@anthropic-ai/sdk';
import {expect, onTestFinished, test} from 'vitest';
import {collectMessage} from './collect-message.ts';
import {
  callTool,
  callTools,
  cut,
  emptyStream,
  errorEvent,
  garbledJson,
  hangBeforeHeaders,
  maxTokens,
  type Script,
  say,
  slow,
  stall,
  startMessagesServer,
  status,
  thinkingThen,
} from './messages-server.ts';
import {byPrompt, getKey, getToolResults} from './request-facts.ts';

async function start(script: Script) {
  const server = await startMessagesServer(script);
  onTestFinished(server.close);
  const client = new Anthropic({apiKey: 'test-key', baseURL: server.url, maxRetries: 0});
  const ask = async (prompt: string, signal?: AbortSignal) =>
    collectMessage(
      await client.messages.create(
        {model: 'claude-test', max_tokens: 100, stream: true, messages: [{role: 'user', content: prompt}]},
        signal ? {signal} : undefined,
      ),
    );
  return {server, client, ask};
}

test('a scripted text arrives through the SDK with the model that was asked for and a usage', async () => {
  const {ask, server} = await start([say('Hello, this is a text of several pieces. 🎉')]);
  const message = await ask('hi');
  expect(message).toMatchObject({
    model: 'claude-test',
    stop_reason: 'end_turn',
    content: [{type: 'text', text: 'Hello, this is a text of several pieces. 🎉'}],
  });
  expect(message.usage.input_tokens).toBeGreaterThan(0);
  expect(message.usage.output_tokens).toBeGreaterThan(5);
  expect(server.requests[0]?.body.messages[0]).toEqual({role: 'user', content: 'hi'});
  expect(getKey(server.requests[0])).toBe('test-key');
});

test('without stream the same reply is one JSON message', async () => {
  const {client} = await start([callTool('bash', {command: 'ls'}, 'call_1')]);
  const message = await client.messages.create({
    model: 'm',
    max_tokens: 10,
    messages: [{role: 'user', content: 'x'}],
  });
  expect(message.content).toEqual([{type: 'tool_use', id: 'call_1', name: 'bash', input: {command: 'ls'}}]);
  expect(message.stop_reason).toBe('tool_use');
});

test('several calls in one reply keep their order and have ids of their own', async () => {
  const calls = [1, 2, 3].map((number) => ({name: 'bash', input: {command: `echo ${number}`}}));
  const {ask} = await start([thinkingThen('Three at once.', callTools(calls, 'On it.'))]);
  const {content} = await ask('go');
  expect(content.map(({type}) => type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use', 'tool_use']);
  expect(new Set(content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))).size).toBe(3);
});

test('a garbled tool input is no JSON', async () => {
  const {client} = await start([garbledJson('read_file')]);
  const stream = await client.messages.create({
    model: 'm',
    max_tokens: 10,
    stream: true,
    messages: [{role: 'user', content: 'x'}],
  });
  let json = '';
  for await (const event of stream) {
    if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
      json += event.delta.partial_json;
  }
  expect(json).toBe('{"path": "src/');
});

test('a status is an API error with its headers', async () => {
  const {ask} = await start([status(529, {retryAfter: 7}), status(401)]);
  const overloaded = await ask('a').catch((error: unknown) => error);
  expect(overloaded).toBeInstanceOf(APIError);
  expect(overloaded).toMatchObject({status: 529});
  expect((overloaded as APIError).headers?.get('retry-after')).toBe('7');
  await expect(ask('b')).rejects.toMatchObject({status: 401});
});

test('a cut stream breaks off, an error event ends it, an empty one has no message', async () => {
  const {ask} = await start([cut(4), errorEvent('overloaded_error'), emptyStream()]);
  await expect(ask('a')).rejects.toThrow(/terminated|closed|reset/i);
  await expect(ask('b')).rejects.toThrow(/overloaded/i);
  await expect(ask('c')).rejects.toThrow();
});

test('a stalled and a hanging request stay open until the client goes', async () => {
  const {ask, server} = await start([stall(3), hangBeforeHeaders()]);
  const controller = new AbortController();
  const asked = [ask('a', controller.signal), ask('b', controller.signal)];
  const settled = Promise.allSettled(asked);
  await server.waitForRequests(2);
  expect(server.active).toBe(2);
  controller.abort();
  expect((await settled).map((result) => result.status)).toEqual(['rejected', 'rejected']);
  await expect.poll(() => server.active).toBe(0);
  expect(server.requests.map(({abandoned}) => abandoned)).toEqual([true, true]);
});

test('requests under way at the same time are counted, and a slow reply takes its time', async () => {
  const {ask, server} = await start(() => slow(say('abc'), 20));
  await Promise.all([ask('a'), ask('b'), ask('c')]);
  expect(server.maxActive).toBe(3);
  for (const {durationMs} of server.requests) expect(durationMs).toBeGreaterThan(80);
});

test('a script by prompt answers each agent from its own list', async () => {
  const {ask} = await start(byPrompt({explore: [say('explored')], '': [maxTokens('main')]}));
  expect(await ask('please explore')).toMatchObject({content: [{text: 'explored'}]});
  expect(await ask('else')).toMatchObject({content: [{text: 'main'}], stop_reason: 'max_tokens'});
});

test('a request beyond the script is refused with a message that says so', async () => {
  const {ask} = await start([]);
  await expect(ask('a')).rejects.toThrow('the script of the model has no reply 1');
});

test('tool results are read from the last message', () => {
  const content = [{type: 'tool_result', tool_use_id: 'a', content: [{type: 'text', text: 'no'}], is_error: true}];
  const body = {model: 'm', max_tokens: 1, messages: [{role: 'user' as const, content}]};
  expect(getToolResults(body)).toEqual([{id: 'a', text: 'no', isError: true}]);
});

test('a prompt cache is read from the second request on', async () => {
  const {client} = await start(() => say('ok'));
  const request = {
    model: 'm',
    max_tokens: 1,
    system: [{type: 'text' as const, text: 'Be brief. '.repeat(500), cache_control: {type: 'ephemeral' as const}}],
    messages: [{role: 'user' as const, content: 'x'}],
  };
  const first = await client.messages.create(request);
  const second = await client.messages.create(request);
  expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(1_024);
  expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
});

test('a prompt cache is found at most 20 blocks before a mark, and not below 1,024 tokens', async () => {
  const {client} = await start(() => say('ok'));
  const text = (words: string) => ({type: 'text' as const, text: words});
  const ask = async (blocks: number, words: string) => {
    const content = Array.from({length: blocks}, (_, index) => text(`${words} ${index}`));
    const marked = [...content.slice(0, -1), {...content.at(-1)!, cache_control: {type: 'ephemeral' as const}}];
    const {usage} = await client.messages.create({
      model: 'm',
      max_tokens: 1,
      messages: [{role: 'user', content: marked}],
    });
    return usage.cache_read_input_tokens;
  };
  const long = 'x'.repeat(5_000);
  expect([await ask(1, long), (await ask(21, long)) !== 0, await ask(42, long), (await ask(42, long)) !== 0]).toEqual([
    ...[0, true, 0, true],
  ]);
  expect([await ask(1, 'short'), await ask(1, 'short')]).toEqual([0, 0]);
});
