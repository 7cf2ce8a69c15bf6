/** Measures time in which the machine is awake. After a sleep of the machine, each wait gets its whole time again. */
import type {Clock} from '../core/contract/results.ts';

/** Maximal milliseconds between two checks of the time, so that a sleep is noticed soon. */
const MAX_TICK_MS = 5_000;
/**
 * Milliseconds. When a timer is late by more, on either clock, the machine has slept. A busy machine is never so late.
 */
const SLEEP_MS = 10_000;

/**
 * Calls `check` repeatedly, each time after the number of milliseconds that it returned, or sooner.
 * @param check gets true when the machine has slept since the last call
 * @returns a function that ends the calls
 */
export function watchTime(clock: Clock, dueMs: number, check: (hasSlept: boolean) => number): () => void {
  let cancel: (() => void) | undefined;
  let isStopped = false;
  const arm = (ms: number) => {
    if (isStopped) return;
    const delay = Math.max(0, Math.min(ms, MAX_TICK_MS));
    const armedAt = {now: clock.now(), wall: clock.wallNow()};
    cancel = clock.setTimer(() => {
      // On some systems the monotonic clock stops during a sleep, and on others it runs on.
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

/**
 * Waits for this time without an interruption by a sleep of the machine.
 * @throws the signal's reason when it is aborted
 */
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
