/** Asks again where it may help, and says so: the SDK's own retries are silent, uncapped, and end with the headers. */
import {setTimeout as sleep} from 'node:timers/promises';
import type {ModelProgress} from '../core/contract/model.ts';
import {ModelError} from '../core/util/errors.ts';

export interface RetryPolicy {
  /** Calls in all. */
  readonly maxAttempts: number;
  /** Seconds of waiting in all. */
  readonly maxWaitSeconds: number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 20_000;

/**
 * @param attempt one call; throws `ModelError` when it fails.
 * @throws ModelError of the last attempt; the signal's reason when aborted while waiting.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  signal: AbortSignal,
  onProgress: (progress: ModelProgress) => void,
  attempt: () => Promise<T>,
): Promise<T> {
  let waitedMs = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ModelError) || !error.details.retryable || tries >= policy.maxAttempts) throw error;
      const waitMs = waitBefore(tries, error.details.retryAfterMs);
      // Never sooner than the server asked; where that is longer than we may wait, the failure is now.
      if (waitedMs + waitMs > policy.maxWaitSeconds * 1000) throw error;
      onProgress({type: 'retry', waitMs, reason: reasonFor(error), attempt: tries});
      await sleep(waitMs, undefined, {signal}).catch(() => signal.throwIfAborted());
      waitedMs += waitMs;
    }
  }
}

function waitBefore(tries: number, retryAfterMs: number | undefined): number {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (0.75 + Math.random() * 0.5);
  return Math.max(backoff, retryAfterMs ?? 0);
}

function reasonFor(error: ModelError): string {
  return error.details.status === undefined ? error.message : String(error.details.status);
}
