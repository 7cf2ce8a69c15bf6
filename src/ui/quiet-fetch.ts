/**
 * Ink's layout engine reads its wasm by `fetch` of a data: URI and decodes it by itself where that fails. Node's
 * `fetch` would load its whole HTTP client for it: a sixth of the start-up. So that one request fails at once;
 * all others, of whoever asks meanwhile, go their way.
 */
export async function withoutDataFetch<T>(work: () => Promise<T>): Promise<T> {
  const real = globalThis.fetch;
  const quiet: typeof fetch = (input, init) =>
    typeof input === 'string' && input.startsWith('data:application/octet-stream')
      ? Promise.reject(new TypeError('decoded without fetch'))
      : real(input, init);
  globalThis.fetch = quiet;
  try {
    return await work();
  } finally {
    // Whoever replaced it meanwhile keeps what he put there.
    if (globalThis.fetch === quiet) globalThis.fetch = real;
  }
}
