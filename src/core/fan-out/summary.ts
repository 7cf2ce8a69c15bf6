/** Formats the summary of a fan-out and the names of its files. */
import type {SubagentResults} from '../contract/fan-out.ts';
import {formatDuration} from '../runs/progress-line.ts';
import {tokens as formatTokens} from '../runs/receipt.ts';

interface Totals {
  readonly results: SubagentResults;
  /**
   * Milliseconds from the start of the first part to the end of the last one. `sumMs` is the time of all parts
   * together.
   */
  readonly wallMs: number;
  readonly sumMs: number;
  readonly tokens: number;
}

/** Formats `fan-out: 3 agents · 3 ok · 9 files changed · 18.4s, sum of parts 47.2s, 2.6× · tokens 15.2k`. */
export function formatSummary({results, wallMs, sumMs, tokens}: Totals): string {
  const {total, successful, failed, filesModified} = results;
  const ratio = wallMs > 0 ? `, ${(sumMs / wallMs).toFixed(1)}×` : '';
  return [
    `fan-out: ${count(total, 'agent')}`,
    `${successful} ok`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${count(filesModified, 'file')} changed`,
    `${formatDuration(wallMs)}, sum of parts ${formatDuration(sumMs)}${ratio}`,
    `tokens ${formatTokens(tokens)}`,
  ].join(' · ');
}

export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** Names at most `most` files, and says how many more there are. */
export function nameFiles(files: readonly string[], most = 3): string {
  const shown = files.slice(0, most).join(', ');
  return files.length > most ? `${shown} and ${files.length - most} more` : shown;
}
