import {describe, expect, it, onTestFinished} from 'vitest';
import type {Message, ModelProgress, ModelRequest} from '../../../src/core/contract/model.ts';
import {createChatProtocol} from '../../../src/models/openai/protocol.ts';
import {type ChatOptions, type ChatServer, startChatServer} from '../../support/chat-server.ts';
import {
  callTools,
  cut,
  emptyStream,
  endEarly,
  errorEvent,
  fromModel,
  garbledEvent,
  garbledJson,
  maxTokens,
  type Reply,
  refuse,
  resetConnection,
  say,
  stall,
  status,
  thinkingThen,
  withUsage,
} from '../../support/scripted-replies.ts';
import {hello, type ModelSettings, modelAt, retries, texts, thoughts} from '../fixture.ts';

const TOOLS: ModelRequest['tools'] = [
  {name: 'look', description: 'Looks.', input_schema: {type: 'object', properties: {at: {type: 'string'}}}},
];
const ONCE = {maxWaitSeconds: 0};

async function ask(
  script: readonly Reply[],
  request: Partial<ModelRequest> = {},
  change: Partial<ModelSettings> = {},
  options: ChatOptions = {},
) {
  const server = await serve(script, options);
  const progress: ModelProgress[] = [];
  const model = modelAt({baseURL: server.url, apiKey: 'sk-own-key-123'}, {name: 'x/m', ...change}, createChatProtocol);
  const reply = model.reply(hello(request), (step) => void progress.push(step));
  reply.catch(() => undefined);
  return {server, progress, reply, body: () => server.requests.at(-1)!.body};
}

async function serve(script: readonly Reply[], options: ChatOptions = {}): Promise<ChatServer> {
  const server = await startChatServer(script, options);
  onTestFinished(server.close);
  return server;
}

describe('a request', () => {
  it('has the system prompt, the tools, the limit and the key', async () => {
    const {server, body, reply} = await ask([say('hi')], {tools: TOOLS});
    await reply;
    expect(server.requests[0]!.headers.authorization).toBe('Bearer sk-own-key-123');
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      stream_options: {include_usage: true},
      max_tokens: 1000,
      messages: [
        {role: 'system', content: 'system'},
        {role: 'user', content: 'hello'},
      ],
      tools: [
        {
          type: 'function',
          function: {name: 'look', description: 'Looks.', parameters: TOOLS[0]!.input_schema},
        },
      ],
    });
  });

  it('has calls, results with images after them, and reasoning of this turn alone', async () => {
    const png = {type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo='} as const;
    const call = (id: string) => ({type: 'tool_use', id, name: 'look', input: {at: id}}) as const;
    const thought = {type: 'thinking', thinking: 'hmm', signature: 'reasoning-1'} as const;
    const messages: Message[] = [
      {role: 'user', content: 'first'},
      {role: 'assistant', content: [thought, {type: 'text', text: 'done'}]},
      {
        role: 'user',
        content: [
          {type: 'text', text: 'look'},
          {type: 'image', source: png},
        ],
      },
      {role: 'assistant', content: [thought, {type: 'text', text: 'I look.'}, call('a'), call('b')]},
      {
        role: 'user',
        content: [
          {type: 'tool_result', tool_use_id: 'a', content: 'seen'},
          {type: 'tool_result', tool_use_id: 'b', content: [{type: 'image', source: png}]},
          {type: 'text', text: 'and go on'},
        ],
      },
    ];
    const {body, reply} = await ask([say('ok')], {messages, tools: TOOLS});
    await reply;
    const image = {type: 'image_url', image_url: {url: 'data:image/png;base64,iVBORw0KGgo='}};
    const sent = (id: string) => ({id, type: 'function', function: {name: 'look', arguments: `{"at":"${id}"}`}});
    expect(body().messages.slice(1)).toEqual([
      {role: 'user', content: 'first'},
      {role: 'assistant', content: 'done'},
      {role: 'user', content: [{type: 'text', text: 'look'}, image]},
      {role: 'assistant', content: 'I look.', tool_calls: [sent('a'), sent('b')], reasoning_content: 'hmm'},
      {role: 'tool', tool_call_id: 'a', content: 'seen'},
      {role: 'tool', tool_call_id: 'b', content: '(see the image below)'},
      {role: 'user', content: [image, {type: 'text', text: 'and go on'}]},
    ]);
  });

  it.each([
    ['off', undefined, 'none'],
    ['low', undefined, 'low'],
    ['high', undefined, 'high'],
    [undefined, undefined, undefined],
    [undefined, 0, 'none'],
    [undefined, 10_000, 'medium'],
  ] as const)('asks for thinking %s, %s tokens, by the effort %s', async (thinking, thinkingTokens, effort) => {
    const {body, reply} = await ask([say('hi')], {}, {thinking, thinkingTokens});
    await reply;
    expect(body().reasoning_effort).toBe(effort);
  });

  it('may forbid tools, and ask for JSON by a schema', async () => {
    const answerSchema = {type: 'object', properties: {}};
    const {body, reply} = await ask([say('{}')], {tools: TOOLS, mayCallTools: false, answerSchema});
    await reply;
    expect(body()).toMatchObject({
      tool_choice: 'none',
      response_format: {type: 'json_schema', json_schema: {name: 'answer', schema: answerSchema}},
    });
  });

  it.each([
    ['max_tokens', 'max_completion_tokens'],
    ['stream_options', undefined],
    ['reasoning_effort', undefined],
    ['response_format', undefined],
  ] as const)('is made again without %s where the server does not know it', async (unknown, instead) => {
    const request = {answerSchema: {type: 'object'}};
    const {server, body, reply, progress} = await ask(
      [say('no'), say('hi')],
      request,
      {thinking: 'low'},
      {unknown: [unknown]},
    );
    expect(await reply).toMatchObject({stopReason: 'end_turn'});
    expect(server.requests).toHaveLength(2);
    expect(body()).not.toHaveProperty(unknown);
    if (instead) expect(body()).toHaveProperty(instead);
    expect(retries(progress)).toBe(0);
  });
});

describe('a reply', () => {
  it('is text, with the usage that the server counted and the model that answered', async () => {
    const answer = withUsage(fromModel(say('Hello, I am here.'), 'm-2026'), {
      ...{input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 40},
    });
    const {reply, progress} = await ask([answer]);
    expect(await reply).toMatchObject({
      content: [{type: 'text', text: 'Hello, I am here.'}],
      stopReason: 'end_turn',
      usage: {input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 40, cache_creation_input_tokens: 0},
      ...{model: 'x/m-2026', asked: 'x/m'},
    });
    expect(texts(progress)).toBe('Hello, I am here.');
  });

  it.each<[string, ChatOptions]>([
    ['as OpenAI streams them', {}],
    ['without indexes, each in one chunk', {quirks: {noIndexes: true, wholeCalls: true}}],
    ['without an end mark and usage', {quirks: {noDone: true, noUsage: true}}],
    ['without a finish', {quirks: {noFinish: true}}],
    ['between comments', {quirks: {comments: true}}],
  ])('has several calls, %s', async (_, options) => {
    const answer = callTools(
      [
        {name: 'look', input: {at: 'a place with a longer name'}, id: 'c1'},
        {name: 'look', input: {at: 'b'}, id: 'c2'},
      ],
      'I look.',
    );
    const {reply} = await ask([answer], {tools: TOOLS}, {}, options);
    const {content, stopReason} = await reply;
    expect(stopReason).toBe('tool_use');
    expect(content).toEqual([
      {type: 'text', text: 'I look.', citations: null},
      {type: 'tool_use', id: 'c1', name: 'look', input: {at: 'a place with a longer name'}},
      {type: 'tool_use', id: 'c2', name: 'look', input: {at: 'b'}},
    ]);
  });

  it('gets ids for calls that have none', async () => {
    const answer = callTools([
      {name: 'look', input: {}},
      {name: 'look', input: {}},
    ]);
    const {reply} = await ask([answer], {}, {}, {quirks: {noCallIds: true}});
    const ids = (await reply).content.map((block) => block.type === 'tool_use' && block.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => /^call_\w+$/.test(String(id)))).toBe(true);
  });

  it.each([{}, {quirks: {reasoningName: 'reasoning'}}] as const)(
    'has reasoning as thinking that is its own: %j',
    async (options) => {
      const {reply, progress} = await ask([thinkingThen('What do they want?', say('Yes.'))], {}, {}, options);
      const {content} = await reply;
      expect(content).toMatchObject([
        {type: 'thinking', thinking: 'What do they want?', signature: expect.stringMatching(/^reasoning-/)},
        {type: 'text', text: 'Yes.'},
      ]);
      expect(thoughts(progress)).toBe('What do they want?');
    },
  );

  it('may come as one JSON object', async () => {
    const answer = {...callTools([{name: 'look', input: {at: 'a'}, id: 'c1'}], 'I look.'), format: 'json'} as const;
    const {reply} = await ask([answer]);
    expect(await reply).toMatchObject({
      content: [{text: 'I look.'}, {id: 'c1', input: {at: 'a'}}],
      stopReason: 'tool_use',
    });
  });

  it.each([
    ['is cut at its limit', maxTokens('half'), 'max_tokens'],
    ['is refused', refuse('no'), 'refusal'],
  ] as const)('%s', async (_, answer, stopReason) => {
    expect(await (await ask([answer])).reply).toMatchObject({stopReason});
  });

  it('keeps a call whose input is no JSON apart', async () => {
    const {reply} = await ask([garbledJson('look', '{"at": ', 'c1')]);
    expect((await reply).garbledInputs).toEqual(new Map([['c1', '{"at": ']]));
  });

  it('is over at its finish, though the connection goes on or breaks', async () => {
    const answer = say('All of it.');
    // Chunks: start, one of text, finish.
    expect(await (await ask([stall(3, answer)])).reply).toMatchObject({content: [{text: 'All of it.'}]});
    expect(await (await ask([cut(3, answer)])).reply).toMatchObject({content: [{text: 'All of it.'}]});
  });
});

describe('a failure', () => {
  it.each([
    ['a cut stream', cut(3)],
    ['a stream that ends early', endEarly(3)],
    ['a garbled chunk', garbledEvent(2)],
    ['an empty stream', emptyStream()],
    ['an error in the stream', errorEvent('server_error', 2)],
    ['a reset connection', resetConnection()],
    ['status 503', status(503)],
    ['status 429', status(429)],
  ] as const)('is tried again: %s', async (_, fault) => {
    const {reply, progress} = await ask([fault, say('again')]);
    expect(await reply).toMatchObject({content: [{text: 'again'}]});
    expect(retries(progress)).toBe(1);
  });

  it.each([
    [
      status(401, {errorType: 'invalid_api_key', message: 'Incorrect API key provided: sk-1234567890'}),
      'authentication',
    ],
    [status(429, {errorType: 'insufficient_quota', message: 'You exceeded your current quota'}), 'billing'],
    [status(404, {errorType: 'model_not_found', message: 'The model `m` does not exist'}), 'not_found'],
    [
      status(400, {
        errorType: 'context_length_exceeded',
        message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      }),
      'bad_request',
    ],
  ] as const)('is not tried again: %j', async (fault, kind) => {
    const {reply, server} = await ask([fault]);
    const error: Error = await reply.then(
      () => new Error('no failure'),
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({kind});
    expect(error.message).not.toContain('sk-1234567890');
    expect(server.requests).toHaveLength(1);
  });

  it('has the time that the server asks for', async () => {
    const {reply} = await ask([status(429, {retryAfter: 30})], {}, ONCE);
    await expect(reply).rejects.toThrow(/the server asks to wait 30 s/);
  });
});
