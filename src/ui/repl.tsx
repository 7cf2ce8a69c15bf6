/** The REPL, a front end of a session. The first paint is on the screen before the libraries of the screen are loaded. */
import {setImmediate as afterInput} from 'node:timers/promises';
import type {ReplOptions} from './screen.tsx';

/** Runs until the person leaves. @returns the exit code: 0, 1 for a failure, 2 for a wrong option or setting. */
export async function startRepl(options: ReplOptions): Promise<number> {
  // The screen reports a session that failed; until it is loaded, Node must not report it as unhandled.
  options.session.catch(() => undefined);
  // Ink takes its colours from chalk, which reads only FORCE_COLOR.
  if (process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  try {
    const {runScreen} = await loadScreen();
    return await runScreen(options);
  } finally {
    process.stdin.setRawMode?.(false);
  }
}

/** In parts: between them the first paint shows the keys that were typed. */
async function loadScreen() {
  await import('react');
  await afterInput();
  await withoutDataFetch(() => import('ink'));
  await afterInput();
  return import('./screen.tsx');
}

/**
 * Makes the `fetch` of a binary data: URI fail while `work` runs; other requests pass. Ink's layout engine fetches its
 * wasm so, and decodes it without `fetch` when that fails. Node's `fetch` would load its whole HTTP client, which takes a
 * sixth of the start-up time.
 */
async function withoutDataFetch<T>(work: () => Promise<T>): Promise<T> {
  const real = globalThis.fetch;
  const quiet: typeof fetch = (input, init) =>
    typeof input === 'string' && input.startsWith('data:application/octet-stream')
      ? Promise.reject(new TypeError('decoded without fetch'))
      : real(input, init);
  globalThis.fetch = quiet;
  try {
    return await work();
  } finally {
    // Do not undo a replacement that other code made meanwhile.
    if (globalThis.fetch === quiet) globalThis.fetch = real;
  }
}
