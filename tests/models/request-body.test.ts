import {describe, expect, it} from 'vitest';
import {RequestEncoder} from '../../src/models/request-body.ts';

const {signal} = new AbortController();
const REST = {model: 'm', system: 'Grüße'};

function encode(encoder: RequestEncoder, messages: readonly object[]): Buffer[] {
  const {fetchOptions} = encoder.encode({...REST, messages}, signal);
  return (fetchOptions as {body: Uint8Array[]}).body.map((piece) =>
    Buffer.from(piece.buffer, piece.byteOffset, piece.length),
  );
}

function say(text: string): object {
  return {role: 'user', content: `${text} – “ü” 🙂`};
}

describe('the body of a request', () => {
  it('is the JSON of its parameters, whatever the request before it had', () => {
    const encoder = new RequestEncoder();
    const messages = Array.from({length: 9}, (_, index) => say(`message ${index}`));
    const [a, b, c] = messages as [object, object, object];
    const conversations = [
      ...messages.map((_, index) => messages.slice(0, index + 1)),
      ...[[], [a], [a, b, say('changed'), say('more')], [a, b], [a, c, b], [c, a], messages, [...messages, {...a}]],
      ...[messages, messages.slice(0, 5), messages],
    ];
    for (const conversation of conversations) {
      const text = Buffer.concat(encode(encoder, conversation)).toString();
      expect(text).toBe(JSON.stringify({...REST, messages: conversation}));
    }
  });

  it('stays the same in memory while later requests are made, because it may still be on its way', () => {
    const encoder = new RequestEncoder();
    const messages = Array.from({length: 30}, (_, index) => say(`message ${index}`));
    const bodies = messages.map((_, index) => encode(encoder, messages.slice(0, index + 1)));
    const others = [...messages.slice(0, 12), say('another'), say('one more')];
    for (let request = 0; request < 3; request += 1) encode(encoder, others);
    for (const [index, body] of bodies.entries()) {
      const text = Buffer.concat(body).toString();
      expect(text).toBe(JSON.stringify({...REST, messages: messages.slice(0, index + 1)}));
    }
  });
});
