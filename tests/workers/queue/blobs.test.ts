/** Bytes that go through the queue in chunks. The server is one in memory. */
import {expect, it} from 'vitest';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import {CHUNK_BYTES, LIFE_MS} from '../../../src/workers/queue/messages.ts';
import {MemoryRedis} from '../memory-redis.ts';

function createBlobs() {
  const redis = new MemoryRedis();
  return {redis, blobs: new Blobs(redis.client, 'p')};
}

it('a blob lies in chunks of 1 MB until it is removed or expires, and is read as it was written', async () => {
  const {redis, blobs} = createBlobs();
  const bytes = Buffer.alloc(2 * CHUNK_BYTES + 1, 'ab');
  const ref = blobs.describe(bytes);
  expect([ref.chunks, ref.bytes, blobs.describe(bytes).id === ref.id]).toEqual([3, bytes.length, false]);
  await blobs.put(bytes, ref);
  expect([...redis.values.values()].map(({length}) => length)).toEqual([1024 * 1024, 1024 * 1024, 1]);
  expect([...redis.lives.values()]).toEqual([LIFE_MS, LIFE_MS, LIFE_MS]);
  expect((await blobs.read(ref)).equals(bytes)).toBe(true);
  const other = blobs.describe(Buffer.from('other'));
  await blobs.put(Buffer.from('other'), other);
  await blobs.remove(ref);
  expect([...redis.values.values()].map(String)).toEqual(['other']);
  await blobs.remove(blobs.describe(Buffer.alloc(0)));
});

it('a blob of which a chunk is missing or changed is refused', async () => {
  const {redis, blobs} = createBlobs();
  const bytes = Buffer.alloc(CHUNK_BYTES + 1, 1);
  const ref = blobs.describe(bytes);
  await blobs.put(bytes, ref);
  const last = [...redis.values.keys()].at(-1)!;
  redis.values.set(last, Buffer.from([2]));
  await expect(blobs.read(ref)).rejects.toThrow('not what was written');
  redis.values.delete(last);
  await expect(blobs.read(ref)).rejects.toThrow('not in the queue any more');
});
