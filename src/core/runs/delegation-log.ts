/** Counts what the subagents of a session cost and brought, for the line at the end of a turn, `/cost` and JSON results. */

import type {RunResult, SubagentSummary} from '../contract/results.ts';
import type {SubagentMark} from '../contract/runs.ts';
import {addUsage, countInputTokens, formatCost, NO_USAGE} from '../util/messages.ts';
import {formatCount, formatTokens} from '../util/text.ts';
import {formatDuration} from './progress-line.ts';

/** One round of a run that has ended. Times are milliseconds since the epoch. */
interface EndedRound {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: Pick<RunResult, 'usage' | 'returnedTokens'>;
}

type Counted = 'repaired' | 'cached' | 'refused';

/** The summary where no subagent ran. */
export const NO_SUBAGENTS: SubagentSummary = {
  runs: 0,
  wallMs: 0,
  sumMs: 0,
  tokensRead: 0,
  tokensReturned: 0,
  repaired: 0,
  cached: 0,
  refused: 0,
  usage: {...NO_USAGE, cost_usd: 0},
};

export class DelegationLog {
  readonly #rounds: EndedRound[] = [];
  readonly #counts: Record<Counted, number> = {repaired: 0, cached: 0, refused: 0};

  add(round: EndedRound): void {
    this.#rounds.push(round);
  }

  /** Counts a Task call whose input was repaired, that got an earlier result, or that was not started. */
  count(what: Counted): void {
    this.#counts[what] += 1;
  }

  get mark(): SubagentMark {
    return {...this.#counts, rounds: this.#rounds.length};
  }

  /** @param since default: the beginning of the session @returns undefined when there was nothing */
  summarize(since?: SubagentMark): SubagentSummary | undefined {
    const rounds = this.#rounds.slice(since?.rounds);
    const count = (what: Counted) => this.#counts[what] - (since?.[what] ?? 0);
    const [repaired, cached, refused] = [count('repaired'), count('cached'), count('refused')];
    if (rounds.length + repaired + cached + refused === 0) return undefined;
    const usage = rounds.reduce((sum, {result}) => addUsage(sum, result.usage), NO_USAGE);
    return {
      runs: rounds.length,
      wallMs: measureTogether(rounds),
      sumMs: rounds.reduce((sum, {startedAt, endedAt}) => sum + endedAt - startedAt, 0),
      tokensRead: countInputTokens(usage),
      tokensReturned: rounds.reduce((sum, {result}) => sum + (result.returnedTokens ?? 0), 0),
      repaired,
      cached,
      refused,
      usage,
    };
  }
}

/** Adds up what the subagents of turns brought that worked one after the other. */
export function addSummaries(a: SubagentSummary, b: SubagentSummary): SubagentSummary {
  const usage = addUsage(a.usage, b.usage);
  const counts = Object.keys(NO_SUBAGENTS).filter((key) => key !== 'usage') as (keyof Omit<SubagentSummary, 'usage'>)[];
  return {...Object.fromEntries(counts.map((key) => [key, a[key] + b[key]])), usage} as SubagentSummary;
}

/** Returns the milliseconds in which at least one run was at work. */
function measureTogether(rounds: readonly EndedRound[]): number {
  let [sum, until] = [0, 0];
  for (const {startedAt, endedAt} of rounds.toSorted((a, b) => a.startedAt - b.startedAt)) {
    sum += Math.max(0, endedAt - Math.max(startedAt, until));
    until = Math.max(until, endedAt);
  }
  return sum;
}

/** Formats `3 subagents · 41s side by side (sum 98s, 2.4×) · 142k tokens read, 3.1k came back · est $0.21 · 1 cached`. */
export function formatSubagentSummary(summary: SubagentSummary): string {
  const {runs, wallMs, sumMs, tokensRead, tokensReturned, usage} = summary;
  const times = wallMs > 0 ? `, ${(sumMs / wallMs).toFixed(1)}×` : '';
  const together = `${formatDuration(wallMs)} side by side (sum ${formatDuration(sumMs)}${times})`;
  const counts = (['repaired', 'cached', 'refused'] as const)
    .filter((what) => summary[what] > 0)
    .map((what) => `${summary[what]} ${what}`)
    .join(', ');
  const back = tokensReturned > 0 ? `, ${formatTokens(tokensReturned)} came back` : '';
  const used = [
    runs === 1 ? formatDuration(sumMs) : together,
    `${formatTokens(tokensRead)} tokens read${back}`,
    `est ${formatCost(usage)}`,
  ];
  return [formatCount(runs, 'subagent'), ...(runs === 0 ? [] : used), ...(counts === '' ? [] : [counts])].join(' · ');
}
