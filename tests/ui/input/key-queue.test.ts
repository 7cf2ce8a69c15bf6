/** The order of keys. */
import {expect, test} from 'vitest';
import {KeyQueue} from '../../../src/ui/input/key-queue.ts';
import {settle} from '../../support/wait.ts';

test('keys are handled at once, and wait for a key before them that waits', async () => {
  const queue = new KeyQueue();
  const [handled, first, second] = [[] as string[], Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  queue.add(() => handled.push('a'));
  expect(handled).toEqual(['a']);
  queue.add(() => queue.waitFor(first.promise.then(() => handled.push('b'))));
  queue.add(() => queue.waitFor(second.promise.then(() => handled.push('c'))));
  queue.add(() => handled.push('d'));
  second.resolve();
  await settle();
  expect(handled).toEqual(['a']);
  first.resolve();
  await settle();
  expect(handled).toEqual(['a', 'b', 'c', 'd']);
});
