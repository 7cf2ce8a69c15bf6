/**
 * Runs a program in a real pseudo-terminal and reads its screen through a terminal emulator. Tests wait for text, never
 * for time, and type only when the prompt is on the screen.
 */
import {type IPty, spawn} from '@lydell/node-pty';
import headless from '@xterm/headless';
import {createUserEnvironment} from './environment.ts';
import {encodeKey, type Key} from './keys.ts';
import {PATIENCE_MS, within} from './wait.ts';

export type {Key} from './keys.ts';

export interface TerminalOptions {
  /** Default 100. */
  readonly cols?: number;
  /** Default 30. */
  readonly rows?: number;
  readonly cwd?: string;
  /** Added to the environment of a user; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Exit {
  /** As a shell reports it: 128 + the signal's number after a signal. */
  readonly code: number;
  readonly signal: number | undefined;
}

/** A text or pattern on the screen or in the scrollback, or a condition. */
export type Condition = string | RegExp | ((terminal: Terminal) => boolean);

/** Starts the program. The emulator answers the queries that programs send to a terminal. */
export function startTerminal(command: string, args: readonly string[], options: TerminalOptions = {}): Terminal {
  const {cols = 100, rows = 30, cwd = process.cwd(), env = {}} = options;
  const clean = Object.entries({...createUserEnvironment(), ...env}).filter(([, value]) => value !== undefined);
  const pty = spawn(command, [...args], {
    name: 'xterm-256color',
    cols,
    rows,
    cwd,
    env: Object.fromEntries(clean),
  });
  return new Terminal(pty, cols, rows);
}

export class Terminal {
  readonly exit: Promise<Exit>;
  readonly #pty: IPty;
  readonly #emulator: headless.Terminal;
  readonly #watchers = new Set<() => void>();
  #raw = '';
  #title = '';
  #exit: Exit | undefined;
  /** The program has ended, and all that it wrote is on the screen. */
  readonly #end: Promise<Exit>;

  constructor(pty: IPty, cols: number, rows: number) {
    this.#pty = pty;
    this.#emulator = new headless.Terminal({cols, rows, scrollback: 100_000, allowProposedApi: true});
    this.#emulator.onTitleChange((title) => {
      this.#title = title;
    });
    this.#emulator.onData((reply) => {
      if (this.#exit === undefined) pty.write(reply);
    });
    pty.onData((data) => {
      this.#raw += data;
      this.#emulator.write(data, () => this.#wakeWatchers());
    });
    this.exit = new Promise((resolve) => {
      pty.onExit(({exitCode, signal}) => {
        this.#exit = {code: signal ? 128 + signal : exitCode, signal: signal || undefined};
        resolve(this.#exit);
      });
    });
    this.#end = this.exit.then((exit) => new Promise((resolve) => this.#emulator.write('', () => resolve(exit))));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Types the text as it is; `\r` is Enter. */
  type(text: string): void {
    this.#pty.write(text);
  }

  press(...keys: readonly Key[]): void {
    for (const key of keys) this.#pty.write(encodeKey(key, this.#emulator.modes.applicationCursorKeysMode));
  }

  /** Pastes the text, in bracketed paste mode if the program has switched that on. */
  paste(text: string): void {
    const lines = text.replaceAll('\n', '\r');
    this.#pty.write(this.#emulator.modes.bracketedPasteMode ? `\x1b[200~${lines}\x1b[201~` : lines);
  }

  resize(cols: number, rows: number): void {
    this.#emulator.resize(cols, rows);
    this.#pty.resize(cols, rows);
  }

  /** The lines of the window, without spaces at their ends. */
  screen(): string[] {
    const {baseY} = this.#emulator.buffer.active;
    return this.#lines(baseY, baseY + this.#emulator.rows);
  }

  /** All lines, also those that have scrolled out of the window. Wrapped lines are joined. */
  scrollback(): string[] {
    const buffer = this.#emulator.buffer.active;
    const joined: string[] = [];
    for (let y = 0; y < buffer.length; y++) {
      const line = buffer.getLine(y);
      if (line === undefined) continue;
      const isContinued = buffer.getLine(y + 1)?.isWrapped === true;
      const text = line.translateToString(!isContinued);
      if (line.isWrapped && joined.length > 0) joined[joined.length - 1] += text;
      else joined.push(text);
    }
    while (joined.at(-1) === '') joined.pop();
    return joined;
  }

  /** All lines as one text. */
  text(): string {
    return this.scrollback().join('\n');
  }

  /** Every byte that the program wrote, decoded. */
  raw(): string {
    return this.#raw;
  }

  title(): string {
    return this.#title;
  }

  /** The position of the cursor in the window, from 0. */
  get cursor(): {readonly x: number; readonly y: number} {
    const {cursorX, cursorY} = this.#emulator.buffer.active;
    return {x: cursorX, y: cursorY};
  }

  /**
   * Waits until the text is on the screen or in the scrollback, or the condition is true, when no frame is half drawn.
   * @throws Error that shows the screen, when the time is over or the program has ended before
   */
  async waitFor(condition: Condition, timeoutMs: number = PATIENCE_MS): Promise<void> {
    const shown = Promise.withResolvers<void>();
    const check = () => {
      if (!this.#isDrawing && this.#shows(condition)) shown.resolve();
    };
    const fail = (why: string) => this.#report(condition, why);
    this.#watchers.add(check);
    check();
    this.#end.then(({code}) => {
      if (!this.#watchers.has(check)) return;
      if (this.#shows(condition)) shown.resolve();
      else shown.reject(new Error(fail(`never came: the program ended with ${code}`)));
    });
    const late = () => fail(`did not come within ${timeoutMs} ms`);
    return within(shown.promise, timeoutMs, late).finally(() => this.#watchers.delete(check));
  }

  /** @throws Error that shows the screen, when the program has not ended by then */
  waitForExit(timeoutMs: number = PATIENCE_MS): Promise<Exit> {
    return within(this.#end, timeoutMs, () => this.#report('its end', `did not come within ${timeoutMs} ms`));
  }

  /** Ends the program by SIGHUP, and by SIGKILL if that does not help. For `onTestFinished(terminal.close)`. */
  readonly close = async (): Promise<void> => {
    if (this.#exit === undefined) {
      this.#pty.kill('SIGHUP');
      await within(this.exit, 1000, 'its end').catch(() => this.#pty.kill('SIGKILL'));
    }
    await this.#end;
    this.#emulator.dispose();
  };

  /** A part of a frame is there: the program has told the terminal not to show it yet. */
  get #isDrawing(): boolean {
    return this.#emulator.modes.synchronizedOutputMode;
  }

  #shows(condition: Condition): boolean {
    if (typeof condition === 'function') return condition(this);
    if (typeof condition === 'string') return this.text().includes(condition);
    return new RegExp(condition.source, condition.flags.replace(/[gy]/g, '')).test(this.text());
  }

  #wakeWatchers(): void {
    for (const check of [...this.#watchers]) check();
  }

  #lines(from: number, to: number): string[] {
    const lines: string[] = [];
    for (let y = from; y < to; y++) lines.push(this.#emulator.buffer.active.getLine(y)?.translateToString(true) ?? '');
    return lines;
  }

  #report(condition: Condition, why: string): string {
    const what = typeof condition === 'function' ? 'the condition' : String(condition);
    const frame = this.screen().map((line) => `│${line}`);
    return [`${what} ${why}. The screen:`, ...frame].join('\n');
  }
}
