/**
 * The REPL as a front end of a session. This module is light: what it draws with is loaded as it starts, and the
 * first frame is on the screen before there is a session.
 */
import type {FrontEndSession} from '../core/front-end.ts';
import {withoutDataFetch} from './quiet-fetch.ts';

export interface ReplOptions {
  /** The first frame does not wait for it; what is sent before waits in the queue. */
  readonly session: Promise<FrontEndSession>;
  readonly version: string;
  readonly cwd: string;
  /** Sent as if typed, as soon as there is a session. */
  readonly initialPrompt?: string;
  /** The model's name, where it is known before the session is. */
  readonly model?: string;
  readonly offline?: boolean;
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
  const {runScreen} = await withoutDataFetch(() => import('./screen.tsx'));
  return runScreen(options);
}
