import {describe, expect, it} from 'vitest';
import {readReplyEvents} from '../../../src/models/anthropic/reply-events.ts';

const STREAM = 'text/event-stream; charset=utf-8';
const MESSAGE = {
  ...{type: 'message', id: 'a', role: 'assistant', model: 'm', usage: {output_tokens: 1}},
  ...{stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null},
};

async function read(body: string, type = STREAM): Promise<unknown[]> {
  const response = new Response(Buffer.from(body), {headers: type === '' ? {} : {'content-type': type}});
  const events: unknown[] = [];
  for await (const event of readReplyEvents(response)) events.push(event);
  return events;
}

describe('the events of a reply', () => {
  it('are those of the stream, without pings, empty data and the end mark', async () => {
    const parts = ['data: {"type":"a"}', 'event: b\ndata: {"type":"b"}', 'event: ping\ndata: {"type":"x"}'];
    const left = ['data: {"type":"ping"}', 'data: ', 'data: [DONE]'];
    expect(await read(`${[...parts, ...left].join('\n\n')}\n\n`)).toEqual([{type: 'a'}, {type: 'b'}]);
  });

  it('are made of a message that came at once', async () => {
    const content = [
      {type: 'text', text: 'a'},
      {type: 'text', text: 'b'},
    ];
    const none = {stop_reason: null, stop_sequence: null, stop_details: null};
    const {stop_reason, stop_sequence, stop_details, container, usage} = MESSAGE;
    expect(await read(JSON.stringify({...MESSAGE, content}), 'application/json')).toEqual([
      {type: 'message_start', message: {...MESSAGE, ...none, content: []}},
      {type: 'content_block_start', index: 0, content_block: content[0]},
      {type: 'content_block_stop', index: 0},
      {type: 'content_block_start', index: 1, content_block: content[1]},
      {type: 'content_block_stop', index: 1},
      {type: 'message_delta', delta: {container, stop_reason, stop_details, stop_sequence}, usage},
      {type: 'message_stop'},
    ]);
  });

  it.each([
    ['a message without content', JSON.stringify(MESSAGE), 'application/json', 'the stream is garbled'],
    ['null', 'data: null\n\n', STREAM, 'the stream is garbled'],
    ['a number', 'data: 5\n\n', STREAM, 'the stream is garbled'],
    ['an object without a type', 'data: {}\n\n', STREAM, 'the stream is garbled'],
    ['a type that is no name', 'data: {"type":5,"error":1}\n\n', STREAM, 'the stream is garbled'],
    ['a page', '<html>', 'text/html; charset=utf-8', 'the server sent text/html instead of a reply'],
  ])('are not made of %s', async (_, body, type, message) => {
    await expect(read(body, type)).rejects.toMatchObject({kind: 'stream', details: {retryable: true}, message});
  });

  it('may be none, and may come without a type', async () => {
    expect(await read('', STREAM)).toEqual([]);
    expect(await read('', '')).toEqual([]);
    expect(await read('data: {"type":"a"}\n\n', 'text/html')).toEqual([{type: 'a'}]);
  });

  it.each([['{"type":"error","error":{"type":"overloaded_error"}}'], ['{"error":{"type":"overloaded_error"}}']])(
    'are an error that the server sent: %s',
    async (sent) => {
      for (const [body, type] of [
        [`data: ${sent}\n\n`, STREAM],
        [sent, 'application/json'],
      ] as const) {
        await expect(read(body, type)).rejects.toMatchObject({status: undefined, error: JSON.parse(sent)});
      }
      expect(await read('data: {"type":"a","error":{}}\n\n')).toHaveLength(1);
    },
  );
});
