import {describe, expect, it} from 'vitest';
import type {Message} from '../../src/core/contract/model.ts';
import {type RequestBody, RequestBuffers} from '../../src/models/anthropic/request-body.ts';
import {say} from '../support/messages-server.ts';
import {ask} from './fixture.ts';

const params = (messages: Message[]) => ({model: 'm', max_tokens: 1, stream: true as const, messages});
const user = (content: string): Message => ({role: 'user', content});
const read = ({bytes}: RequestBody) => Buffer.from(bytes).toString('utf8');
const getBuffer = ({bytes}: RequestBody) => bytes.buffer;

describe('the body of a request', () => {
  it.each([
    ['no message', []],
    ['several messages', [user('a'), user('b\n"c"'), user('')]],
    ['letters of one to four bytes, and halves of a pair', [user('aü€😀\ud83d|\ude00')]],
    ['more than the buffer holds', [user('x'.repeat(70_000)), user('€'.repeat(100_000)), user('end')]],
  ])('is the JSON of the parameters, with its length in bytes: %s', async (_, messages) => {
    const body = new RequestBuffers().create(params(messages));
    const sent = read(body);
    expect(JSON.parse(sent)).toEqual(JSON.parse(JSON.stringify(params(messages))));
    expect(Buffer.byteLength(sent)).toBe(body.bytes.length);
  });

  it('takes each message of a history to JSON once', () => {
    let count = 0;
    const messages = Array.from({length: 50}, (_, index) =>
      Object.defineProperty(user(`message ${index}`), 'toJSON', {
        value() {
          count += 1;
          return {role: 'user', content: 'x'};
        },
      }),
    );
    const buffers = new RequestBuffers();
    for (let end = 1; end <= messages.length; end += 1) buffers.create(params(messages.slice(0, end))).release();
    expect(count).toBe(50);
  });

  it('uses a buffer again once the reply has come, and not before', async () => {
    const buffers = new RequestBuffers();
    const first = buffers.create(params([user('first')]));
    const second = buffers.create(params([user('second')]));
    const held = getBuffer(first);
    expect(read(second)).toContain('second');
    second.release();
    expect(getBuffer(buffers.create(params([user('third')])))).not.toBe(held);
    first.release();
    expect(getBuffer(buffers.create(params([user('fourth')])))).toBe(held);
  });

  it('is sent with its length, not in chunks', async () => {
    const {server, reply} = await ask([say('ok')]);
    await reply;
    const [{headers, bytes}] = server.requests as [(typeof server.requests)[number]];
    expect(headers).toMatchObject({'content-length': String(bytes), 'content-type': 'application/json'});
    expect(headers).not.toHaveProperty('transfer-encoding');
  });
});
