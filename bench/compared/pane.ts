/**
 * A program in a pane of tmux, as people start it, with a terminal emulator as the terminal around tmux: keys go in, and
 * the cells of the screen come out with their colours.
 */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {type IPty, spawn} from '@lydell/node-pty';
import headless from '@xterm/headless';
import {type Look, readTerminal, type Screen} from '../../scripts/terminal-picture.mjs';
import type {Launch} from './screen.ts';

export interface PaneOptions {
  /** Default 100. */
  readonly cols?: number;
  /** Default 30. */
  readonly rows?: number;
  /** The pane answers with its text colour and its ground when it is asked: programs choose their theme by them. */
  readonly look: Look;
  /** Default tmux-256color. */
  readonly terminal?: string;
}

const MS_PER_LOOK = 60;

export class Pane {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'pane-'));
  readonly #look: Look;
  readonly #rows: number;
  readonly #env: Launch['env'];
  readonly #emulator: InstanceType<typeof headless.Terminal>;
  readonly #client: IPty;

  constructor({file, args, env, cwd}: Launch, {cols = 100, rows = 30, look, terminal = 'tmux-256color'}: PaneOptions) {
    this.#look = look;
    this.#rows = rows;
    this.#env = env;
    this.#emulator = new headless.Terminal({cols, rows, allowProposedApi: true});
    const sets = [
      ...[
        'set',
        '-g',
        'default-terminal',
        terminal,
        ';',
        'set',
        '-as',
        'terminal-features',
        ',xterm-256color:RGB',
        ';',
      ],
      ...['set', '-g', 'window-style', `fg=${look.text},bg=${look.ground}`, ';', 'set', '-g', 'status', 'off', ';'],
      ...['set', '-g', 'history-limit', '20000', ';', 'set', '-g', 'remain-on-exit', 'on', ';'],
    ];
    const start = ['new-session', '-x', `${cols}`, '-y', `${rows}`, '-c', cwd, file, ...args];
    const command = ['-f', '/dev/null', '-S', this.#socket, 'start-server', ';', ...sets, ...start];
    this.#client = spawn('tmux', command, {name: 'xterm-256color', cols, rows, cwd, env: {...env}});
    this.#client.onData((data) => this.#emulator.write(data));
    this.#emulator.onData((reply) => this.#client.write(reply));
  }

  /** Keys by the names of tmux, such as `Enter`, `C-o` and `Escape`. */
  press(...keys: readonly string[]): void {
    this.#tmux(['send-keys', ...keys]);
  }

  type(text: string): void {
    this.#tmux(['send-keys', '-l', text]);
  }

  /** A bracketed paste, where the program has asked for those. */
  paste(text: string): void {
    this.#tmux(['load-buffer', '-'], text);
    this.#tmux(['paste-buffer', '-p', '-r']);
  }

  resize(cols: number): void {
    this.#emulator.resize(cols, this.#rows);
    this.#client.resize(cols, this.#rows);
  }

  /** The cells of the window and the cursor, as a person sees them. */
  async screen(): Promise<Screen> {
    // What tmux has written comes with a later turn of the event loop.
    await sleep(MS_PER_LOOK * 3);
    const [isShown, x, y] = this.#ask('#{cursor_flag} #{cursor_x} #{cursor_y}').split(' ').map(Number);
    return readTerminal(this.#emulator, this.#look, isShown ? {x: x!, y: y!} : undefined);
  }

  /** The rows of the window, without spaces at their ends. */
  text(): string {
    const {active} = this.#emulator.buffer;
    const rows = Array.from(
      {length: this.#rows},
      (_, y) => active.getLine(active.baseY + y)?.translateToString(true, 0, this.#emulator.cols) ?? '',
    );
    return rows.join('\n');
  }

  /** All rows, also those above the window. */
  scrollback(): string {
    return this.#tmux(['capture-pane', '-p', '-S', '-']);
  }

  title(): string {
    return this.#ask('#{pane_title}');
  }

  /** @throws Error with the window, when it does not come in time */
  async waitFor(condition: RegExp | ((text: string) => boolean), timeoutMs = 60_000): Promise<void> {
    const holds = typeof condition === 'function' ? condition : (text: string) => condition.test(text);
    for (const end = performance.now() + timeoutMs; !holds(this.text()); await sleep(MS_PER_LOOK)) {
      if (performance.now() > end) throw new Error(`${condition} did not come within ${timeoutMs} ms:\n${this.text()}`);
    }
  }

  /** Waits until the window has not changed for that long: spinners and clocks change it, so at most five times as long. */
  async settle(ms = 600): Promise<void> {
    let last = '';
    let since = performance.now();
    for (const end = performance.now() + 5 * ms; performance.now() < end; await sleep(MS_PER_LOOK)) {
      const text = this.text();
      if (text !== last) [last, since] = [text, performance.now()];
      else if (performance.now() - since > ms) return;
    }
  }

  close(): void {
    this.#tmux(['kill-server']);
    rmSync(this.#folder, {recursive: true, force: true});
  }

  get #socket(): string {
    return path.join(this.#folder, 'socket');
  }

  #ask(format: string): string {
    return this.#tmux(['display-message', '-p', format]).trim();
  }

  #tmux(args: readonly string[], input?: string): string {
    const options = {encoding: 'utf8', env: this.#env, stdio: 'pipe', ...(input !== undefined && {input})} as const;
    return execFileSync('tmux', ['-S', this.#socket, ...args], options);
  }
}
