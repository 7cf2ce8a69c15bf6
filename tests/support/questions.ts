/** Answers questions of the REPL, as a person does who has read them. */
import {QUIET_MS} from '../../src/ui/input/question-keys.ts';
import type {Condition, Key, Terminal} from './terminal.ts';
import {pause} from './wait.ts';

/** The last row of an open question, which tells its keys. */
const KEYS_ROW = /\bEsc (?:means|cancels|says no|gives no reason)\b|\bEnter and Esc mean\b|\bPress Tab to answer\b/;
/** The question counts from when it was drawn, which may be a little later than its first row is on the screen. */
const MARGIN_MS = 100;

export type AnswerKey = Key | `${1 | 2 | 3 | 4}`;

/**
 * Waits until the question is open and takes keys.
 * @param question what the window shows then: no text of a question before it
 */
export async function takesKeys(terminal: Terminal, question: Condition): Promise<void> {
  await terminal.waitFor((at) => findQuestion(at) !== undefined && isInWindow(at, question));
  await pause(QUIET_MS + MARGIN_MS, 'a question takes no keys in its first 0.3 s, and shows no sign of their end');
}

/** Answers the question by this key once it takes keys, and waits until it is gone. @see takesKeys */
export async function answer(terminal: Terminal, question: Condition, key: AnswerKey): Promise<void> {
  await takesKeys(terminal, question);
  const asked = findQuestion(terminal);
  if (/^\d$/.test(key)) terminal.type(key);
  else terminal.press(key as Key);
  await terminal.waitFor((at) => findQuestion(at) !== asked || !isInWindow(at, question));
}

/** The end of the open question: its rows after the last empty one. */
function findQuestion(terminal: Terminal): string | undefined {
  const rows = terminal.screen();
  const end = rows.findLastIndex((row) => KEYS_ROW.test(row));
  return end === -1 ? undefined : rows.slice(rows.lastIndexOf('', end) + 1, end + 1).join('\n');
}

function isInWindow(terminal: Terminal, condition: Condition): boolean {
  if (typeof condition === 'function') return condition(terminal);
  const window = terminal.screen().join('\n');
  return typeof condition === 'string' ? window.includes(condition) : window.search(condition) >= 0;
}
