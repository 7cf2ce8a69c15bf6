/**
 * Reads the messages of sessions to the runs of this worker. One request to the server, twice a second, serves all
 * runs.
 */
import type {Redis} from 'ioredis';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import type {Keys} from '../queue/address.ts';

interface Follower {
  readonly handle: (text: string) => void;
  /** Id of the last entry that was read. */
  last: string;
}

const POLL_MS = 500;

export class Controls {
  /** Followers by the key of their stream. */
  readonly #followers = new Map<string, Follower>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: Redis,
    private readonly keys: Keys,
  ) {}

  /**
   * Calls `handle` with each message for the job from the first one on, because another worker may have had the job
   * before.
   * @returns a function that ends this
   */
  follow(jobId: string, handle: (text: string) => void): () => void {
    const key = this.keys.control(jobId);
    const follower = {handle, last: '0'};
    this.#followers.set(key, follower);
    this.#timer ??= setTimeout(() => inBackground(this.#poll(), neverRejects), 0);
    return () => {
      if (this.#followers.get(key) === follower) this.#followers.delete(key);
    };
  }

  async #poll(): Promise<void> {
    const asked = new Map(this.#followers);
    const last = [...asked.values()].map((follower) => follower.last);
    try {
      const read = asked.size === 0 ? [] : await this.connection.xread('STREAMS', ...asked.keys(), ...last);
      for (const [key, entries] of read ?? []) {
        // A job that came back in the meantime is read from the first entry.
        const follower = asked.get(key);
        if (!follower || this.#followers.get(key) !== follower) continue;
        for (const [id, [, text = '']] of entries) {
          follower.last = id;
          follower.handle(text);
        }
      }
    } catch {
      // The connection is lost, and comes back by itself.
    }
    this.#timer =
      this.#followers.size === 0 ? undefined : setTimeout(() => inBackground(this.#poll(), neverRejects), POLL_MS);
  }
}
