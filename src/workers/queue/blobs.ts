/** Stores bytes in Redis, in chunks of at most 1 MB. Chunks that no side removes expire. */
import {randomUUID} from 'node:crypto';
import type {Redis} from 'ioredis';
import {MiniCcError} from '../../core/util/errors.ts';
import {sha256} from '../../core/util/hash.ts';
import {type BlobRef, CHUNK_BYTES, LIFE_MS} from './messages.ts';

const NOT_WRITTEN = 'what lies in the queue is not what was written';

export class Blobs {
  constructor(
    private readonly connection: Redis,
    private readonly prefix: string,
  ) {}

  /** Describes a new blob of these bytes. */
  describe(bytes: Buffer): BlobRef {
    return {
      id: randomUUID(),
      chunks: Math.ceil(bytes.length / CHUNK_BYTES),
      bytes: bytes.length,
      sha256: sha256(bytes),
    };
  }

  /** Writes a blob that stays until it is removed or expires. */
  async put(bytes: Buffer, ref: BlobRef): Promise<void> {
    for (const [index, key] of this.#keys(ref.id, ref.chunks).entries()) {
      const chunk = bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
      await this.connection.set(key, chunk, 'PX', LIFE_MS);
    }
  }

  /** @throws MiniCcError `QUEUE` when a chunk is missing, or is not what was written */
  async read(ref: BlobRef): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (const key of this.#keys(ref.id, ref.chunks)) {
      // Reads one byte more than a chunk may have, to see whether it is too large. A missing chunk reads as empty.
      const part = await this.connection.getrangeBuffer(key, 0, CHUNK_BYTES);
      if (part.length === 0) throw new MiniCcError('QUEUE', 'a part of it is not in the queue any more');
      if (part.length > CHUNK_BYTES) throw new MiniCcError('QUEUE', NOT_WRITTEN);
      parts.push(part);
    }
    const bytes = Buffer.concat(parts);
    if (sha256(bytes) !== ref.sha256) throw new MiniCcError('QUEUE', NOT_WRITTEN);
    return bytes;
  }

  async remove({id, chunks}: BlobRef): Promise<void> {
    const keys = this.#keys(id, chunks);
    if (keys.length > 0) await this.connection.unlink(...keys);
  }

  #keys(id: string, chunks: number): string[] {
    return Array.from({length: chunks}, (_, index) => `${this.prefix}:blob:${id}:${index}`);
  }
}
