/**
 * Translates terminal input before Ink reads it, and takes out what the terminal says of its focus. Ink drops the Shift+Enter of xterm's `modifyOtherKeys`, which tmux sends
 * too with `extended-keys`; it gets the same key in the kitty protocol instead.
 */

const XTERM_SHIFT_ENTER = '\x1b[27;2;13~';
const KITTY_SHIFT_ENTER = '\x1b[13;2u';

/** What a terminal says in mode 1004. */
const FOCUS = /\x1b\[([IO])/g;

export interface InputOptions {
  /** No one has read from the stream before. Default true. */
  readonly isFirst?: boolean;
  /** The window got or lost the focus. */
  readonly onFocus?: (hasFocus: boolean) => void;
}

/** The same stream, with translated results of `read`. */
export function terminalInput(
  stdin: NodeJS.ReadStream,
  {isFirst = true, onFocus}: InputOptions = {},
): NodeJS.ReadStream {
  let mayHoldNewline = isFirst;
  const read = (size?: number): unknown => {
    const chunk: unknown = stdin.read(size);
    if (typeof chunk !== 'string') return chunk;
    // An Enter that was typed before raw mode comes as a newline.
    const text = mayHoldNewline ? chunk.replace(/\n$/, '\r') : chunk;
    mayHoldNewline = false;
    return text.replaceAll(XTERM_SHIFT_ENTER, KITTY_SHIFT_ENTER).replace(FOCUS, (_, letter) => {
      onFocus?.(letter === 'I');
      return '';
    });
  };
  return new Proxy(stdin, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value: unknown = Reflect.get(target, name);
      // Methods must run on the stream itself: a proxy cannot reach its private state.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
