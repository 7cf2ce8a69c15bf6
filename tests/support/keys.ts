/** Keys, and the bytes that a terminal sends for them. */

const NAMED = {
  enter: '\r',
  escape: '\x1b',
  tab: '\t',
  'shift-tab': '\x1b[Z',
  space: ' ',
  backspace: '\x7f',
  delete: '\x1b[3~',
  home: '\x1b[H',
  end: '\x1b[F',
  'page-up': '\x1b[5~',
  'page-down': '\x1b[6~',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  'shift-enter': '\x1b[13;2u',
  'alt-enter': '\x1b\r',
  'ctrl-_': '\x1f',
} as const;

type KeyLetter =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm')
  | ('n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z');

export type Key = keyof typeof NAMED | `ctrl-${KeyLetter}` | `alt-${KeyLetter}`;

/** The bytes of a key. @param applicationCursor the program has switched the arrow keys to application mode */
export function encodeKey(key: Key, applicationCursor = false): string {
  if (key in NAMED) {
    const bytes = NAMED[key as keyof typeof NAMED];
    return applicationCursor ? bytes.replace(/^\x1b\[([ABCDHF])$/, '\x1bO$1') : bytes;
  }
  const letter = key.at(-1) ?? '';
  return key.startsWith('ctrl-') ? String.fromCharCode(letter.charCodeAt(0) - 96) : `\x1b${letter}`;
}
