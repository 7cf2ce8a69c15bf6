import {expect, test} from 'vitest';
import {inBackground, neverRejects} from '../../../src/core/util/background.ts';

test('the error of a promise that nobody waits for goes to its handler', async () => {
  const failure = new Error('away');
  const seen = await new Promise((resolve) => inBackground(Promise.reject(failure), resolve));
  expect(seen).toBe(failure);
});

test('the error of a promise that never rejects is thrown on', () => {
  const failure = new Error('a defect');
  expect(() => neverRejects(failure)).toThrow(failure);
});
