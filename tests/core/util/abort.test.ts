import {getEventListeners} from 'node:events';
import {expect, it} from 'vitest';
import {followAbort} from '../../../src/core/util/abort.ts';

it('aborts with the reason of the signal that it follows, also of one that was aborted before', () => {
  const [outer, early, late] = [new AbortController(), new AbortController(), new AbortController()];
  followAbort(outer.signal, early);
  outer.abort(new Error('stopped'));
  followAbort(outer.signal, late);
  expect([early.signal.reason, late.signal.reason]).toEqual([new Error('stopped'), new Error('stopped')]);
});

it('follows no longer, and leaves no listener behind', () => {
  const [outer, inner] = [new AbortController(), new AbortController()];
  const unfollow = followAbort(outer.signal, inner);
  unfollow();
  expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
  outer.abort();
  expect(inner.signal.aborted).toBe(false);
});
