/**
 * Repeats failed calls and reports each retry. The SDK's own retries are silent and unlimited, and do not cover the
 * stream.
 */
import type {ModelProgress} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {ModelError} from '../core/util/errors.ts';
import {waitAwake} from './awake-time.ts';

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** Milliseconds. With less time left, no further attempt is made. */
const MIN_WAIT_MS = 100;
/** Milliseconds after which a server on this machine is given up that refuses connections: it does not run. */
const REFUSED_HERE_MS = 5_000;

export interface Attempt {
  /** Time by the clock when content of the reply began to arrive. It is set when the attempt ends. */
  begunAt?: number | undefined;
}

interface Retries {
  /**
   * Seconds that one call may take without success after its first attempt failed. The number of attempts does not
   * matter.
   */
  readonly maxWaitSeconds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ModelProgress) => void;
}

/**
 * Calls until one call succeeds or the time is over.
 * @param call makes one call, and throws `ModelError` when it fails. The time of a reply that began does not count: it
 * may be long, and the connection worked.
 * @throws ModelError of the last attempt; the signal's reason when it is aborted during a wait
 */
export async function withRetries<T>(
  {maxWaitSeconds, clock, signal, onProgress}: Retries,
  call: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  let leftMs = maxWaitSeconds * 1000;
  let refusedFor = 0;
  for (let tries = 1; ; tries += 1) {
    const startedAt = clock.now();
    const attempt: Attempt = {};
    try {
      return await call(attempt);
    } catch (error) {
      if (!(error instanceof ModelError) || !error.details.retryable) throw error;
      if (tries > 1) leftMs -= (attempt.begunAt ?? clock.now()) - startedAt;
      const {retryAfterMs = 0, isRefusedHere, words} = error.details;
      if (isRefusedHere && refusedFor + MIN_WAIT_MS > REFUSED_HERE_MS) throw giveUp(error, ': it does not seem to run');
      // The next attempt must not come sooner than the server wants.
      if (retryAfterMs > 0 && retryAfterMs > leftMs) {
        throw giveUp(error, `; the server asks to wait ${Math.ceil(retryAfterMs / 1000)} s`);
      }
      if (leftMs < MIN_WAIT_MS) throw error;
      const room = isRefusedHere ? Math.min(leftMs, REFUSED_HERE_MS - refusedFor) : leftMs;
      const waitMs = Math.max(Math.min(getBackoffMs(tries), room), retryAfterMs);
      refusedFor = isRefusedHere ? refusedFor + waitMs : 0;
      const reason = formatReason(error);
      onProgress({type: 'retry', waitMs, reason, ...(words !== undefined && {words}), attempt: tries + 1});
      await waitAwake(clock, waitMs, signal);
      leftMs -= waitMs;
    }
  }
}

/**
 * Returns the wait in milliseconds. It is random in part, so that agents that failed together do not ask together
 * again.
 */
function getBackoffMs(tries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MAX_WAIT_MS) * (0.75 + Math.random() * 0.5);
}

/** Returns the error that ends the retries, with the reason. */
function giveUp(error: ModelError, why: string): ModelError {
  return new ModelError(error.kind, `${error.message}${why}`, {...error.details, retryable: false}, {cause: error});
}

export function formatReason(error: ModelError): string {
  return error.details.status === undefined ? error.message : String(error.details.status);
}
