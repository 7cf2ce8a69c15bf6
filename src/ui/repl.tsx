/**
 * The REPL as a front end of a session. This module is light: the header is on the screen before what draws the rest
 * is loaded, and the first frame before there is a session.
 */
import type {FrontEndSession} from '../core/front-end.ts';
import {headerText} from './header.ts';
import {withoutDataFetch} from './quiet-fetch.ts';

export interface ReplOptions {
  /** The first frame does not wait for it; what is sent before waits in the queue. */
  readonly session: Promise<FrontEndSession>;
  readonly version: string;
  readonly cwd: string;
  /** The built-in model will answer. */
  readonly offline: boolean;
  /** Sent as if typed, as soon as there is a session. */
  readonly initialPrompt?: string;
  /** Earlier prompts, oldest first. */
  readonly history?: readonly string[];
  /** Called for every prompt that is sent. */
  readonly onSubmit?: (text: string) => void;
  /** Called once, when the first frame is on the screen. */
  readonly onFirstFrame?: () => void;
}

/** Runs until the person leaves. @returns the exit code: 0, 1 for a failure, 2 when the session was asked wrongly. */
export async function startRepl(options: ReplOptions): Promise<number> {
  // The screen reports a failed session; until it can, nobody else must.
  options.session.catch(() => undefined);
  // From now on keys are ours: a line typed this early would be echoed, and its Enter come as a new line.
  process.stdin.setRawMode?.(true);
  // Ink's colours come from chalk, which asks for FORCE_COLOR alone.
  if (process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  try {
    process.stdout.write(headerText(options, !process.env.NO_COLOR));
    const {runScreen} = await withoutDataFetch(() => import('./screen.tsx'));
    return await runScreen(options);
  } finally {
    process.stdin.setRawMode?.(false);
  }
}
