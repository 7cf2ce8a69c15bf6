import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {describe, expect, it} from 'vitest';
import type {StreamEvent} from '../../src/core/contract/model.ts';
import type {Clock} from '../../src/core/contract/results.ts';
import {ReplyWatch} from '../../src/models/reply-watch.ts';
import {FakeClock} from '../core/fake-clock.ts';

const start = (type: 'text' | 'thinking' | 'tool_use' = 'text') =>
  ({type: 'content_block_start', index: 0, content_block: {type, text: '', thinking: ''}}) as unknown as StreamEvent;
const text = (words: string) =>
  ({type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: words}}) as StreamEvent;
const stop: StreamEvent = {type: 'content_block_stop', index: 0};

function watched(change: {idleSeconds?: number; thinkingSeconds?: number} = {}) {
  const clock = new FakeClock();
  const outer = new AbortController();
  const watch = new ReplyWatch({idleSeconds: 0, thinkingSeconds: 600, ...change}, clock, outer.signal);
  return {clock, outer, watch};
}

/** Adds the event after each `seconds`, `times` times. */
function repeat(clock: FakeClock, watch: ReplyWatch, event: StreamEvent, seconds: number, times: number): void {
  for (let at = 0; at < times; at += 1) {
    clock.advance(seconds * 1000);
    watch.addEvent(event);
  }
}

describe('the watch of a reply', () => {
  it('ends one that has begun and brings less than 120 bytes in two minutes', () => {
    const {clock, watch} = watched();
    watch.addEvent(start());
    watch.addEvent(text('x'.repeat(5000)));
    repeat(clock, watch, text('x'), 2, 70);
    expect(watch.failure).toMatchObject({
      ...{kind: 'stream', message: 'the stream brought less than 120 bytes in 120 s'},
      details: {retryable: true},
    });
    expect(watch.signal.aborted).toBe(true);
    // Its time counts against the time for further attempts.
    expect(watch.begunAt).toBeUndefined();
    expect(clock.timers).toBe(0);
  });

  it('lets a slow one go on that brings more', () => {
    const {clock, watch} = watched();
    watch.addEvent(start());
    repeat(clock, watch, text('xx'), 1, 1200);
    expect(watch.failure).toBeUndefined();
    expect(watch.begunAt).toBe(1000);
  });

  it.each([
    ['thinking', {type: 'thinking_delta', thinking: 'hmm, hmm'}],
    ['a signature', {type: 'signature_delta', signature: 'c2lnbmF0dXJl'}],
    ['tool input', {type: 'input_json_delta', partial_json: '{"path": '}],
  ])('counts %s as content', (_, delta) => {
    const {clock, watch} = watched({thinkingSeconds: 100});
    watch.addEvent(start());
    const event = {type: 'content_block_delta', index: 0, delta} as StreamEvent;
    repeat(clock, watch, event, 5, 200);
    expect(watch.failure).toBeUndefined();
  });

  it.each([
    ['before its first content', []],
    ['in a block whose content has not begun', [start('thinking')]],
    ['between blocks', [start(), text('x'), stop]],
  ])('waits %s as long as limits.thinkingSeconds says, and then ends it for good', (_, events) => {
    const {clock, watch} = watched();
    for (const event of events) watch.addEvent(event);
    clock.advance(599_000);
    expect(watch.failure).toBeUndefined();
    clock.advance(1_000);
    expect(watch.failure).toMatchObject({
      ...{kind: 'idle', message: 'no content from the model for 600 s', details: {retryable: false}},
    });
  });

  it('ends one of which no byte comes, also in a block', () => {
    const {clock, watch} = watched({idleSeconds: 60});
    watch.addEvent(start());
    watch.addEvent(text('x'));
    clock.advance(60_000);
    expect(watch.failure).toMatchObject({kind: 'idle', message: 'no byte from the model for 60 s'});
  });

  it('names the limit that was reached, also when the time passes it between two looks at the clock', () => {
    for (const looks of [1, 2, 3, 4, 5]) {
      const fake = new FakeClock();
      // The timer fires a hair too early; each look at the clock takes a little time.
      let early = 0;
      const look = () => {
        early = Math.max(0, early - 0.01);
        return fake.now() - early;
      };
      const clock: Clock = {
        now: look,
        wallNow: fake.wallNow,
        setTimer: (callback, ms) => fake.setTimer(callback, ms),
      };
      const watch = new ReplyWatch({idleSeconds: 60, thinkingSeconds: 0}, clock, new AbortController().signal);
      watch.addEvent(start());
      watch.addEvent(text('x'));
      fake.advance(59_000);
      early = looks * 0.01;
      fake.advance(1_001);
      expect(watch.failure).toMatchObject({kind: 'idle', message: 'no byte from the model for 60 s'});
    }
  });

  it('gives all its times anew after the machine slept', () => {
    const {clock, watch} = watched({idleSeconds: 60});
    watch.addEvent(start());
    watch.addEvent(text('x'));
    clock.advance(50_000);
    clock.sleep(3_600_000);
    clock.advance(60_000);
    expect(watch.failure).toBeUndefined();
    clock.advance(5_000);
    expect(watch.failure).toMatchObject({kind: 'idle'});
  });

  it.each(['to its end', 'in part'])('keeps nothing of a body that was read %s', async (how) => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const {watch} = watched();
    const {body, chunks} = watchBody(watch);
    for await (const _ of chunks) if (how === 'in part') break;
    expect(await chunks.next()).toEqual({done: true, value: undefined});
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(body.deref()).toBeUndefined();
    watch.stop();
  });

  it('has no limits where the settings name none', () => {
    const {clock, watch} = watched({thinkingSeconds: 0});
    clock.advance(86_400_000);
    expect(watch.failure).toBeUndefined();
    watch.stop();
    expect(clock.timers).toBe(0);
  });
});

/** Has the watch follow a body of two chunks. A function of its own, so that no variable of the test keeps the body. */
function watchBody(watch: ReplyWatch) {
  async function* read() {
    yield new Uint8Array(1);
    yield new Uint8Array(1);
  }
  const body = read();
  const response = watch.watchBytes({status: 200, headers: new Headers(), body} as unknown as Response);
  return {
    body: new WeakRef<object>(body),
    chunks: response.body as unknown as AsyncIterableIterator<Uint8Array>,
  };
}
