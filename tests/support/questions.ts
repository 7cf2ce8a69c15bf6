/** Answers questions of the REPL, as a person does who has read them. */
import {QUIET_MS} from '../../src/ui/input/question-keys.ts';
import type {Condition, Key, Terminal} from './terminal.ts';
import {pause} from './wait.ts';

/** The row that tells the keys of the question that is open. */
const KEYS_ROW = /\bEsc (?:means|cancels|says no|gives no reason)\b|\bEnter and Esc mean\b|\bPress Tab to answer\b/;
/** The question counts from when it was drawn, which may be a little later than its first row is on the screen. */
const MARGIN_MS = 100;

/**
 * Waits until the question is open and takes keys.
 * @param question what the window shows while it is open, and no longer when it is answered
 */
export async function takesKeys(terminal: Terminal, question: Condition): Promise<void> {
  await terminal.waitFor((at) => isOpen(at, question));
  await pause(
    QUIET_MS + MARGIN_MS,
    'a question takes no keys in its first 0.3 s, and the screen does not tell their end',
  );
}

/** Answers the question by this key when it takes keys, and waits until it is gone. @see takesKeys */
export async function answer(terminal: Terminal, question: Condition, key: Key | `${1 | 2 | 3 | 4}`): Promise<void> {
  await takesKeys(terminal, question);
  if (/^\d$/.test(key)) terminal.type(key);
  else terminal.press(key as Key);
  await terminal.waitFor((at) => !isOpen(at, question));
}

function isOpen(terminal: Terminal, question: Condition): boolean {
  const window = terminal.screen().join('\n');
  if (!KEYS_ROW.test(window)) return false;
  if (typeof question === 'function') return question(terminal);
  return typeof question === 'string' ? window.includes(question) : window.search(question) >= 0;
}
