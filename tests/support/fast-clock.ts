/** A clock that runs faster than the real one, so that minutes of waiting take seconds. */
import type {Clock} from '../../src/core/contract/results.ts';

/** @param speed seconds of this clock in each real second */
export function fastClock(speed: number): Clock {
  const now = () => performance.now() * speed;
  return {
    now,
    wallNow: now,
    setTimer(callback, ms, idle = false) {
      const timer = setTimeout(callback, ms / speed);
      if (idle) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}
