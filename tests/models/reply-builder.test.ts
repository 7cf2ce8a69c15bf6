import {describe, expect, it, onTestFinished} from 'vitest';
import type {ModelProgress, StreamEvent} from '../../src/core/contract/model.ts';
import {ReplyBuilder} from '../../src/models/reply-builder.ts';
import {
  callTool,
  fromModel,
  rawEvents,
  say,
  stall,
  startMessagesServer,
  thinkingThen,
} from '../support/messages-server.ts';
import {signThought} from '../support/request-rules.ts';
import {ask, hello, modelAt, text, texts, thoughts} from './fixture.ts';

describe('a reply', () => {
  const start = (message: object = {}) => ({
    type: 'message_start',
    message: {id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: {}, ...message},
  });
  const block = (index: number, content_block: object) => ({type: 'content_block_start', index, content_block});
  const delta = (index: number, delta: object) => ({type: 'content_block_delta', index, delta});
  const end = (usage: object = {output_tokens: 1}, stop_reason: string | null = 'end_turn') => [
    {type: 'message_delta', delta: {stop_reason}, usage},
    {type: 'message_stop'},
  ];

  it('keeps a thought as it was signed, in its place, and shows it while it comes', async () => {
    const thinking = 'First the one thing, then the other, and at the end both.';
    const {reply, progress} = await ask([thinkingThen(thinking, say('Done.'))]);
    expect((await reply).content).toEqual([
      {type: 'thinking', thinking, signature: signThought(thinking)},
      {type: 'text', text: 'Done.'},
    ]);
    expect(thoughts(progress)).toBe(thinking);
    expect(texts(progress)).toBe('Done.');
  });

  it('keeps a redacted thought as it came', async () => {
    const redacted = {type: 'redacted_thinking' as const, data: 'ZGF0YQ=='};
    const {reply} = await ask([{...say('Done.'), blocks: [redacted, {type: 'text', text: 'Done.'}]}]);
    expect((await reply).content).toEqual([redacted, {type: 'text', text: 'Done.'}]);
  });

  it('has no empty text block: the server refuses one that comes back', async () => {
    const {reply} = await ask([callTool('bash', {command: 'ls'}, 'toolu_1', '')]);
    expect((await reply).content).toMatchObject([{type: 'tool_use', id: 'toolu_1'}]);
  });

  it('has the text that a block begins with, and shows it', async () => {
    const events = [
      start(),
      block(0, {type: 'text', text: 'So '}),
      delta(0, {type: 'text_delta', text: 'far.'}),
      ...end(),
    ];
    const {reply, progress} = await ask([rawEvents(...events)]);
    expect((await reply).content).toEqual([{type: 'text', text: 'So far.'}]);
    expect(texts(progress)).toBe('So far.');
  });

  it('has the blocks that its start brings', async () => {
    const {reply} = await ask([rawEvents(start({content: [text('whole')]}), ...end())]);
    expect((await reply).content).toEqual([text('whole')]);
  });

  it('leaves out indexes that the server leaves out', async () => {
    const {reply} = await ask([rawEvents(start(), block(0, text('a')), block(3, text('b')), ...end())]);
    expect((await reply).content).toEqual([text('a'), text('b')]);
  });

  it('keeps citations', async () => {
    const citation = {type: 'char_location', cited_text: 'x'};
    const cited = delta(0, {type: 'citations_delta', citation});
    const {reply} = await ask([rawEvents(start(), block(0, {...text('a'), citations: null}), cited, cited, ...end())]);
    expect((await reply).content).toEqual([{...text('a'), citations: [citation, citation]}]);
  });

  it('takes the input of a call that brings no JSON from its block', async () => {
    const call = {type: 'tool_use', id: 'toolu_1', name: 'look', input: {}};
    const nothing = delta(0, {type: 'input_json_delta', partial_json: ''});
    const {reply} = await ask([rawEvents(start(), block(0, call), nothing, ...end({}, 'tool_use'))]);
    expect(await reply).toMatchObject({content: [call], garbledInputs: new Map()});
  });

  it('counts usage as totals: a later count replaces an earlier one, a missing one does not', async () => {
    const usage = {input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 50, cache_creation_input_tokens: 3};
    const last = {output_tokens: 20, input_tokens: null, cache_read_input_tokens: 60};
    const {reply, progress} = await ask([rawEvents(start({usage}), block(0, text('a')), ...end(last))]);
    const total = {...usage, output_tokens: 20, cache_read_input_tokens: 60};
    expect((await reply).usage).toEqual(total);
    const counts = progress.flatMap((step) => (step.type === 'usage' && step.isCounted ? [step.usage] : []));
    expect([counts[0], counts.at(-1)]).toEqual([{...usage, cost_estimated: true}, total]);
  });

  it('estimates what the server did not count: the request as it was estimated, the content by its length', async () => {
    const asked = {inputTokens: 700};
    const {reply, progress} = await ask(
      [rawEvents(start({usage: undefined}), block(0, text('a'.repeat(401))), ...end({}))],
      {},
      asked,
    );
    const estimated = {input_tokens: 700, output_tokens: 101, cost_estimated: true};
    expect((await reply).usage).toMatchObject(estimated);
    expect(progress[0]).toMatchObject({type: 'usage', usage: {input_tokens: 700, output_tokens: 0}, isCounted: false});
    expect(progress.filter(({type}) => type === 'warning')).toEqual([
      {type: 'warning', text: expect.stringMatching(/^The server of m reported no usage: .* is estimated/)},
    ]);
  });

  it('does not add a usage that cannot be true, and says it once', async () => {
    const usage = {input_tokens: -7, output_tokens: 1, cache_read_input_tokens: 1e15, cache_creation_input_tokens: 2.5};
    const odd = () => rawEvents(start({usage}), block(0, text('a'.repeat(40))), ...end({output_tokens: 'many'}));
    const server = await startMessagesServer([odd(), odd()]);
    onTestFinished(server.close);
    const [model, progress] = [modelAt({baseURL: server.url, apiKey: 'key'}), [] as ModelProgress[]];
    const askOnce = () => model.reply(hello({inputTokens: 700}), (step) => void progress.push(step));
    const estimated = {input_tokens: 700, output_tokens: 10, cache_read_input_tokens: 0, cost_estimated: true};
    for (const reply of [await askOnce(), await askOnce()]) expect(reply.usage).toMatchObject(estimated);
    expect(progress.flatMap((step) => (step.type === 'warning' ? [step.text] : []))).toEqual([
      expect.stringMatching(/a usage that cannot be true \(input_tokens: -7, .*output_tokens: "many"\)/),
    ]);
  });

  it('names the model that answered, or else the one that was asked', async () => {
    expect((await (await ask([fromModel(say('ok'), 'other')])).reply).model).toBe('other');
    const nameless = rawEvents(start({model: ''}), block(0, text('a')), ...end());
    expect((await (await ask([nameless])).reply).model).toBe('m');
  });

  it('gives every event of the stream on as it came', async () => {
    const {reply, progress} = await ask([say('ok')]);
    await reply;
    const types = progress.flatMap((step) => (step.type === 'raw' ? [step.event.type] : []));
    expect(types).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
  });

  const build = (...events: readonly unknown[]) => {
    const builder = new ReplyBuilder();
    for (const event of events) builder.add(event as StreamEvent);
    return builder.finish('fallback');
  };

  it('has its text, thoughts and inputs each from the deltas of their own kind', () => {
    const call = {type: 'tool_use', id: 'a', name: 'look', input: {}};
    const reply = build(
      start(),
      block(0, {type: 'thinking', thinking: '', signature: ''}),
      ...[delta(0, {type: 'thinking_delta', thinking: 'hm'}), delta(0, {type: 'text_delta', text: 'no'})],
      ...[delta(0, {type: 'signature_delta', signature: 's'}), delta(0, {type: 'citations_delta', citation: 1})],
      block(1, text('a')),
      ...[delta(1, {type: 'thinking_delta', thinking: 'no'}), delta(1, {type: 'signature_delta', signature: 'no'})],
      ...[delta(1, {type: 'input_json_delta', partial_json: '{}'}), delta(1, {type: 'unknown_delta'})],
      block(2, call),
      ...[
        delta(2, {type: 'input_json_delta', partial_json: '{"at"'}),
        delta(2, {type: 'input_json_delta', partial_json: ':1}'}),
      ],
      block(3, {...call, id: 'b', type: 'server_tool_use'}),
      delta(3, {type: 'input_json_delta', partial_json: '{"q":'}),
      ...end(),
    );
    expect(reply.content).toEqual([
      {type: 'thinking', thinking: 'hm', signature: 's'},
      text('a'),
      {...call, input: {at: 1}},
      {...call, id: 'b', type: 'server_tool_use'},
    ]);
    expect(reply.garbledInputs).toEqual(new Map([['b', '{"q":']]));
  });

  it('has what the server says of a refusal, wherever it says it', () => {
    const refusal = {category: 'cyber', explanation: 'No.'};
    const refused = (stop_details: unknown) => ({
      ...{type: 'message_delta', delta: {stop_reason: 'refusal', stop_details}, usage: {}},
    });
    expect(build(start(), refused(refusal)).refusal).toEqual(refusal);
    expect(build(start(), refused({category: null, explanation: 'No.'})).refusal).toEqual({explanation: 'No.'});
    expect(build(start(), refused({category: 'cyber'})).refusal).toEqual({category: 'cyber'});
    expect(build(start(), refused(undefined))).toMatchObject({stopReason: 'refusal', refusal: {}});
    expect(build(start({stop_reason: 'refusal', stop_details: refusal})).refusal).toEqual(refusal);
    expect(build(start(), ...end())).not.toHaveProperty('refusal');
  });

  it('counts searches and what was cached for an hour only where there were some', () => {
    const usage = (searches: number | null, hour: number | null) => ({
      server_tool_use: {web_search_requests: searches},
      cache_creation: {ephemeral_1h_input_tokens: hour},
    });
    expect(build(start({usage: usage(1, 5)}), ...end()).usage).toMatchObject({
      ...{web_search_requests: 1, cache_creation_1h_input_tokens: 5},
    });
    for (const none of [usage(0, 0), usage(null, null), {server_tool_use: null}]) {
      expect(Object.keys(build(start({usage: none}), ...end()).usage)).toEqual([
        ...['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
      ]);
    }
  });

  it('is whole with a reason to stop, or with the last event', () => {
    const stopped = {type: 'message_delta', delta: {stop_reason: 'max_tokens'}, usage: {}};
    expect(build(start(), stopped, {type: 'message_delta', delta: {}, usage: {}}).stopReason).toBe('max_tokens');
    expect(build(start(), {type: 'message_stop'}).stopReason).toBeNull();
    // One of both is enough for a stream that is not empty.
    expect(build(start({id: ''}), block(0, text('a')), ...end()).content).toEqual([text('a')]);
  });

  it.each([
    ['a start without its message', {type: 'message_start'}],
    ['a block without a type', block(0, {})],
    ['a block that is none', {type: 'content_block_start', index: 0}],
  ])('is not made of %s', (_, event) => {
    expect(() => build(start(), event)).toThrow(/^the stream is garbled$/);
  });

  it.each([
    ['that ends in the middle', [start(), block(0, {type: 'text', text: 'half'})], /ended in the middle of the reply/],
    ['without an event', [], /empty stream/],
    ['with a delta for no block', [start(), delta(0, {type: 'text_delta', text: 'x'}), ...end()], /not started/],
  ] as const)('is not made of a stream %s', async (_, events, words) => {
    const {reply} = await ask([rawEvents(...events)], {maxWaitSeconds: 0});
    await expect(reply).rejects.toMatchObject({kind: 'stream', message: expect.stringMatching(words)});
  });

  it('is not made of a stream that was aborted before its last event', async () => {
    const abort = new AbortController();
    const all = say('whole');
    const {reply, progress} = await ask([stall(5, all)], {}, {signal: abort.signal});
    await expect.poll(() => progress.filter((step) => step.type === 'raw')).toHaveLength(5);
    abort.abort(new Error('enough'));
    await expect(reply).rejects.toThrow('enough');
  });
});
