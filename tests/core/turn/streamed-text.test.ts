import {describe, expect, it} from 'vitest';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {History} from '../../../src/core/turn/history.ts';
import {StreamedReply} from '../../../src/core/turn/transcript-writing.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {FakeClock} from '../fake-clock.ts';

describe('the text of a reply that streams', () => {
  function stream() {
    const lines: TranscriptEntry[] = [];
    const clock = new FakeClock();
    const text = new StreamedReply(new History({append: (line) => void lines.push(line)}), clock);
    const written = () => lines.map((line) => (line.type === 'partial' ? [line.text, line.start ?? false] : line.type));
    return {clock, text, written};
  }

  it('is in the transcript 0.3 s after it came, each part once', () => {
    const {clock, text, written} = stream();
    text.add('one ');
    clock.advance(200);
    text.add('two ');
    clock.advance(99);
    expect(written()).toEqual([]);
    clock.advance(1);
    expect(written()).toEqual([['one two ', true]]);
    clock.advance(1_000);
    text.add('three');
    clock.advance(300);
    expect(written()).toEqual([
      ['one two ', true],
      ['three', false],
    ]);
  });

  it('takes the place of what was written when the reply begins anew', () => {
    const {clock, text, written} = stream();
    text.add('wrong');
    clock.advance(300);
    text.add(' and more');
    text.restart();
    text.restart();
    clock.advance(300);
    text.add('right');
    clock.advance(300);
    expect(written()).toEqual([
      ['wrong', true],
      ['', true],
      ['right', true],
    ]);
  });

  it('is written no more once the reply has ended: the whole message follows', () => {
    const {clock, text, written} = stream();
    text.add('all of it');
    text.end();
    clock.advance(1_000);
    expect([written(), clock.timers]).toEqual([[], 0]);
  });
});

describe('what a reply has used so far', () => {
  const used = (output_tokens: number) => ({usage: {...NO_USAGE, output_tokens}, model: 'm'});

  function stream() {
    const lines: number[] = [];
    const clock = new FakeClock();
    const note = (line: TranscriptEntry) => {
      if (line.type === 'usage_so_far') lines.push(line.usage.output_tokens);
    };
    return {clock, lines, reply: new StreamedReply(new History({append: note}), clock)};
  }

  it('is in the transcript at once when the request was sent, and then every 0.3 s', () => {
    const {clock, lines, reply} = stream();
    reply.count(used(1));
    expect(lines).toEqual([1]);
    for (const tokens of [2, 3]) reply.count(used(tokens));
    clock.advance(300);
    expect(lines).toEqual([1, 3]);
    // A crash must not lose much of a fast reply.
    reply.count(used(1_000));
    expect(lines).toEqual([1, 3, 1_000]);
  });

  it('is taken back when the call fails, but not when a line has what it used', () => {
    const {clock, lines, reply} = stream();
    reply.count(used(1));
    reply.restart();
    expect(lines).toEqual([1, 0]);
    reply.count(used(2));
    reply.settle();
    reply.end();
    clock.advance(1_000);
    expect(lines).toEqual([1, 0, 2]);
  });
});
