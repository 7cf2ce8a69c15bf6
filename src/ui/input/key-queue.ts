/** Handles keys and pastes in the order in which they came, also when one of them waits for something. */
import {inBackground, neverRejects} from '../../core/util/background.ts';

export class KeyQueue {
  readonly #keys: (() => void)[] = [];
  #waits = 0;

  add(handle: () => void): void {
    this.#keys.push(handle);
    this.#handleAll();
  }

  /** Lets the keys that follow wait for the work of this one, which must not reject. */
  waitFor(work: Promise<unknown>): void {
    this.#waits += 1;
    const done = work.finally(() => {
      this.#waits -= 1;
      this.#handleAll();
    });
    inBackground(done, neverRejects);
  }

  #handleAll(): void {
    while (this.#waits === 0 && this.#keys.length > 0) this.#keys.shift()!();
  }
}
