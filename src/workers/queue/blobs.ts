/**
 * Stores bytes in Redis, in chunks of at most 1 MB. Of a streamed blob at most `WINDOW` chunks are stored at a time:
 * the writer waits for the reader. Chunks that no side removes expire.
 */
import {createHash, randomUUID} from 'node:crypto';
import type {Redis} from 'ioredis';
import {MiniCcError} from '../../core/util/errors.ts';
import {type BlobRef, LIFE_MS} from './messages.ts';

export const CHUNK_BYTES = 1024 * 1024;
export const WINDOW = 16;
const POLL_MS = 200;
/** Milliseconds to wait without any progress of the other side. */
const GIVE_UP_MS = 60_000;

export class Blobs {
  constructor(
    private readonly connection: Redis,
    private readonly prefix: string,
  ) {}

  /** Describes a new blob of these bytes. */
  describe(bytes: Buffer): BlobRef {
    return {id: randomUUID(), chunks: Math.ceil(bytes.length / CHUNK_BYTES), bytes: bytes.length, sha256: hash(bytes)};
  }

  /** Writes a blob that stays until it is removed or expires. */
  async put(bytes: Buffer, ref: BlobRef): Promise<void> {
    for (const [index, key] of this.#keys(ref.id, ref.chunks).entries()) await this.#write(key, bytes, index);
  }

  /** Writes a blob whose chunks the reader removes. It waits while `WINDOW` of them are stored. */
  async stream(bytes: Buffer, ref: BlobRef, signal: AbortSignal): Promise<void> {
    const keys = this.#keys(ref.id, ref.chunks);
    for (const [index, key] of keys.entries()) {
      const earlier = keys[index - WINDOW];
      if (earlier !== undefined) await this.#waitFor(async () => (await this.connection.exists(earlier)) === 0, signal);
      await this.#write(key, bytes, index);
    }
  }

  /**
   * @param take when true, each chunk is removed once it is read, and chunks may still be on their way. When false, all
   * chunks must be there
   * @throws MiniCcError `QUEUE` when a part does not arrive, or is not what was written
   */
  async read(ref: BlobRef, {take, signal}: {readonly take: boolean; readonly signal: AbortSignal}): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (const key of this.#keys(ref.id, ref.chunks)) {
      let part: Buffer | null = null;
      await this.#waitFor(async () => {
        part = take ? await this.connection.getdelBuffer(key) : await this.connection.getBuffer(key);
        if (part === null && !take) throw new MiniCcError('QUEUE', 'a part of it is not in the queue any more');
        return part !== null;
      }, signal);
      parts.push(part!);
    }
    const bytes = Buffer.concat(parts);
    if (hash(bytes) !== ref.sha256) {
      throw new MiniCcError('QUEUE', 'what lies in the queue is not what was written');
    }
    return bytes;
  }

  async remove({id, chunks}: BlobRef): Promise<void> {
    const keys = this.#keys(id, chunks);
    if (keys.length > 0) await this.connection.unlink(...keys);
  }

  async #write(key: string, bytes: Buffer, index: number): Promise<void> {
    const chunk = bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
    await this.connection.set(key, chunk, 'PX', LIFE_MS);
  }

  async #waitFor(isDone: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    for (let waited = 0; !(await isDone()); waited += POLL_MS) {
      signal.throwIfAborted();
      if (waited > GIVE_UP_MS) throw new MiniCcError('QUEUE', 'the other side of the queue does not answer');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #keys(id: string, chunks: number): string[] {
    return Array.from({length: chunks}, (_, index) => `${this.prefix}:blob:${id}:${index}`);
  }
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
