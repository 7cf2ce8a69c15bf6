/**
 * A program in a pseudo-terminal, read through a terminal emulator. It costs the measuring process little: it counts the
 * bytes, keeps none, and looks at the window alone. `tests/support/terminal.ts` keeps all and shows what went wrong.
 */
import {setTimeout as sleep} from 'node:timers/promises';
import {type IPty, spawn} from '@lydell/node-pty';
import headless from '@xterm/headless';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

const [COLUMNS, ROWS] = [100, 30];
/** What a terminal answers when it is asked for its text colour and its ground: programs wait for that. */
const COLOURS = {10: 'rgb:d4d4/d8d8/e0e0', 11: 'rgb:1616/1b1b/2424'} as const;

export class Screen {
  readonly startedAt = performance.now();
  bytes = 0;
  ended = false;
  readonly #pty: IPty;
  readonly #emulator = new headless.Terminal({cols: COLUMNS, rows: ROWS, scrollback: 1000, allowProposedApi: true});
  readonly #watchers = new Set<() => void>();

  constructor({file, args, env, cwd}: Launch) {
    this.#pty = spawn(file, [...args], {name: 'xterm-256color', cols: COLUMNS, rows: ROWS, cwd, env: {...env}});
    const reply = (data: string) => {
      if (!this.ended) this.#pty.write(data);
    };
    this.#emulator.onData(reply);
    for (const [code, colour] of Object.entries(COLOURS)) {
      this.#emulator.parser.registerOscHandler(Number(code), (data) => {
        if (data === '?') reply(`\x1b]${code};${colour}\x1b\\`);
        return true;
      });
    }
    this.#pty.onData((data) => {
      this.bytes += Buffer.byteLength(data);
      this.#emulator.write(data, () => this.#wake());
    });
    this.#pty.onExit(() => {
      this.ended = true;
      this.#wake();
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(text: string): void {
    if (!this.ended) this.#pty.write(text);
  }

  /** The lines of the window, without spaces at their ends. */
  lines(): string[] {
    const {active} = this.#emulator.buffer;
    return Array.from({length: ROWS}, (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '');
  }

  text(): string {
    return this.lines().join('\n');
  }

  /** @throws Error with the window, when it does not come in time or the program ends */
  waitFor(condition: RegExp | (() => boolean), timeoutMs = 20_000): Promise<void> {
    const holds = typeof condition === 'function' ? condition : () => condition.test(this.text());
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        this.#watchers.delete(check);
        clearTimeout(timer);
        if (error) reject(error);
        else resolve();
      };
      const fail = (why: string) => settle(new Error(`${condition} ${why}:\n${this.text().replaceAll(/\n+/g, '\n')}`));
      const check = () => {
        if (holds()) settle();
        else if (this.ended) fail('never came: the program ended');
      };
      const timer = setTimeout(() => fail(`did not come within ${timeoutMs} ms`), timeoutMs);
      this.#watchers.add(check);
      check();
    });
  }

  /** Ends the program by Ctrl+C and Ctrl+D, as a person does, then by signals. */
  async close(): Promise<void> {
    const hasEnded = () => this.ended;
    for (const step of [() => this.type('\x03'), () => this.type('\x03'), () => this.type('\x04')]) {
      step();
      await this.waitFor(hasEnded, 150).catch(() => undefined);
    }
    for (const signal of ['SIGHUP', 'SIGKILL']) {
      if (this.ended) break;
      this.#pty.kill(signal);
      await this.waitFor(hasEnded, 1500).catch(() => undefined);
    }
    // What the program started ends a little later; the next measure must not share the processor with it.
    await sleep(20);
    this.#emulator.dispose();
  }

  #wake(): void {
    for (const check of [...this.#watchers]) check();
  }
}
