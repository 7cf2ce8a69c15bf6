/** A text with control sequences, which a terminal must not obey, and what mini-cc must never send to a terminal. */
import {expect} from 'vitest';
import type {Terminal} from '../support/terminal.ts';

/** Begins and ends with words, so that tests see that it is shown. */
export const UNSAFE_TEXT = [
  'unsafe',
  '\x1b]0;PWNED\x07',
  '\x1b]2;PWNED\x1b\\',
  '\x1b]52;c;UFdORUQ=\x07',
  '\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\',
  '\x1b[2J\x1b[3J\x1b[H\x1bc',
  '\x1b[38;5;213m',
  '\x1b[?1049h\x1b[?25l\x1b[6n',
  '\x1bP+q544e\x1b\\\x1b_Gf=100;AAAA\x1b\\',
  '\x9b2J\x9d0;PWNED\x9c\x90q\x9c',
  'over\rwritten\b\b\b\x07\x0e\x7f\0',
  '\u202ereversed\u202c \u2066isolated\u2069',
  'hid\u200bden\u2060\ufeff\u00ad \u{e0041}\u{e0042}\u{e007f}',
  '\x1b]0;never closed',
].join('');

/** A file name: Linux allows all characters but `/` and NUL. */
export const UNSAFE_NAME = UNSAFE_TEXT.replaceAll('/', '|').replaceAll('\0', '').slice(0, 100);

/** Sequences that mini-cc never sends to a terminal, and invisible characters. */
const FORBIDDEN: readonly (readonly [string, RegExp])[] = [
  ['an operating system command, a device control or an application string', /\x1b[\]P_^X]/],
  ['a reset', /\x1bc/],
  ['an 8-bit control', /[\x80-\x9f]/],
  ['a bell, a step back, a shift or a deletion', /[\x00\x07\x08\x0e\x0f\x7f]/],
  ['a cleared screen', /\x1b\[[23]J/],
  ['another screen', /\x1b\[\?1049h/],
  ['a question for the cursor', /\x1b\[6n/],
  ['a colour of the text', /\x1b\[38;5;213/],
  ['a turn of direction', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/],
  ['something hidden', /[\u00ad\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/u],
];

/**
 * What mini-cc asks the terminal at its start, how it sets the title, whose text is checked like all others, and links to
 * addresses and files in printable ASCII.
 */
const OWN =
  /\x1b\]11;\?\x1b\\|\x1b\]2;([^\x00-\x1f\x7f-\x9f]*)\x1b\\|\x1b\]8;;(?:(?:https?|file):\/\/[!-~]+)?(?:\x1b\\|\x07)/g;

/** The terminal got none of the forbidden sequences, and nobody else has set its title. */
export function expectNothingObeyed(terminal: Terminal): void {
  const raw = terminal.raw().replace(OWN, '$1');
  for (const [what, pattern] of FORBIDDEN) {
    const at = raw.search(pattern);
    expect(at < 0 ? '' : JSON.stringify(raw.slice(Math.max(0, at - 60), at + 40)), what).toBe('');
  }
  expect(terminal.title()).not.toMatch(/^PWNED/);
}

/** Waits until the last frame is drawn: the cursor is at the prompt then. */
export function cursorAtPrompt(terminal: Terminal): Promise<void> {
  return terminal.waitFor((at) => at.cursor.x === 2 && /^> /.test(at.screen()[at.cursor.y] ?? ''));
}
