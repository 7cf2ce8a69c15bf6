/** Medians, and measuring in rounds. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/**
 * Takes each measure once in each round, so that other load on the machine affects all measures alike. A first round
 * warms the caches and is not counted. @returns the median of each measure.
 */
export async function measureInRounds<Name extends string>(
  rounds: number,
  measures: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(measures) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const value = await measures[name]();
      if (round > 0) values[name].push(value);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(values[name])])) as Record<Name, number>;
}
