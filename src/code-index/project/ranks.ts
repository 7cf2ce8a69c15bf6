/** Ranks files by PageRank: a file that many important files import is important. */

const DAMPING = 0.85;
const ROUNDS = 30;

/** @param links for each file, the files that it imports @returns the rank of each file; the ranks add up to 1 */
export function rankFiles(links: ReadonlyMap<string, ReadonlySet<string>>): Map<string, number> {
  const count = Math.max(1, links.size);
  let ranks = new Map([...links.keys()].map((file) => [file, 1 / count]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = new Map([...links.keys()].map((file) => [file, 0]));
    // A file without imports spreads its rank over all files, so that no rank is lost.
    let loose = 0;
    for (const [file, targets] of links) {
      const rank = ranks.get(file)!;
      if (targets.size === 0) loose += rank;
      for (const target of targets) next.set(target, (next.get(target) ?? 0) + rank / targets.size);
    }
    const base = (1 - DAMPING) / count + (DAMPING * loose) / count;
    for (const [file, rank] of next) next.set(file, base + DAMPING * rank);
    ranks = next;
  }
  return ranks;
}
