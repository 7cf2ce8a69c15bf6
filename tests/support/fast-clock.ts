/** A clock that runs faster than the real one, so that minutes of waiting take seconds. */
import type {Clock} from '../../src/core/contract/results.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';

/** @param speed seconds of this clock in each real second */
export function fastClock(speed: number): Clock {
  const now = () => performance.now() * speed;
  return {
    now,
    wallNow: now,
    setTimer: (callback, ms, idle) => systemClock.setTimer(callback, ms / speed, idle),
  };
}
