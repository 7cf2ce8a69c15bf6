import {describe, expect, it} from 'vitest';
import type {ModelReply} from '../../../src/core/contract/model.ts';
import {Tally} from '../../../src/core/turn/tally.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {FakeClock} from '../fake-clock.ts';
import {text} from '../scripted-model.ts';

const usage = (input_tokens: number) => ({...NO_USAGE, input_tokens});

function reply(words: string, input = 0): ModelReply {
  const content = words === '' ? [] : [text(words)];
  const facts = {id: 'msg', stopReason: 'end_turn' as const, model: 'm', garbledInputs: new Map<string, string>()};
  return {...facts, content, usage: usage(input)};
}

describe('the tally of a run', () => {
  it('counts the tokens of each model', () => {
    const tally = new Tally(new FakeClock());
    tally.addReply(reply('yes', 10));
    tally.addReply({...reply('yes', 3), model: 'other'});
    tally.addToolRecords([{tool: 'look', isError: false, facts: {}, used: [{usage: usage(2), model: 'm'}]}]);
    expect(tally.result({outcome: 'success'})).toMatchObject({
      ...{usage: usage(15), usageByModel: {m: usage(12), other: usage(3)}, turns: 2},
    });
  });

  it('forgets the text of an attempt that failed', () => {
    const tally = new Tally(new FakeClock());
    tally.addStreamedText('half of the');
    tally.takeStreamedText();
    tally.addStreamedText('the whole');
    expect(tally.takeStreamedText()).toBe('the whole');
    expect(tally.takeStreamedText()).toBe('');
  });

  it('returns the text of the last reply that has one', () => {
    const tally = new Tally(new FakeClock());
    tally.addReply(reply('found it'));
    tally.addReply(reply(''));
    expect(tally.result({outcome: 'success'}).text).toBe('found it');
  });

  it('joins the texts of two replies when the second one continues the first', () => {
    const tally = new Tally(new FakeClock());
    tally.addReply(reply('one'));
    tally.joinNextText();
    tally.addReply(reply('two'));
    expect(tally.result({outcome: 'success'}).text).toBe('onetwo');
    tally.addReply(reply('three'));
    expect(tally.result({outcome: 'success'}).text).toBe('three');
  });

  it('measures the time in model calls apart from the whole time', () => {
    const clock = new FakeClock();
    const tally = new Tally(clock);
    clock.advance(10);
    tally.beginCall();
    clock.advance(5);
    tally.endCall();
    clock.advance(20);
    expect(tally.result({outcome: 'success'})).toMatchObject({durationMs: 35, modelMs: 5});
  });

  it('forgets the streamed text once the whole reply is there, and when the next call begins', () => {
    const tally = new Tally(new FakeClock());
    tally.addStreamedText('streamed');
    tally.addReply(reply('whole'));
    expect(tally.takeStreamedText()).toBe('');
    tally.addStreamedText('streamed');
    tally.beginCall();
    expect(tally.takeStreamedText()).toBe('');
  });

  it('says a warning once, but shows it again where a part of the answer was shown', () => {
    const tally = new Tally(new FakeClock());
    expect(tally.result({outcome: 'success'}).warnings).toBeUndefined();
    expect([tally.addWarning('a'), tally.addWarning('a'), tally.addWarning('b')]).toEqual([true, false, true]);
    tally.addStreamedText('part');
    expect(tally.addWarning('a')).toBe(true);
    expect(tally.result({outcome: 'success'}).warnings).toEqual(['a', 'b']);
  });

  it('has the tool calls, the calls beside the conversation, and the whole time', () => {
    const clock = new FakeClock();
    clock.advance(100);
    const tally = new Tally(clock);
    const record = {tool: 'look', isError: false, facts: {}};
    tally.addToolRecords([record]);
    tally.addCall(usage(7), 'summary');
    clock.advance(20);
    expect(tally.result({outcome: 'success'})).toMatchObject({
      ...{tools: [record], usage: usage(7), usageByModel: {summary: usage(7)}, turns: 0, durationMs: 20},
    });
  });

  it('repeats data as the text of the answer', () => {
    const tally = new Tally(new FakeClock());
    tally.addReply(reply('prose'));
    expect(tally.result({outcome: 'success'}).structured).toBeUndefined();
    tally.setStructured({a: 1});
    expect(tally.result({outcome: 'success'})).toMatchObject({structured: {a: 1}, text: '{"a":1}'});
  });

  it('of a run that was cut off has the texts of all its turns, each once', () => {
    for (const [cutOff, end] of [
      ['and then', '\n\nand then'],
      ['', ''],
    ] as const) {
      const tally = new Tally(new FakeClock());
      for (const words of ['one', '', 'two', 'one']) tally.addReply(reply(words));
      tally.addCutOffText(cutOff);
      expect(tally.text).toBe(`one\n\ntwo${end}`);
    }
  });
});
