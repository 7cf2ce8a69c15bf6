/** What tests wait by. They wait for events and texts; a wait for time alone states its reason. */
import {setImmediate, setTimeout as sleep} from 'node:timers/promises';

/** Limit of a wait for one thing. Machines of CI stop for seconds and are slow; a test that passes does not wait for it. */
export const PATIENCE_MS = 60_000;
const POLL_MS = 5;

/**
 * Waits for a condition that may stay false.
 * @returns whether it became true in this time
 */
export async function becomesTrue(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/**
 * Waits until the condition is true. For what tells no event: a file, a process, a server of another program. A file that is
 * gone when the condition reads it makes it false, since other programs remove theirs between a listing and a reading.
 * @throws Error that names `what`, when the time is over
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'the condition',
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  let missing: unknown;
  const look = async () => {
    try {
      missing = undefined;
      return await condition();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      missing = error;
      return false;
    }
  };
  if (await becomesTrue(look, timeoutMs)) return;
  throw new Error(`${what} did not come within ${timeoutMs} ms`, {cause: missing});
}

/**
 * Lets run what is ready: promises, immediates, and input that has arrived. For "nothing more happens", where no later event
 * proves the order; and for work that takes longer than other work.
 */
export async function settle(): Promise<void> {
  for (let step = 0; step < 10; step++) await setImmediate();
}

/**
 * Waits for time alone.
 * @param reason why no event or text can be waited for: "a question takes no keys in its first 0.3 s"
 */
export async function pause(ms: number, reason: string): Promise<void> {
  if (reason === '') throw new Error('say why no event can be waited for');
  await sleep(ms);
}

/**
 * Waits for an event, for a limited time.
 * @param what is waited for; a function gives the whole message
 * @throws Error with the message, when the time is over
 */
export async function within<T>(event: Promise<T>, ms: number, what: string | (() => string)): Promise<T> {
  const late = Promise.withResolvers<never>();
  const describe = typeof what === 'string' ? () => `${what} did not come within ${ms} ms` : what;
  const timer = setTimeout(() => late.reject(new Error(describe())), ms);
  return Promise.race([event, late.promise]).finally(() => clearTimeout(timer));
}
