/**
 * Translates terminal input before Ink reads it, and removes the replies of the terminal. A key whose bytes arrive one
 * by one over a slow line is joined. Many lines at once, in a terminal without bracketed paste, become one paste. Ink
 * drops the Shift+Enter of xterm's `modifyOtherKeys`, which tmux also sends with `extended-keys`, so Ink gets the same
 * key in the kitty protocol.
 */
import {STRING_HEAD, STRING_TEXT, takeReplies} from '../first-paint/terminal-replies.ts';
import {streamWith} from '../live-screen.ts';

const XTERM_SHIFT_ENTER = '\x1b[27;2;13~';
const KITTY_SHIFT_ENTER = '\x1b[13;2u';

/** Reports of the terminal in mode 1004. */
const FOCUS = /\x1b\[([IO])/g;

export interface InputOptions {
  /** True when no one has read from the stream before. True by default. */
  readonly isFirst?: boolean;
  /** Called when the window gets or loses the focus. */
  readonly onFocus?: (hasFocus: boolean) => void;
  /** Called with each reply of the terminal about itself. */
  readonly onReply?: (reply: string) => void;
}

/**
 * Milliseconds that the rest of a key may take: after a single Esc, which may be a key by itself, and after more bytes.
 */
const ESC_MS = 100;
const REST_MS = 500;

/** Characters and line ends that make a chunk a paste: no one types so many at once. */
const PASTED_CHARS = 1000;
const PASTED_LINES = 3;
/** Milliseconds without input after which a paste is over. */
const QUIET_MS = 50;

/** Wraps the stream: its `read` returns translated text. */
export function terminalInput(
  stdin: NodeJS.ReadStream,
  {isFirst = true, ...listeners}: InputOptions = {},
): NodeJS.ReadStream {
  let mayHoldNewline = isFirst;
  /** Text that was read and waits for more: the beginning of a key or of a paste. */
  let held = '';
  let takeBack: () => void = () => undefined;
  /** Text that has waited long enough. The next read returns it unchanged. */
  let released = '';
  let isInPaste = false;
  const hold = (text: string, ms: number, release: (text: string) => string) => {
    held = text;
    takeBack = afterReading(ms, () => {
      held = '';
      released = release(text);
      if (released !== '') stdin.emit('readable');
    });
  };
  /** @returns the part of the input that can be read already */
  const take = (chunk: string): string => {
    const text = held + chunk;
    takeBack();
    held = '';
    if (!isInPaste && isPasted(text)) {
      hold(text, QUIET_MS, asPaste);
      return '';
    }
    isInPaste = text.lastIndexOf(PASTE_START) > text.lastIndexOf(PASTE_END) || (isInPaste && !text.includes(PASTE_END));
    const open = findOpenSequence(text);
    // Esc alone is a key. Half of another key is none.
    if (open === '\x1b') hold(open, ESC_MS, (esc) => esc);
    else if (open !== '') hold(open, REST_MS, () => '');
    return text.slice(0, text.length - open.length);
  };
  const read = (size?: number): unknown => {
    if (released !== '') {
      const text = released;
      released = '';
      return text;
    }
    for (let chunk: unknown = stdin.read(size); ; chunk = stdin.read(size)) {
      if (typeof chunk !== 'string') return chunk;
      // An Enter that was typed before raw mode comes as a newline.
      const text = translate(take(mayHoldNewline ? chunk.replace(/\n$/, '\r') : chunk), listeners);
      mayHoldNewline = false;
      if (text !== '') return text;
    }
  };
  return streamWith(stdin, {read});
}

/**
 * Calls back after some milliseconds. Input that arrived while this process was busy is read first, because timers run
 * before it.
 * @returns a function that cancels the call
 */
function afterReading(ms: number, callback: () => void): () => void {
  let step: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    step = setImmediate(callback);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(step);
  };
}

const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';

function translate(text: string, {onFocus, onReply}: InputOptions): string {
  return takeReplies(text, onReply)
    .replaceAll(XTERM_SHIFT_ENTER, KITTY_SHIFT_ENTER)
    .replace(FOCUS, (_, letter) => {
      onFocus?.(letter === 'I');
      return '';
    });
}

/** Tells whether the text is a paste that the terminal does not mark as one. */
function isPasted(text: string): boolean {
  const isMuch = text.length >= PASTED_CHARS || (text.match(/\r\n?|\n/g)?.length ?? 0) > PASTED_LINES;
  return isMuch && !text.includes('\x1b');
}

/** Marks the text as a paste. A line end after it is the Enter key. */
function asPaste(text: string): string {
  const [lines, enter] = text.endsWith('\r') ? [text.slice(0, -1), '\r'] : [text, ''];
  return `${PASTE_START}${lines}${PASTE_END}${enter}`;
}

/** Matches the start of a key or a reply at the end of the text. */
const OPEN = new RegExp(
  String.raw`\x1b(?:\[[0-?]*[ -/]*|O|\]\d{0,4}|P[\d;]*[>=!$+]?[\d;]*|${STRING_HEAD}${STRING_TEXT}\x1b?)?$`,
);

/** Returns the unfinished key or reply at the end of the text; empty when there is none. */
function findOpenSequence(text: string): string {
  return OPEN.exec(text)?.[0] ?? '';
}
