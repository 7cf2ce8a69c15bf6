/**
 * Writes the text of a reply into the transcript while it streams: text that was on the screen for half a second
 * survives a crash. Each write has only the new text. A reader replaces it by the whole message.
 */
import type {Clock} from '../contract/results.ts';
import type {History} from './history.ts';

/** Shorter than the promised half second, because timers may be late. */
const WRITE_EVERY_MS = 300;

export class StreamedText {
  #new = '';
  #isWritten = false;
  #startsAnew = true;
  #cancel: (() => void) | undefined;

  constructor(
    private readonly history: History,
    private readonly clock: Clock,
  ) {}

  add(text: string): void {
    this.#new += text;
    this.#cancel ??= this.clock.setTimer(() => this.#write(), WRITE_EVERY_MS);
  }

  /** Discards the text so far, because the reply begins again and the screen drops the text too. */
  restart(): void {
    this.end();
    this.#startsAnew = true;
    if (this.#isWritten) this.history.recordPartial('', true);
    this.#isWritten = false;
  }

  /** Stops writing: the whole message follows, or its part so far. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#new = '';
  }

  #write(): void {
    this.#cancel = undefined;
    this.history.recordPartial(this.#new, this.#startsAnew);
    this.#new = '';
    this.#startsAnew = false;
    this.#isWritten = true;
  }
}
