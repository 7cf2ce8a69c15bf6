/** Chunks as servers differ in them, and the events that they become. */
import {describe, expect, it} from 'vitest';
import type {StreamEvent} from '../../../src/core/contract/model.ts';
import {toChunk, toReplyEvents} from '../../../src/models/openai/reply-events.ts';

type Chunk = ReturnType<typeof toChunk>;

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  ({id: 'c', model: 'm', choices: [{index: 0, delta, finish_reason}], ...more}) as unknown as Chunk;
const call = (fields: object) => chunk({tool_calls: [fields]});

const read = (...chunks: readonly unknown[]) => readUpTo(false, chunks);

/** @param isMarked true when the server marks the end of the stream */
async function readUpTo(isMarked: boolean, chunks: readonly unknown[]): Promise<StreamEvent[]> {
  async function* stream() {
    yield* chunks as Chunk[];
    return isMarked;
  }
  const events: StreamEvent[] = [];
  for await (const event of toReplyEvents(stream())) events.push(event);
  return events;
}

/** Each event in short: `start 0 text`, `delta 0 hello`, `stop 0`. */
function shorten(events: readonly StreamEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'content_block_start') {
      const {content_block: block} = event;
      return [`start ${event.index} ${block.type === 'tool_use' ? `${block.id} ${block.name}` : block.type}`];
    }
    if (event.type === 'content_block_stop') return [`stop ${event.index}`];
    if (event.type !== 'content_block_delta') return [];
    const {type, ...rest} = event.delta;
    return [`delta ${event.index} ${type === 'signature_delta' ? 'seal' : Object.values(rest).join()}`];
  });
}

const getEnd = (events: readonly StreamEvent[]) => events.find((event) => event.type === 'message_delta')!;

describe('the events of a chat completion', () => {
  it('begin and end each block once, reasoning with its seal', async () => {
    const events = await read(
      chunk({reasoning: 'hm'}),
      chunk({reasoning: 'm'}),
      chunk({content: 'I '}),
      chunk({content: 'look.'}),
      call({index: 0, id: 'a', function: {name: 'look', arguments: '{"at"'}}),
      call({index: 1, id: 'b', function: {name: 'see'}}),
      call({index: 0, function: {arguments: ':1}'}}),
      chunk({content: 'So.'}, 'tool_calls'),
    );
    expect(shorten(events)).toEqual([
      ...['start 0 thinking', 'delta 0 hm', 'delta 0 m', 'delta 0 seal', 'stop 0'],
      ...['start 1 text', 'delta 1 I ', 'delta 1 look.', 'stop 1'],
      ...['start 2 a look', 'delta 2 {"at"', 'start 3 b see', 'delta 2 :1}'],
      ...['start 4 text', 'delta 4 So.', 'stop 4', 'stop 2', 'stop 3'],
    ]);
    expect(events[0]).toMatchObject({
      type: 'message_start',
      message: {id: 'c', model: 'm', role: 'assistant', content: [], usage: {input_tokens: 0, output_tokens: 0}},
    });
    expect(events.slice(-2)).toMatchObject([
      {type: 'message_delta', delta: {stop_reason: 'tool_use', stop_details: null}},
      {type: 'message_stop'},
    ]);
  });

  it.each<[string, readonly object[], readonly string[]]>([
    [
      'an id that is repeated',
      [
        {index: 0, id: 'a'},
        {index: 0, id: 'a', function: {arguments: '1'}},
      ],
      ['a'],
    ],
    [
      'another id at the same index',
      [
        {index: 0, id: 'a'},
        {index: 0, id: 'b'},
      ],
      ['a', 'b'],
    ],
    ['no index: parts go to the last call', [{id: 'a'}, {function: {arguments: '1'}}], ['a']],
    ['no index and another id', [{id: 'a'}, {id: 'b'}], ['a', 'b']],
    ['no index and an earlier id', [{id: 'a'}, {id: 'b'}, {id: 'a', function: {arguments: '1'}}], ['a', 'b']],
    [
      'null for an index',
      [
        {index: null, id: 'a'},
        {index: null, function: {arguments: '1'}},
      ],
      ['a'],
    ],
    [
      'an index alone',
      [
        {index: 0, id: 'a'},
        {index: 1, id: 'b'},
        {index: 1, function: {arguments: '1'}},
      ],
      ['a', 'b'],
    ],
  ])('tell calls apart: %s', async (_, parts, ids) => {
    const events = await read(...parts.map(call), chunk({}, 'tool_calls'));
    const began = shorten(events).filter((event) => event.startsWith('start'));
    expect(began).toEqual(ids.map((id, at) => `start ${at} ${id} `));
  });

  it('tell calls apart that have neither ids nor indexes by their names', async () => {
    const parts = [
      {function: {name: 'look', arguments: '{"at"'}},
      {function: {name: '', arguments: ':1}'}},
      {function: {name: 'look', arguments: '{"at":2}'}},
    ];
    for (const chunks of [parts.map(call), [chunk({tool_calls: parts})]]) {
      const events = shorten(await read(...chunks, chunk({}, 'tool_calls')));
      expect(events.map((event) => event.replace(/call_\w+/, 'ID'))).toEqual([
        ...['start 0 ID look', 'delta 0 {"at"', 'delta 0 :1}', 'start 1 ID look', 'delta 1 {"at":2}'],
        ...['stop 0', 'stop 1'],
      ]);
    }
  });

  it.each([
    [{content: 'x'}, 'end_turn'],
    [{tool_calls: [{index: 0, id: 'a', function: {name: 'look'}}]}, 'tool_use'],
  ])('end %j at the mark of the end, where no finish is named, by %s', async (delta, stop_reason) => {
    expect(getEnd(await readUpTo(true, [chunk(delta)])).delta).toMatchObject({stop_reason});
    await expect(readUpTo(true, [chunk({role: 'assistant'})])).rejects.toThrow('the stream ended in the middle');
  });

  it('have the input of a call as JSON, also where it came as an object', async () => {
    const events = await read(
      call({index: 0, id: 'a', function: {name: 'look', arguments: {at: 1}}}),
      chunk({}, 'stop'),
    );
    expect(shorten(events)).toContain('delta 0 {"at":1}');
  });

  it.each([
    ['stop', {content: 'x'}, 'end_turn'],
    ['length', {content: 'x'}, 'max_tokens'],
    ['content_filter', {content: 'x'}, 'refusal'],
    ['stop', {refusal: 'No.'}, 'refusal'],
    ['stop', {tool_calls: [{index: 0, id: 'a'}]}, 'tool_use'],
    ['length', {tool_calls: [{index: 0, id: 'a'}]}, 'max_tokens'],
  ])('end at the finish %s of %j by %s', async (finish, delta, stop_reason) => {
    const {delta: end} = getEnd(await read(chunk(delta), chunk({}, finish)));
    expect(end).toMatchObject({stop_reason, stop_sequence: null});
    expect(end.stop_details).toEqual('refusal' in delta ? {type: 'refusal', category: null, explanation: 'No.'} : null);
  });

  it('keep their finish, though chunks without one follow it', async () => {
    expect(getEnd(await read(chunk({}, 'length'), chunk({}))).delta.stop_reason).toBe('max_tokens');
  });

  it.each([
    [{prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: {cached_tokens: 4}}, [6, 3, 4]],
    [{prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: {cached_tokens: 40}}, [0, 3, 10]],
    [{prompt_tokens: 10, completion_tokens: 3}, [10, 3, 0]],
    [{}, [0, 0, 0]],
  ])('count the usage %j, what was cached apart', async (usage, [input, output, cached]) => {
    const {usage: counted} = getEnd(await read(chunk({content: 'x'}, 'stop'), {choices: [], usage}));
    expect(counted).toEqual({
      ...{input_tokens: input, output_tokens: output, cache_read_input_tokens: cached},
      ...{cache_creation_input_tokens: 0, server_tool_use: null},
    });
  });

  it('have an id where the server gave none', async () => {
    const [start] = await read({choices: [{finish_reason: 'stop'}]});
    expect(start).toMatchObject({message: {id: expect.stringMatching(/^chatcmpl-[\w-]{36}$/), model: ''}});
  });

  it.each([
    [[], 'the server sent an empty stream'],
    [[null], 'the stream is garbled'],
    [['text'], 'the stream is garbled'],
    [[chunk({content: 'half'})], 'the stream ended in the middle of the reply'],
  ])('are a failure that may be tried again: %j', async (chunks, message) => {
    await expect(read(...chunks)).rejects.toMatchObject({kind: 'stream', details: {retryable: true}, message});
  });

  it('come of a completion that came at once as well', async () => {
    const message = {content: 'I look.', tool_calls: [{id: 'a', function: {name: 'see', arguments: '{}'}}, {id: 'b'}]};
    const whole = {id: 'c', model: 'm', choices: [{index: 0, message, finish_reason: 'tool_calls'}]};
    const events = await read(toChunk(whole as unknown as Parameters<typeof toChunk>[0]));
    expect(shorten(events)).toEqual([
      ...['start 0 text', 'delta 0 I look.', 'stop 0', 'start 1 a see', 'delta 1 {}', 'start 2 b ', 'stop 1', 'stop 2'],
    ]);
  });
});
