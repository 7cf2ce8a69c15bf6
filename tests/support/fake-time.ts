/** Time that a test moves, for code that takes no clock. See also `tests/core/fake-clock.ts`. */
import {onTestFinished, vi} from 'vitest';
import {settle} from './wait.ts';

const STEP_MS = 5;

/** Stops the timers of this process until the end of the test: only `vi.advanceTimersByTimeAsync` and `passTime` fire them. */
export function stopTimers(): void {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
  onTestFinished(() => void vi.useRealTimers());
}

/** Stops timers and clocks until the end of the test: only `passTime` moves them. */
export function stopTime(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    now: Date.now(),
  });
  onTestFinished(() => void vi.useRealTimers());
}

/** Moves stopped time in small steps; whatever a step has begun goes on before the next. */
export async function passTime(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await vi.advanceTimersByTimeAsync(Math.min(STEP_MS, ms - passed));
    await settle();
  }
}

/** Waits for the promise. Where time is stopped, it goes on meanwhile. */
export async function passTimeUntil<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  promise.then(settled, settled);
  while (!isSettled && vi.isFakeTimers()) await passTime(STEP_MS);
  return promise;
}

/** Sets the wall clock forward, where it stands still until the end of the test. */
export function passWallTime(ms: number): void {
  vi.useFakeTimers({toFake: ['Date'], now: Date.now() + ms});
  onTestFinished(() => void vi.useRealTimers());
}
