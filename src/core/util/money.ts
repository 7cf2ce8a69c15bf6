/** Formats amounts of US dollars for people. */
import type {Usage} from '../contract/model.ts';
import {isCostKnown} from './messages.ts';

/** Formats `$1.25`; small amounts have more digits: `$0.0042`, `<$0.0001`. */
export function formatUsd(usd: number): string {
  if (usd === 0 || usd >= 0.01) return `$${usd.toFixed(2)}`;
  return usd < 0.0001 ? '<$0.0001' : `$${usd.toFixed(4)}`;
}

/** Formats `$0.02`; `n/a` if no price is known, and `$0.02 + n/a` if some tokens have none. */
export function formatCost(usage: Usage): string {
  if (isCostKnown(usage)) return formatUsd(usage.cost_usd ?? 0);
  return usage.cost_usd === undefined ? 'n/a' : `${formatUsd(usage.cost_usd)} + n/a`;
}

/** Formats the limit as runs that it ended name it: `budget of $0.50`. */
export function formatBudget(usd: number): string {
  return `budget of ${formatUsd(usd)}`;
}

/** Whether the limit that ended a run was a limit of money. */
export function isBudget(limit: string): boolean {
  return limit.startsWith('budget of ');
}
