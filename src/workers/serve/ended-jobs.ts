/**
 * Stores in the worker's own folder which jobs ended here. A copy of such a job is refused, even if Redis does not know
 * it.
 */
import {appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';

export class EndedJobs {
  /**
   * Expiry of each message by its nonce, in milliseconds since the epoch. After it, the message is refused as too old.
   */
  readonly #expires = new Map<string, number>();

  /** @param file file with lines of a nonce and a time @param now milliseconds since the epoch */
  constructor(
    private readonly file: string,
    private readonly now: () => number = Date.now,
  ) {
    mkdirSync(path.dirname(file), {recursive: true, mode: 0o700});
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    for (const line of lines) {
      const [nonce = '', expires = ''] = line.split(' ');
      if (Number(expires) > now()) this.#expires.set(nonce, Number(expires));
    }
    writeFileSync(file, [...this.#expires].map(([nonce, expires]) => `${nonce} ${expires}\n`).join(''), {mode: 0o600});
  }

  has(nonce: string): boolean {
    return this.#expires.has(nonce);
  }

  add(nonce: string, expires: number): void {
    this.#expires.set(nonce, expires);
    appendFileSync(this.file, `${nonce} ${expires}\n`);
    for (const [each, until] of this.#expires) if (until <= this.now()) this.#expires.delete(each);
  }
}
