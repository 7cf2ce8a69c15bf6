import {describe, expect, it} from 'vitest';
import {Deadline, systemClock} from '../../../src/core/turn/run-limits.ts';
import {FakeClock} from '../fake-clock.ts';

describe('the deadline of a run', () => {
  function start(limitMs: number) {
    const clock = new FakeClock();
    const world = {ends: 0};
    const deadline = new Deadline(clock, limitMs, () => {
      world.ends += 1;
    });
    return {clock, world, deadline};
  }

  it('ends the run once, when its time is used up', () => {
    const {clock, world, deadline} = start(1_000);
    clock.advance(899);
    expect([world.ends, deadline.isReportDue]).toEqual([0, false]);
    clock.advance(1);
    expect([world.ends, deadline.isReportDue]).toEqual([0, true]);
    clock.advance(100);
    expect(world.ends).toBe(1);
    clock.advance(5_000);
    expect(world.ends).toBe(1);
  });

  it('does not count while it is paused, until as many pauses have ended as began', () => {
    const {clock, world, deadline} = start(1_000);
    clock.advance(400);
    deadline.pause();
    clock.advance(5_000);
    deadline.pause();
    clock.advance(5_000);
    deadline.resume();
    clock.advance(5_000);
    expect([world.ends, deadline.usedMs]).toEqual([0, 400]);
    deadline.resume();
    clock.advance(599);
    expect([world.ends, deadline.usedMs]).toEqual([0, 999]);
    clock.advance(1);
    expect(world.ends).toBe(1);
  });

  it('ends nothing after it was stopped, also when a pause ends then', () => {
    const {clock, world, deadline} = start(1_000);
    clock.advance(400);
    deadline.pause();
    deadline.stop();
    deadline.resume();
    clock.advance(5_000);
    expect([world.ends, deadline.usedMs, clock.timers]).toEqual([0, 400, 0]);
  });

  it('with a limit of 0 counts the time, and never ends the run', () => {
    const {clock, world, deadline} = start(0);
    clock.advance(5_000);
    expect([world.ends, deadline.usedMs, deadline.isReportDue, clock.timers]).toEqual([0, 5_000, false, 0]);
  });
});

it('a timer of the system clock that is longer than Node can wait does not fire at once', async () => {
  let fired = 0;
  const cancel = systemClock.setTimer(() => {
    fired += 1;
  }, 2 ** 31);
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, 2));
  cancel();
  expect(fired).toBe(0);
});
