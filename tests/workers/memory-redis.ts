/** The commands of Redis that the classes below `workers/` use, on maps in memory, with a clock that a test sets. */
import type {Redis} from 'ioredis';

type Entry = [id: string, fields: string[]];

export class MemoryRedis {
  /** By the server's clock, milliseconds since the epoch. */
  now = 1_000_000;
  readonly values = new Map<string, Buffer>();
  readonly hashes = new Map<string, Map<string, string>>();
  readonly streams = new Map<string, Entry[]>();
  /** How long a key stays from when that was last said, milliseconds. */
  readonly lives = new Map<string, number>();

  get client(): Redis {
    return this as unknown as Redis;
  }

  async time() {
    return [String(Math.floor(this.now / 1000)), String((this.now % 1000) * 1000)];
  }

  async set(key: string, value: Buffer | string, _px: 'PX', life: number) {
    this.values.set(key, Buffer.from(value));
    this.lives.set(key, life);
    return 'OK';
  }

  async getrangeBuffer(key: string, start: number, end: number) {
    return this.values.get(key)?.subarray(start, end + 1) ?? Buffer.alloc(0);
  }

  async exists(key: string) {
    return this.values.has(key) ? 1 : 0;
  }

  async unlink(...keys: string[]) {
    if (keys.length === 0) throw new Error('ERR wrong number of arguments');
    for (const key of keys) this.values.delete(key);
  }

  async pexpire(key: string, life: number) {
    const isThere = [this.values, this.hashes, this.streams].some((map) => map.has(key));
    if (isThere) this.lives.set(key, life);
    return isThere ? 1 : 0;
  }

  async hget(key: string, field: string) {
    return this.hashes.get(key)?.get(field) ?? null;
  }

  async hgetall(key: string) {
    return Object.fromEntries(this.hashes.get(key) ?? []);
  }

  async hset(key: string, field: string, value: string | number) {
    const hash = this.hashes.get(key) ?? new Map<string, string>();
    this.hashes.set(key, hash.set(field, String(value)));
  }

  async hsetnx(key: string, field: string, value: string) {
    if (this.hashes.get(key)?.has(field)) return 0;
    await this.hset(key, field, value);
    return 1;
  }

  async hdel(key: string, field: string) {
    this.hashes.get(key)?.delete(field);
  }

  async xadd(key: string, ...words: unknown[]) {
    const entries = this.streams.get(key) ?? [];
    entries.push([`${entries.length + 1}-0`, words.slice(words.indexOf('*') + 1).map(String)]);
    this.streams.set(key, entries);
  }

  async xread(_streams: 'STREAMS', key: string, last: string) {
    const entries = (this.streams.get(key) ?? []).filter(([id]) => Number.parseInt(id, 10) > Number.parseInt(last, 10));
    return entries.length > 0 ? [[key, entries]] : null;
  }

  /** Runs the commands one after another at `exec`. */
  pipeline() {
    const asked: [name: 'hset' | 'pexpire' | 'xadd', args: never[]][] = [];
    const later =
      (name: 'hset' | 'pexpire' | 'xadd') =>
      (...args: never[]) => {
        asked.push([name, args]);
        return chain;
      };
    const exec = async () => {
      for (const [name, args] of asked) await (this[name] as (...given: never[]) => Promise<unknown>)(...args);
    };
    const chain = {hset: later('hset'), pexpire: later('pexpire'), xadd: later('xadd'), exec};
    return chain;
  }
}
