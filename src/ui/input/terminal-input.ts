/**
 * What a terminal sends, mended before Ink reads it. Shift+Enter as xterm's `modifyOtherKeys` (also tmux with `extended-keys`) tells it is unknown to Ink, which would
 * drop it. It is read as the same key of the kitty protocol, which Ink knows.
 */

const XTERM_SHIFT_ENTER = '\x1b[27;2;13~';
const KITTY_SHIFT_ENTER = '\x1b[13;2u';

/** The Enter of a line that was typed before the terminal was in raw mode comes as a new line. */
function withEarlyEnter(chunk: string): string {
  return chunk.replace(/\n$/, '\r');
}

/** The same stream, except for what `read` gives. */
export function terminalInput(stdin: NodeJS.ReadStream): NodeJS.ReadStream {
  let isFirst = true;
  const read = (size?: number): unknown => {
    const chunk: unknown = stdin.read(size);
    if (typeof chunk !== 'string') return chunk;
    const text = isFirst ? withEarlyEnter(chunk) : chunk;
    isFirst = false;
    return text.replaceAll(XTERM_SHIFT_ENTER, KITTY_SHIFT_ENTER);
  };
  return new Proxy(stdin, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value: unknown = Reflect.get(target, name);
      // Methods keep their own object: a stream's private state is not reached through a proxy.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
