/** Repeats failed calls and reports each retry. The SDK's own retries are silent, without a limit, and do not cover the stream. */
import {setTimeout as sleep} from 'node:timers/promises';
import type {ModelProgress} from '../core/contract/model.ts';
import {ModelError} from '../core/util/errors.ts';

export interface RetryPolicy {
  /** How many calls are made at most. */
  readonly maxAttempts: number;
  /** How long all waits together may take. */
  readonly maxWaitSeconds: number;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;

/**
 * @param attempt makes one call; throws `ModelError` when it fails.
 * @throws ModelError of the last attempt; the signal's reason when it is aborted during a wait.
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
      const waitMs = getWaitMs(tries, error.details.retryAfterMs);
      // Never ask again sooner than the server wants. When that is longer than we may wait, fail at once.
      if (waitedMs + waitMs > policy.maxWaitSeconds * 1000) throw error;
      onProgress({type: 'retry', waitMs, reason: formatReason(error), attempt: tries});
      await sleep(waitMs, undefined, {signal}).catch(() => signal.throwIfAborted());
      waitedMs += waitMs;
    }
  }
}

function getWaitMs(tries: number, retryAfterMs: number | undefined): number {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MAX_WAIT_MS) * (0.75 + Math.random() * 0.5);
  return Math.max(backoff, retryAfterMs ?? 0);
}

function formatReason(error: ModelError): string {
  return error.details.status === undefined ? error.message : String(error.details.status);
}
