/** Keys in the events that front ends get: streamed text waits only as long as it may become a key. */
import {describe, expect, it} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {StreamEvent} from '../../../src/core/contract/model.ts';
import {EventRedaction} from '../../../src/core/secrets/event-redaction.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';

const KEY = 'sk-ant-api03-0123456789';
const MARK = '[redacted: MY_KEY]';

const text = (piece: string): AgentEventBody => ({type: 'text_delta', text: piece});
const thinking = (piece: string): AgentEventBody => ({type: 'thinking_delta', text: piece});
const stream = (event: object): AgentEventBody => ({type: 'stream', event: event as StreamEvent});
const delta = (index: number, piece: string, type = 'text_delta', field = 'text'): AgentEventBody =>
  stream({type: 'content_block_delta', index, delta: {type, [field]: piece}});
const stop = (index: number): AgentEventBody => stream({type: 'content_block_stop', index});
const notice = (said: string): AgentEventBody => ({type: 'notice', level: 'info', text: said});
const END = {type: 'message', role: 'assistant', content: []} as unknown as AgentEventBody;

/** What is published of events of one agent. */
function publish(...events: readonly AgentEventBody[]): AgentEventBody[] {
  const redaction = new EventRedaction(new Redactor([{name: 'MY_KEY', value: KEY}]));
  return events.flatMap((event) => redaction.redact('a', event));
}

describe('streamed text', () => {
  it('comes as it is written, but for an end that may become a key', () => {
    expect(publish(text('hello '), text('sk-a'), text('ge of ice! '))).toEqual([
      text('hello '),
      text('sk-age of ice! '),
    ]);
  });

  it('has a mark for a key in several pieces', () => {
    expect(publish(text(`a ${KEY.slice(0, 9)}`), text(`${KEY.slice(9)} b`))).toEqual([text('a '), text(`${MARK} b`)]);
  });

  it.each([
    ['when the reply ends', END],
    ['when it is tried again', {type: 'retry', waitMs: 0, reason: '', attempt: 1} as unknown as AgentEventBody],
    ['when the run ends', {type: 'run_end'} as unknown as AgentEventBody],
  ])('that waited comes %s, once', (_, end) => {
    expect(publish(text('x sk-a'), end, end)).toEqual([text('x '), text('sk-a'), end, end]);
  });

  it('that waited comes when thinking begins, and thinking when text begins', () => {
    expect(publish(text('sk-a'), thinking('hm sk-'), text('b'))).toEqual([
      ...[text('sk-a'), thinking('hm '), thinking('sk-'), text('b')],
    ]);
  });

  it('waits although other events come', () => {
    const result = {type: 'message', role: 'user', content: []} as unknown as AgentEventBody;
    for (const other of [notice('x'), result]) {
      expect(publish(text('sk-'), other, text('x'))).toEqual([other, text('sk-x')]);
    }
  });

  it('of several agents is kept apart', () => {
    const redaction = new EventRedaction(new Redactor([{name: 'MY_KEY', value: KEY}]));
    expect(redaction.redact('a', text('sk-'))).toEqual([]);
    expect(redaction.redact('b', text('!'))).toEqual([text('!')]);
    expect(redaction.redact('b', END)).toEqual([END]);
    expect(redaction.redact('a', text('!'))).toEqual([text('sk-!')]);
  });
});

describe('raw events of a stream', () => {
  it.each([
    ['text_delta', 'text'],
    ['thinking_delta', 'thinking'],
    ['input_json_delta', 'partial_json'],
  ])('have a mark for a key in several pieces of %s', (type, field) => {
    const piece = (said: string) => delta(0, said, type, field);
    expect(publish(piece(`a ${KEY.slice(0, 9)}`), piece(`${KEY.slice(9)} b`), stop(0))).toEqual([
      ...[piece('a '), piece(`${MARK} b`), stop(0)],
    ]);
  });

  it('end a block with the text that waited, and blocks do not mix', () => {
    expect(publish(delta(0, 'sk-a'), delta(1, '!'), stop(0), stop(1), stop(0))).toEqual([
      ...[delta(1, '!'), delta(0, 'sk-a'), stop(0), stop(1), stop(0)],
    ]);
  });

  it('forget text that waited for a block without an end when the reply ends', () => {
    expect(publish(delta(0, 'sk-a'), text('!'), END, delta(0, '!'), stop(0))).toEqual([
      ...[text('!'), END, delta(0, '!'), stop(0)],
    ]);
  });

  it('of other kinds are redacted as data', () => {
    const signature = stream({type: 'content_block_delta', index: 0, delta: {type: 'signature_delta', signature: KEY}});
    expect(JSON.stringify(publish(signature))).toContain(MARK);
    const start = stream({type: 'content_block_start', index: 0, content_block: {type: 'tool_use', name: KEY}});
    expect(JSON.stringify(publish(start))).toContain(MARK);
  });
});

it('other events have marks in all their texts', () => {
  expect(publish(notice(`the key is ${KEY}`))).toEqual([notice(`the key is ${MARK}`)]);
});

it('events stay the same objects where there are no keys', () => {
  const event = text('sk-a');
  expect(new EventRedaction(new Redactor([])).redact('a', event)[0]).toBe(event);
});
