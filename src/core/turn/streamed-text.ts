/**
 * Writes the text of a reply into the transcript while it streams: what stood on the screen for half a second survives a
 * crash. Only what is new is written each time. The whole message replaces it on reading.
 */
import type {Clock} from '../contract/results.ts';
import type {History} from './history.ts';

/** Less than the half second that is promised, since timers may be late. */
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

  /** The reply begins anew: what came of it so far left the screen. */
  restart(): void {
    this.end();
    this.#startsAnew = true;
    if (this.#isWritten) this.history.recordPartial('', true);
    this.#isWritten = false;
  }

  /** The whole message follows, or what there is of it. */
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
