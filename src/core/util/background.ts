/**
 * Lets a promise go on by itself, where nobody waits for it. Every such promise says what becomes of its error: an
 * unhandled one ends mini-cc.
 */
export function inBackground(promise: Promise<unknown>, onError: (error: unknown) => void): void {
  promise.catch(onError);
}

/** For a promise that does not reject: an error is a defect, which ends mini-cc as other uncaught errors do. */
export function neverRejects(error: unknown): never {
  throw error;
}
