/** Runs the whole screen with a fake session, and leaves it after each test. */
import {afterEach} from 'vitest';
import type {Session} from '../../src/core/contract/session.ts';
import {type ReplOptions, runScreen} from '../../src/ui/screen.tsx';
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
}

const opened: Opened[] = [];

/** Starts the REPL and waits for its prompt. */
export async function open(
  options: Partial<ReplOptions> & {columns?: number; rows?: number; opening?: Promise<Session>} = {},
): Promise<Opened> {
  const {columns = 80, rows = 24, opening, ...rest} = options;
  const screen = createFakeTerminal(columns, rows);
  const session = createFakeSession();
  const exit = runScreen({session: opening ?? Promise.resolve(session), ...rest}, screen);
  const repl = {screen, session, exit};
  opened.push(repl);
  await screen.shows(opening ? '> Ask about' : 'default · sonnet');
  return repl;
}

afterEach(async () => {
  for (const {screen, exit} of opened.splice(0)) {
    let hasLeft = false;
    void exit.then(() => {
      hasLeft = true;
    });
    // Ctrl+C ends a turn, clears the prompt, shows the hint, and then leaves.
    while (!hasLeft) {
      screen.type(CTRL_C);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});
