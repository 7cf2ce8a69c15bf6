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
