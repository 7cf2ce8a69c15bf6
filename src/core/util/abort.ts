/**
 * Aborts `control` with `signal`.
 *
 * `AbortSignal.any` does the same, but Node registers what it returns for finalization as soon as someone listens to
 * it. V8 then keeps it until a full collection, which is too long for what each model call has.
 * @returns a function that removes this link
 */
export function followAbort(signal: AbortSignal, control: AbortController): () => void {
  const abort = () => control.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  return () => signal.removeEventListener('abort', abort);
}
