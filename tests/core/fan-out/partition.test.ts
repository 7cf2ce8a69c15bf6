/** How files are split into parts. */
import {expect, test} from 'vitest';
import {partition} from '../../../src/core/fan-out/plan.ts';

const items = (count: number) => Array.from({length: count}, (_, index) => index);
const sizes = (count: number, parts: number, split: 'ceil' | 'balanced') =>
  partition(items(count), {parts, split}).map((part) => part.length);

test.each([
  [3, [1, 1, 1]],
  [9, [3, 3, 3]],
  [10, [4, 4, 2]],
  [100, [34, 34, 32]],
  [4, [2, 2]],
  [42, [14, 14, 14]],
  [5, [2, 2, 1]],
  [1, [1]],
  [0, []],
])('ceil: %i files in three parts', (count, expected) => {
  expect(sizes(count, 3, 'ceil')).toEqual(expected);
});

test.each([
  [100, [34, 33, 33]],
  [10, [4, 3, 3]],
  [4, [2, 1, 1]],
  [2, [1, 1]],
  [0, []],
])('balanced: %i files in three parts', (count, expected) => {
  expect(sizes(count, 3, 'balanced')).toEqual(expected);
});

test('each item is in exactly one part, in its order, and no part is empty', () => {
  for (let count = 0; count <= 130; count += 1) {
    for (const parts of [1, 2, 3, 7, 64]) {
      for (const split of ['ceil', 'balanced'] as const) {
        const made = partition(items(count), {parts, split});
        expect(made.flat()).toEqual(items(count));
        expect(made.length).toBeLessThanOrEqual(Math.min(parts, count));
        expect(made.every((part) => part.length > 0)).toBe(true);
      }
    }
  }
});
