/** Starts the REPL, a front end of a session. The first paint is on the screen before Ink and React are loaded. */
import {setImmediate as afterInput} from 'node:timers/promises';
import type {ReplOptions} from './screen.tsx';

/** Runs until the person leaves. @returns the exit code: 0, 1 for a failure, 2 for a wrong option or setting. */
export async function startRepl(options: ReplOptions): Promise<number> {
  // The screen reports a session that failed. Until the screen is loaded, Node must not report the failure as
  // unhandled.
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

/** Loads the libraries one by one, so that the first paint can show typed keys between them. */
async function loadScreen() {
  await import('react');
  await afterInput();
  await import('ink');
  await afterInput();
  return import('./screen.tsx');
}
