/** A clock that stands still until a test advances it. */
import type {Clock} from '../../src/core/contract/results.ts';
import {until} from '../support/wait.ts';

export class FakeClock implements Clock {
  #now = 0;
  #slept = 0;
  #timers: {readonly at: number; readonly callback: () => void}[] = [];

  now = () => this.#now;
  wallNow = () => this.#now + this.#slept;

  /** The number of active timers. */
  get timers(): number {
    return this.#timers.length;
  }

  setTimer(callback: () => void, ms: number): () => void {
    const timer = {at: this.#now + ms, callback};
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The machine sleeps: only the wall clock goes on. */
  sleep(ms: number): void {
    this.#slept += ms;
  }

  /** Moves the time forward and fires the timers that become due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({at}) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = end;
  }

  /** Moves the time forward, step by step, until the promise is settled. For a limit of what waits for real I/O. */
  async advanceUntil<T>(promise: Promise<T>, stepMs: number): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await until(() => {
      this.advance(stepMs);
      return isSettled;
    }, 'the end at a limit of time');
    return promise;
  }
}
