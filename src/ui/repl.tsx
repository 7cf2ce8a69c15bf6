/**
 * The REPL as a front end of a session. This module is light: the header is on the screen before what draws the rest
 * is loaded, and the first frame before there is a session.
 */
import type {ReplOptions} from './screen.tsx';
import {screenLine} from './text/screen-text.ts';

/** Runs until the person leaves. @returns the exit code: 0, 1 for a failure, 2 when the session was asked wrongly. */
export async function startRepl(options: ReplOptions): Promise<number> {
  // The screen reports a failed session; until it can, nobody else must.
  options.session.catch(() => undefined);
  // Ink's colours come from chalk, which asks for FORCE_COLOR alone.
  if (process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  try {
    // Over what was typed, and echoed, before the terminal was ours.
    process.stdout.write(`\r\u001b[K${headerText(options, !process.env.NO_COLOR)}`);
    const {runScreen} = await withoutDataFetch(() => import('./screen.tsx'));
    return await runScreen(options);
  } finally {
    process.stdin.setRawMode?.(false);
  }
}

interface HeaderInfo {
  readonly version: string;
  readonly cwd: string;
  /** The built-in model answers. */
  readonly offline: boolean;
}

/** The first lines on the screen. @param color false where `NO_COLOR` is set. */
export function headerText({version, cwd, offline}: HeaderInfo, color: boolean): string {
  const paint = (code: string, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const model = offline ? ' · offline model (rule-based)' : '';
  const lines = [
    `${paint('1;36', 'mini-cc')} ${version}${paint('2', model)}`,
    paint('2', screenLine(cwd)),
    paint('2', '/help lists commands and keys'),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Ink's layout engine reads its wasm by `fetch` of a data: URI and decodes it by itself where that fails. Node's
 * `fetch` would load its whole HTTP client for it: a sixth of the start-up. So that one request fails at once;
 * all others, of whoever asks meanwhile, go their way.
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
    // Whoever replaced it meanwhile keeps what he put there.
    if (globalThis.fetch === quiet) globalThis.fetch = real;
  }
}
