import {expect, test} from 'vitest';
import {compareInPairs, getPercentile, getWilsonInterval} from '../../src/evals/statistics.ts';
import {createRandom} from '../support/random.ts';

test("the interval of a difference is as wide as Student's table says", () => {
  const table: Readonly<Record<number, number>> = {
    1: 12.706,
    2: 4.303,
    5: 2.571,
    9: 2.262,
    19: 2.093,
    30: 2.042,
    120: 1.98,
  };
  for (const [df, quantile] of Object.entries(table)) {
    const differences = Array.from({length: Number(df) + 1}, (_, index) => (index === 0 ? 0.02 : 0));
    const {difference, interval} = compareInPairs(differences);
    // One value that differs: the standard error is the mean itself.
    expect((interval[1] - difference) / difference).toBeCloseTo(quantile, 3);
  }
});

test("Wilson's interval is that of the textbook, and stays within 0 and 1", () => {
  // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  const rows = [
    [81 / 263, 263, 0.2553, 0.3662],
    [15 / 148, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1 / 29, 29, 0.0061, 0.1718],
  ] as const;
  for (const [rate, n, low, high] of rows) {
    const interval = getWilsonInterval(rate, n);
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
  }
  expect(getWilsonInterval(1, 3)[1]).toBe(1);
});

test('percentiles are by nearest rank', () => {
  expect(getPercentile([15, 20, 35, 40, 50], 0.5)).toBe(35);
  expect(getPercentile([15, 20, 35, 40, 50], 0.95)).toBe(50);
  expect(getPercentile([3, 1], 0.5)).toBe(1);
  expect(getPercentile([], 0.5)).toBeUndefined();
});

test('a comparison says better or worse just where the interval does not hold 0, and else how many cases it takes', () => {
  expect(compareInPairs([1, 1, 1, 0, 1]).verdict).toBe('better');
  expect(compareInPairs([-1, -1, -1, 0, -1]).verdict).toBe('worse');
  const open = compareInPairs([1, 0, 0, 1, 0, 0, 0, 0, 0, -1]);
  // s² = (3 - 10 × 0.1²) / 9 = 0.3222; 1.96² × 0.3222 / 0.1² = 123.8
  expect(open.verdict).toBe('no difference can be seen with 10 cases; about 124 would show one of 10 points');
  expect(compareInPairs([0, 0, 0]).verdict).toBe(
    'no difference can be seen with 3 cases; every case came out the same',
  );
  expect(compareInPairs([1]).verdict).toBe('no difference can be seen with 1 case; it takes at least 2');
  expect(compareInPairs([0]).verdict).toBe('no difference can be seen with 1 case; every case came out the same');
});

/** `npm run soak` simulates 4,000 for each setting. */
const SUITES = Number(process.env.MINI_CC_SUITES ?? 500);
const SETTINGS = [10, 20, 40, 100].flatMap((n) =>
  (
    [
      [0.5, 0.5],
      [0.9, 0.9],
      [0.9, 0.8],
      [0.9, 0.5],
      [0.7, 0.6],
    ] as const
  ).map(([own, other]) => ({n, own, other})),
);

test.each(SETTINGS)(
  'coins of $own and $other with $n cases: the interval holds the truth, and better is not said of nothing',
  ({n, own, other}) => {
    const draw = createRandom(n * 1000 + own * 100 + other * 10);
    const random = () => draw(1_000_000) / 1_000_000;
    let [held, better, needed, known] = [0, 0, 0, 0];
    for (let suite = 0; suite < SUITES; suite += 1) {
      const differences = Array.from({length: n}, () => Number(random() < own) - Number(random() < other));
      const {interval, verdict, casesNeeded} = compareInPairs(differences);
      if (interval[0] <= own - other + 1e-9 && own - other - 1e-9 <= interval[1]) held += 1;
      if (verdict === 'better') better += 1;
      if (casesNeeded !== undefined) [needed, known] = [needed + casesNeeded, known + 1];
    }
    expect(held / SUITES).toBeGreaterThanOrEqual(0.93);
    if (own === other) expect(better / SUITES).toBeLessThanOrEqual(0.04);
    const variance = own * (1 - own) + other * (1 - other);
    expect(needed / known / ((1.96 ** 2 * variance) / 0.01)).toBeGreaterThan(0.8);
    expect(needed / known / ((1.96 ** 2 * variance) / 0.01)).toBeLessThan(1.2);
  },
);
