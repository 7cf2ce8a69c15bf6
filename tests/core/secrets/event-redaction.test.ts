import {describe, expect, it} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {StreamEvent} from '../../../src/core/contract/model.ts';
import {EventRedaction} from '../../../src/core/secrets/event-redaction.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';

const KEY = 'sk-1234567890';
const create = () => new EventRedaction(new Redactor([{name: 'SOME_KEY', value: KEY}]));
const said = (text: string): AgentEventBody => ({type: 'text_delta', text});
const thought = (text: string): AgentEventBody => ({type: 'thinking_delta', text});
const notice = (text: string): AgentEventBody => ({type: 'notice', level: 'info', text});
const end: AgentEventBody = {type: 'retry', waitMs: 1, reason: '500', attempt: 2};
const delta = (text: string, index = 0): AgentEventBody => ({
  type: 'stream',
  event: {type: 'content_block_delta', index, delta: {type: 'text_delta', text}} as StreamEvent,
});
const stop = (index = 0): AgentEventBody => ({
  type: 'stream',
  event: {type: 'content_block_stop', index} as StreamEvent,
});

describe('the events of a run', () => {
  it('have no key, also where it comes in pieces', () => {
    const redaction = create();
    const shown = [said('a sk-1234'), said('567890 b'), notice(KEY)].flatMap((event) => redaction.redact('a', event));
    const text = JSON.stringify(shown);
    expect(text).not.toContain(KEY);
    expect(text.match(/SOME_KEY/g)).toHaveLength(2);
    expect(shown.flatMap((event) => (event.type === 'text_delta' ? [event.text] : [])).join('')).toMatch(
      /^a .*SOME_KEY.* b$/,
    );
  });

  it('come in the order of the text: what waits is told when the other kind begins, and at the end of the reply', () => {
    const redaction = create();
    expect(redaction.redact('a', said('wait sk-12'))).toEqual([said('wait ')]);
    expect(redaction.redact('a', thought('hm sk-'))).toEqual([said('sk-12'), thought('hm ')]);
    expect(redaction.redact('a', notice('hello'))).toEqual([notice('hello')]);
    expect(redaction.redact('a', end)).toEqual([thought('sk-'), end]);
    expect(redaction.redact('a', end)).toEqual([end]);
  });

  it('of two agents do not touch each other', () => {
    const redaction = create();
    redaction.redact('a', said('sk-12'));
    expect(redaction.redact('b', said('34567890'))).toEqual([said('34567890')]);
    expect(redaction.redact('b', end)).toEqual([end]);
    expect(redaction.redact('a', end)).toEqual([said('sk-12'), end]);
  });

  it('of the raw stream wait for the end of their block, and are forgotten with a reply that failed', () => {
    const redaction = create();
    expect(redaction.redact('a', delta('x sk-12'))).toEqual([delta('x ')]);
    expect(redaction.redact('a', delta('sk', 1))).toEqual([]);
    expect(redaction.redact('a', stop())).toEqual([delta('sk-12'), stop()]);
    expect(redaction.redact('a', stop())).toEqual([stop()]);
    redaction.redact('a', delta('sk-12'));
    expect(redaction.redact('a', end)).toEqual([end]);
    expect(redaction.redact('a', stop())).toEqual([stop()]);
  });

  it('are the same objects where no key is known', () => {
    const event = said('sk-12');
    expect(new EventRedaction(new Redactor([])).redact('a', event)[0]).toBe(event);
  });
});
