/** Limits the time of calls of one server. It does not run while the server waits for the person's answer. */
import {MiniCcError} from '../../core/util/errors.ts';

export class CallTimers {
  /** Starts the time of a call anew; one for each call. */
  readonly #restarts = new Set<() => void>();
  #questions = 0;
  #atWork: AbortController | undefined;

  /** Aborts when no call of the server is at work any more. Undefined when none is. */
  get signal(): AbortSignal | undefined {
    return this.#atWork?.signal;
  }

  /**
   * @param work gets a signal that aborts when the time is over, and a function that starts the time anew
   * @throws MiniCcError `REQUEST_TIMEOUT` when it took longer than `limitMs` milliseconds
   */
  async limit<T>(
    limitMs: number,
    signal: AbortSignal,
    work: (signal: AbortSignal, restart: () => void) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const restart = () => {
      clearTimeout(timer);
      if (this.#questions === 0) timer = setTimeout(() => limit.abort(), limitMs);
    };
    this.#restarts.add(restart);
    this.#atWork ??= new AbortController();
    restart();
    try {
      return await work(AbortSignal.any([signal, limit.signal]), restart);
    } catch (error) {
      if (limit.signal.aborted && !signal.aborted) throw new MiniCcError('REQUEST_TIMEOUT', 'it took too long');
      throw error;
    } finally {
      clearTimeout(timer);
      this.#restarts.delete(restart);
      if (this.#restarts.size === 0) {
        this.#atWork?.abort();
        this.#atWork = undefined;
      }
    }
  }

  /** Runs a question to the person, during which the time of all calls stands still. */
  async whilePaused<T>(question: () => Promise<T>): Promise<T> {
    this.#questions += 1;
    this.#restartAll();
    try {
      return await question();
    } finally {
      this.#questions -= 1;
      this.#restartAll();
    }
  }

  #restartAll(): void {
    for (const restart of this.#restarts) restart();
  }
}
