/** A terminal in memory: an emulator draws what the program writes, and the test types bytes. */
import {EventEmitter, once} from 'node:events';
import {PassThrough, Writable} from 'node:stream';
import xterm from '@xterm/headless';
import {vi} from 'vitest';
import {passTime} from '../support/fake-time.ts';
import {PATIENCE_MS} from '../support/wait.ts';

export interface FakeTerminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WritableStream;
  /** The text of the window now, without blank rows at its end. */
  readonly window: () => string;
  /** Everything that was printed, with the window. */
  readonly scrollback: () => string;
  readonly cursor: () => {readonly x: number; readonly y: number};
  readonly errors: () => string;
  readonly written: () => string;
  readonly isRaw: () => boolean;
  /** A clock that only `pass` moves. */
  readonly now: () => number;
  readonly pass: (ms: number) => void;
  readonly type: (bytes: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  /** Waits until all that was written is drawn. */
  readonly drawn: () => Promise<void>;
  /** Waits until the condition is true: looks after each write that was drawn. Time that stands still goes on meanwhile. */
  readonly until: (holds: () => boolean, what: string) => Promise<string>;
  /** Waits until the window shows the text. */
  readonly shows: (text: string | RegExp) => Promise<string>;
  readonly lacks: (text: string) => Promise<string>;
}

export function createFakeTerminal(columns = 80, rows = 24): FakeTerminal {
  const terminal = new xterm.Terminal({cols: columns, rows, scrollback: 50_000, allowProposedApi: true});
  let written = '';
  let errors = '';
  let isRaw = false;
  let clock = 1000;
  const drawing = new EventEmitter();
  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      written += chunk;
      // The line discipline of a real terminal adds the carriage return.
      terminal.write(chunk.replace(/(?<!\r)\n/g, '\r\n'), () => {
        done();
        drawing.emit('drawn');
      });
    },
  });
  const stdin = new PassThrough();
  terminal.onData((reply) => stdin.write(reply));
  const stderr = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      errors += chunk;
      done();
    },
  });
  Object.assign(stdout, {isTTY: true, columns, rows});
  Object.assign(stdin, {
    isTTY: true,
    setRawMode: (raw: boolean) => {
      isRaw = raw;
    },
    ref: () => stdin,
    unref: () => stdin,
  });

  const lines = (from: number) => {
    const {active} = terminal.buffer;
    const all: string[] = [];
    for (let row = from; row < active.length; row++) all.push(active.getLine(row)?.translateToString(true) ?? '');
    return all.join('\n').trimEnd();
  };
  const window = () => lines(terminal.buffer.active.baseY);
  const until = async (holds: () => boolean, what: string) => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    while (!holds()) {
      if (signal.aborted) throw new Error(`${what}; the window is:\n${window()}`);
      if (vi.isFakeTimers()) await passTime(5);
      else await once(drawing, 'drawn', {signal}).catch(() => undefined);
    }
    return window();
  };
  return {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr,
    window,
    scrollback: () => lines(0),
    cursor: () => ({x: terminal.buffer.active.cursorX, y: terminal.buffer.active.cursorY}),
    errors: () => errors,
    written: () => written,
    isRaw: () => isRaw,
    now: () => clock,
    pass: (ms) => {
      clock += ms;
    },
    type: (bytes) => stdin.write(bytes),
    resize: (newColumns, newRows) => {
      terminal.resize(newColumns, newRows);
      Object.assign(stdout, {columns: newColumns, rows: newRows});
      stdout.emit('resize');
      drawing.emit('drawn');
    },
    drawn: () => new Promise((resolve) => void stdout.write('', () => resolve())),
    until,
    shows: (text) =>
      until(() => (typeof text === 'string' ? window().includes(text) : text.test(window())), `not shown: ${text}`),
    lacks: (text) => until(() => !window().includes(text), `still shown: ${text}`),
  };
}
