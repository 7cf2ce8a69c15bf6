/**
 * Lets a promise continue without a caller that waits for it. Each such promise needs a handler for its error, because
 * an unhandled one ends mini-cc.
 */
export function inBackground(promise: Promise<unknown>, onError: (error: unknown) => void): void {
  promise.catch(onError);
}

/** Handler for a promise that does not reject. An error is a defect, which ends mini-cc as other uncaught errors do. */
export function neverRejects(error: unknown): never {
  throw error;
}

/**
 * Runs pieces of work one after another, in the order in which they are given.
 * @returns a function that resolves with the result of its work, or rejects with its error
 */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    // The caller gets the error. The work that waits here only needs to know when this one ends.
    last = done.catch(() => undefined);
    return done;
  };
}

/** Waits for work, which goes on when the signal is aborted. @throws the signal's reason, and what the work throws */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, {once: true});
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
