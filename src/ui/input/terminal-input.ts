/**
 * Translates terminal input before Ink reads it. Ink drops the Shift+Enter of xterm's `modifyOtherKeys`, which tmux sends
 * too with `extended-keys`; it gets the same key in the kitty protocol instead.
 */

const XTERM_SHIFT_ENTER = '\x1b[27;2;13~';
const KITTY_SHIFT_ENTER = '\x1b[13;2u';

/** The same stream, with translated results of `read`. @param isFirst no one has read from it before */
export function terminalInput(stdin: NodeJS.ReadStream, isFirst = true): NodeJS.ReadStream {
  let mayHoldNewline = isFirst;
  const read = (size?: number): unknown => {
    const chunk: unknown = stdin.read(size);
    if (typeof chunk !== 'string') return chunk;
    // An Enter that was typed before raw mode comes as a newline.
    const text = mayHoldNewline ? chunk.replace(/\n$/, '\r') : chunk;
    mayHoldNewline = false;
    return text.replaceAll(XTERM_SHIFT_ENTER, KITTY_SHIFT_ENTER);
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
