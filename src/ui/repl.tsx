/**
 * The REPL as a front end of a session. This module is light: the header is on the screen before what draws the rest
 * is loaded, and the first frame before there is a session.
 */
import {headerText} from './header.ts';
import {withoutDataFetch} from './quiet-fetch.ts';
import type {ReplOptions} from './repl-options.ts';

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
