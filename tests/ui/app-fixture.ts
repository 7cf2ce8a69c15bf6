/** Runs the whole screen with a fake session, and leaves it when the test has finished. */
import {onTestFinished} from 'vitest';
import type {Session} from '../../src/core/contract/session-requests.ts';
import {type ReplOptions, runScreen} from '../../src/ui/screen.tsx';
import {passTimeUntil} from '../support/fake-time.ts';
import {createFakeSession, type FakeSession} from './fake-session.ts';
import {createFakeTerminal, type FakeTerminal} from './fake-terminal.ts';

export const ESC = '\x1b';
export const SHIFT_TAB = '\x1b[Z';
export const CTRL_C = '\x03';
export const CTRL_D = '\x04';

export interface Opened {
  readonly screen: FakeTerminal;
  readonly session: FakeSession;
  readonly exit: Promise<number>;
  /** The test may leave earlier: a process has room for the exit listeners of a few screens. */
  readonly leave: () => Promise<void>;
}

/** Starts the REPL and waits for its prompt. */
export async function open(
  options: Partial<ReplOptions> & {columns?: number; rows?: number; opening?: Promise<Session>} = {},
): Promise<Opened> {
  const {columns = 80, rows = 24, opening, ...rest} = options;
  const screen = createFakeTerminal(columns, rows);
  const session = createFakeSession();
  let leaveScreen: (exitCode: number) => void = () => undefined;
  const onLeave = (leave: typeof leaveScreen) => {
    leaveScreen = leave;
  };
  const exit = runScreen({session: opening ?? Promise.resolve(session), onLeave, ...rest}, screen);
  const leave = async () => {
    leaveScreen(0);
    await passTimeUntil(exit);
  };
  onTestFinished(leave);
  const isRead = process.env.INK_SCREEN_READER === 'true';
  await screen.shows(isRead ? 'Mode: default' : opening ? '> Ask about' : /default · .*sonnet/);
  return {screen, session, exit, leave};
}
