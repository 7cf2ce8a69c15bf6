/** Publishes the last lines of a running command at most every 100 ms. */

const INTERVAL_MS = 100;
const MAX_LINES = 3;
const MAX_LINE_CHARS = 200;
const MAX_KEPT_CHARS = 2000;

export class ThrottledProgress {
  readonly #publish: (text: string) => void;
  #tail = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(publish: (text: string) => void) {
    this.#publish = publish;
  }

  push(text: string): void {
    this.#tail = (this.#tail + text).slice(-MAX_KEPT_CHARS);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const lines = this.#tail.split(/[\r\n]+/).filter((line) => line.trim() !== '');
      if (lines.length > 0) this.#publish(lines.slice(-MAX_LINES).map(shorten).join('\n'));
    }, INTERVAL_MS);
  }

  /** Nothing is published after this. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}

function shorten(line: string): string {
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS - 1)}…`.toWellFormed();
}
