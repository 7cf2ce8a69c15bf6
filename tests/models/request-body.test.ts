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

  it('uses the buffer of a history again once the reply has come, and not before', () => {
    const buffers = new RequestBuffers();
    const history = [user('first')];
    const first = buffers.create(params(history));
    history.push(user('second'));
    const second = buffers.create(params(history));
    const held = getBuffer(first);
    expect(read(second)).toContain('second');
    second.release();
    history.push(user('third'));
    expect(getBuffer(buffers.create(params(history)))).not.toBe(held);
    first.release();
    expect(getBuffer(buffers.create(params(history)))).toBe(held);
  });

  it('encodes only what is new in its history, also beside those of other agents', () => {
    const buffers = new RequestBuffers();
    const histories = Array.from({length: 3}, (_, agent) => [user(`${agent} begins: ${'x'.repeat(9000)}`)]);
    for (let turn = 0; turn < 20; turn += 1) {
      const before = buffers.encoded;
      const bodies = histories.map((messages) => buffers.create(params(messages)));
      const sent = bodies.map((body) => JSON.parse(read(body)).messages);
      expect(sent).toEqual(histories);
      expect(buffers.encoded - before).toBeLessThan(turn === 0 ? 30_000 : 300);
      for (const {release} of bodies) release();
      for (const [agent, messages] of histories.entries()) messages.push(user(`${agent}: turn ${turn}`));
    }
    // A message in the middle was replaced, and the end is shorter.
    histories[1]!.splice(5, 9, user('a summary'));
    expect(JSON.parse(read(buffers.create(params(histories[1]!)))).messages).toEqual(histories[1]);
  });

  it('is sent with its length, not in chunks', async () => {
    const {server, reply} = await ask([say('ok')]);
    await reply;
    const [{headers, bytes}] = server.requests as [(typeof server.requests)[number]];
    expect(headers).toMatchObject({'content-length': String(bytes), 'content-type': 'application/json'});
    expect(headers).not.toHaveProperty('transfer-encoding');
  });
});
