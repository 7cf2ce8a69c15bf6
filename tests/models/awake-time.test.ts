import {describe, expect, it} from 'vitest';
import {waitAwake, watchTime} from '../../src/models/awake-time.ts';
import {FakeClock} from '../core/fake-clock.ts';

describe('a wait', () => {
  const start = (ms: number) => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const seen = {ended: false};
    const wait = waitAwake(clock, ms, abort.signal).then(() => {
      seen.ended = true;
    });
    const advance = async (by: number) => {
      clock.advance(by);
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return {clock, abort, wait, seen, advance};
  };

  it('ends after its time, and leaves no timer', async () => {
    const {clock, seen, advance} = start(60_000);
    await advance(59_999);
    expect(seen.ended).toBe(false);
    await advance(1);
    expect(seen.ended).toBe(true);
    expect(clock.timers).toBe(0);
  });

  it('starts anew after the machine slept, where the monotonic clock stood still', async () => {
    const {clock, seen, advance} = start(60_000);
    await advance(50_000);
    clock.sleep(3_600_000);
    await advance(59_000);
    expect(seen.ended).toBe(false);
    await advance(10_000);
    expect(seen.ended).toBe(true);
  });

  it('starts anew after a timer that fired far too late, where the monotonic clock went on', async () => {
    const timers: (() => void)[] = [];
    let now = 0;
    const clock = {
      now: () => now,
      wallNow: () => now,
      setTimer: (callback: () => void) => {
        timers.push(callback);
        return () => undefined;
      },
    };
    const slept: boolean[] = [];
    watchTime(clock, 8_000, (hasSlept) => {
      slept.push(hasSlept);
      return 8_000;
    });
    now = 5_100;
    timers.shift()!();
    now += 3_600_000;
    timers.shift()!();
    expect(slept).toEqual([false, true]);
  });

  it('ends at once with the reason when it is aborted, and leaves no timer', async () => {
    const {clock, abort, wait} = start(60_000);
    abort.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    expect(clock.timers).toBe(0);
  });
});
