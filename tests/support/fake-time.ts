/** Time that a test moves, for code that takes no clock. See also `tests/core/fake-clock.ts`. */
import {onTestFinished, vi} from 'vitest';

/** Stops the timers of this process until the end of the test: only `vi.advanceTimersByTimeAsync` fires them. */
export function stopTimers(): void {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
  onTestFinished(() => void vi.useRealTimers());
}

/** Sets the wall clock forward, where it stands still until the end of the test. */
export function passWallTime(ms: number): void {
  vi.useFakeTimers({toFake: ['Date'], now: Date.now() + ms});
  onTestFinished(() => void vi.useRealTimers());
}
