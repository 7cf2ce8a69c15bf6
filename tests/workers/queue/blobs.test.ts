/** Bytes that go through the queue in chunks. The server is one in memory. */
import {expect, it} from 'vitest';
import {Blobs, CHUNK_BYTES, WINDOW} from '../../../src/workers/queue/blobs.ts';
import {LIFE_MS} from '../../../src/workers/queue/messages.ts';
import {passTime, passTimeUntil, stopTimers} from '../../support/fake-time.ts';
import {MemoryRedis} from '../memory-redis.ts';

const {signal} = new AbortController();

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
  expect((await blobs.read(ref, {take: false, signal})).equals(bytes)).toBe(true);
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
  await expect(blobs.read(ref, {take: false, signal})).rejects.toThrow('not what was written');
  redis.values.delete(last);
  await expect(blobs.read(ref, {take: false, signal})).rejects.toThrow('not in the queue any more');
});

it('a blob that is taken out lies in the queue by 16 chunks at most, and leaves nothing there', async () => {
  const {redis, blobs} = createBlobs();
  stopTimers();
  const bytes = Buffer.alloc((WINDOW + 2) * CHUNK_BYTES, 'abc');
  const ref = blobs.describe(bytes);
  const written = blobs.stream(bytes, ref, signal);
  await passTime(1_000);
  expect(redis.values.size).toBe(16);
  const taken = await passTimeUntil(blobs.read(ref, {take: true, signal}));
  await written;
  expect([taken.equals(bytes), redis.values.size]).toEqual([true, 0]);
});

it('one who waits for the other side of the queue gives up after a minute, and at once when it is aborted', async () => {
  const {blobs} = createBlobs();
  stopTimers();
  const ref = blobs.describe(Buffer.from('text'));
  let isOver = false;
  const late = blobs.read(ref, {take: true, signal}).catch((error: unknown) => {
    isOver = true;
    return String(error);
  });
  await passTime(59_000);
  expect(isOver).toBe(false);
  await passTime(1_500);
  expect(isOver).toBe(true);
  expect(await late).toContain('does not answer');
  const aborted = blobs.read(ref, {take: true, signal: AbortSignal.abort(new Error('stopped'))});
  await expect(aborted).rejects.toThrow('stopped');
});
