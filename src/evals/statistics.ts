/**
 * The statistics of test results. Cases are the units, because trials of one case are not independent.
 *
 * - The interval of a rate is Wilson's (E. B. Wilson, 1927).
 * - The interval of a difference is Student's t over the differences of the same cases in pairs. When all differences
 *   are equal their spread is unknown and not 0; then the interval is what `n` equal observations still allow: with 95 %
 *   confidence, others make up at most 1 − 0.05^(1/n) of all cases.
 */

type Interval = readonly [low: number, high: number];

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959963984540054;
const CONFIDENCE = 0.95;
/** Half the width of the interval that a difference should have to be of use: 10 points. */
const USEFUL = 0.1;

/** Returns the 95 % interval of a rate. @param rate 0 to 1 @param n number of cases, at least 1 */
export function getWilsonInterval(rate: number, n: number): Interval {
  const centre = rate + (Z * Z) / (2 * n);
  const half = Z * Math.sqrt((rate * (1 - rate)) / n + (Z * Z) / (4 * n * n));
  const whole = 1 + (Z * Z) / n;
  const round = (value: number) => Math.round(toShare(value / whole) * 1e12) / 1e12;
  return [round(centre - half), round(centre + half)];
}

/** Returns the percentile by nearest rank; undefined for no values. @param share 0 to 1 */
export function getPercentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

const SAME_OUTCOME = 'every case came out the same';

interface Comparison {
  /** Mean difference of the rates, −1 to 1. */
  readonly difference: number;
  readonly interval: Interval;
  readonly verdict: string;
  /** Cases with which the interval would be 10 points to each side. Absent where the spread is not known. */
  readonly casesNeeded?: number;
}

/** Compares two arms. @param differences difference of the rates of each case, the new arm minus the baseline */
export function compareInPairs(differences: readonly number[]): Comparison {
  const n = differences.length;
  const difference = n === 0 ? 0 : sum(differences) / n;
  const cases = `${n} case${n === 1 ? '' : 's'}`;
  if (n < 2) {
    const why = n === 1 && difference === 0 ? SAME_OUTCOME : 'it takes at least 2';
    const verdict = `no difference can be seen with ${cases}; ${why}`;
    return {difference, interval: [-1, 1], verdict};
  }
  const variance = sum(differences.map((each) => (each - difference) ** 2)) / (n - 1);
  const isFlat = variance < 1e-12;
  const half = isFlat
    ? 1 - (1 - CONFIDENCE) ** (1 / n)
    : getStudentQuantile((1 + CONFIDENCE) / 2, n - 1) * Math.sqrt(variance / n);
  const interval: Interval = [Math.max(-1, difference - half), Math.min(1, difference + half)];
  if (isFlat && Math.abs(difference) < 1e-12) {
    return {difference: 0, interval, verdict: `no difference can be seen with ${cases}; ${SAME_OUTCOME}`};
  }
  const casesNeeded = Math.ceil((Z * Z * variance) / (USEFUL * USEFUL));
  const needed = isFlat ? {} : {casesNeeded};
  if (interval[0] > 0) return {difference, interval, verdict: 'better', ...needed};
  if (interval[1] < 0) return {difference, interval, verdict: 'worse', ...needed};
  const more = isFlat ? '' : `; about ${casesNeeded} would show one of 10 points`;
  return {difference, interval, verdict: `no difference can be seen with ${cases}${more}`, ...needed};
}

/** Returns the quantile of Student's t distribution. @param share 0.5 to 1 @param df degrees of freedom, at least 1 */
function getStudentQuantile(share: number, df: number): number {
  let [low, high] = [0, 1];
  while (getStudentShare(high, df) < share) high *= 2;
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2;
    if (getStudentShare(middle, df) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Returns the share of Student's t distribution below `t`, for `t` from 0 on. */
function getStudentShare(t: number, df: number): number {
  return 1 - getIncompleteBeta(df / (df + t * t), df / 2, 0.5) / 2;
}

/** Returns the regularized incomplete beta function, by its continued fraction (DLMF 8.17.22). */
function getIncompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return toShare(x);
  // The fraction converges fast on this side only.
  if (x > (a + 1) / (a + b + 2)) return 1 - getIncompleteBeta(1 - x, b, a);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x) - Math.log(a),
  );
  let fraction = 1;
  for (let m = 200; m > 0; m -= 1) {
    const k = Math.floor(m / 2);
    const d =
      m % 2 === 0
        ? (k * (b - k) * x) / ((a + m - 1) * (a + m))
        : (-(a + k) * (a + b + k) * x) / ((a + m - 1) * (a + m));
    fraction = 1 + d / fraction;
  }
  return front / fraction;
}

/** Returns the logarithm of the gamma function by Stirling's series, after a shift to where it is exact. */
function logGamma(x: number): number {
  let [shifted, log] = [x, 0];
  for (; shifted < 15; shifted += 1) log -= Math.log(shifted);
  const inverse = 1 / (shifted * shifted);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / shifted;
  return log + (shifted - 0.5) * Math.log(shifted) - shifted + Math.log(2 * Math.PI) / 2 + series;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function toShare(value: number): number {
  return Math.min(1, Math.max(0, value));
}
