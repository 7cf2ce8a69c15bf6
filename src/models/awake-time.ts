/** Time in which the machine was awake. After the machine slept, what is waited for gets its whole time again. */
import type {Clock} from '../core/contract/results.ts';

/** So often the time is looked at: a sleep is noticed soon after it. Milliseconds. */
const MAX_TICK_MS = 5_000;
/** A timer that is this late, by any of the two clocks, tells that the machine slept. A busy machine is not so late. */
const SLEEP_MS = 10_000;

/**
 * Calls `check` again and again, each time after as many milliseconds as it returned, or sooner.
 * @param check gets whether the machine slept since the last call.
 * @returns a function that ends the calls.
 */
export function watchTime(clock: Clock, dueMs: number, check: (hasSlept: boolean) => number): () => void {
  let cancel: (() => void) | undefined;
  let isStopped = false;
  const arm = (ms: number) => {
    if (isStopped) return;
    const delay = Math.max(0, Math.min(ms, MAX_TICK_MS));
    const armedAt = {now: clock.now(), wall: clock.wallNow()};
    cancel = clock.setTimer(() => {
      // The monotonic clock stands still while some systems sleep, and goes on with others.
      const passed = Math.max(clock.now() - armedAt.now, clock.wallNow() - armedAt.wall);
      arm(check(passed - delay > SLEEP_MS));
    }, delay);
  };
  arm(dueMs);
  return () => {
    isStopped = true;
    cancel?.();
  };
}

/** Waits so long without a break by a sleep of the machine. @throws the signal's reason when it is aborted. */
export async function waitAwake(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let startedAt = clock.now();
  await new Promise<void>((resolve) => {
    const end = () => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = watchTime(clock, ms, (hasSlept) => {
      if (hasSlept) startedAt = clock.now();
      const leftMs = startedAt + ms - clock.now();
      if (leftMs <= 0) end();
      return leftMs;
    });
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
