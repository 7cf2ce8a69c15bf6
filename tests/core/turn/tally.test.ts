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
  it('counts the tokens of a failed attempt once, and returns them', () => {
    const tally = new Tally(new FakeClock());
    tally.setAttemptUsage(usage(5), 'm');
    tally.setAttemptUsage(usage(8), 'm');
    expect(tally.abandonAttempt()).toEqual({usage: usage(8), model: 'm'});
    expect(tally.abandonAttempt()).toBeUndefined();
    expect(tally.result({outcome: 'success'})).toMatchObject({usage: usage(8), usageByModel: {m: usage(8)}});
  });

  it('counts a reply in place of what its attempt had used so far', () => {
    const tally = new Tally(new FakeClock());
    tally.setAttemptUsage(usage(8), 'm');
    tally.addReply(reply('yes', 10));
    expect(tally.abandonAttempt()).toBeUndefined();
    expect(tally.result({outcome: 'success'}).usage).toEqual(usage(10));
  });

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
    tally.abandonAttempt();
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
});
