/** Repeats failed calls and reports each retry. The SDK's own retries are silent, without a limit, and do not cover the stream. */
import type {ModelProgress} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {ModelError} from '../core/util/errors.ts';
import {waitAwake} from './awake-time.ts';

export interface RetryPolicy {
  /** How long one call may be without success after its first attempt failed. Attempts are not counted. */
  readonly maxWaitSeconds: number;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** With less time left, no further attempt is made. */
const MIN_WAIT_MS = 100;

export interface Attempt {
  /** When the reply began to bring content, by the clock. Set when the attempt ends. */
  begunAt?: number | undefined;
}

interface Retries {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ModelProgress) => void;
}

/**
 * @param call makes one call; throws `ModelError` when it fails. The time of a reply that began does not count: it may
 *   be long, and the connection was there.
 * @throws ModelError of the last attempt; the signal's reason when it is aborted during a wait.
 */
export async function withRetries<T>(
  {policy, clock, signal, onProgress}: Retries,
  call: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  let leftMs = policy.maxWaitSeconds * 1000;
  for (let tries = 1; ; tries += 1) {
    const startedAt = clock.now();
    const attempt: Attempt = {};
    try {
      return await call(attempt);
    } catch (error) {
      if (!(error instanceof ModelError) || !error.details.retryable) throw error;
      if (tries > 1) leftMs -= (attempt.begunAt ?? clock.now()) - startedAt;
      const {retryAfterMs = 0} = error.details;
      // Never ask again sooner than the server wants.
      if (retryAfterMs > 0 && retryAfterMs > leftMs) throw describeWait(error, retryAfterMs);
      if (leftMs < MIN_WAIT_MS) throw error;
      const waitMs = Math.max(Math.min(getBackoffMs(tries), leftMs), retryAfterMs);
      onProgress({type: 'retry', waitMs, reason: formatReason(error), attempt: tries + 1});
      await waitAwake(clock, waitMs, signal);
      leftMs -= waitMs;
    }
  }
}

/** Jitter keeps agents that failed together from asking together again. */
function getBackoffMs(tries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MAX_WAIT_MS) * (0.75 + Math.random() * 0.5);
}

function describeWait(error: ModelError, retryAfterMs: number): ModelError {
  const message = `${error.message}; the server asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return new ModelError(error.kind, message, {...error.details, retryable: false}, {cause: error});
}

function formatReason(error: ModelError): string {
  return error.details.status === undefined ? error.message : String(error.details.status);
}
