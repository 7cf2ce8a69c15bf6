/** Draws runs over time as rows of blocks for a terminal, and finds their pauses. */
import type {RunRecord} from '../../core/contract/runs.ts';
import type {TranscriptEntry} from '../../core/contract/transcript.ts';
import {formatDuration, formatEnding} from '../../core/runs/progress-line.ts';
import {addUsage, formatCost, NO_USAGE} from '../../core/util/messages.ts';
import {formatCount, showControls, toShortLine} from '../../core/util/text.ts';

/** Times are milliseconds since the epoch. */
interface Pause {
  readonly provider: string;
  readonly from: number;
  readonly to: number;
}

/** Returns when a run waited for the end of a limit of the account. @param end end of the run, or now */
export function listPauses(entries: readonly TranscriptEntry[], end: number): readonly Pause[] {
  return entries.flatMap((entry, index): Pause[] => {
    if (entry.type !== 'paused') return [];
    const next = entries.slice(index + 1).find((later) => 'at' in later);
    const to = next && 'at' in next ? Date.parse(next.at) : Math.min(end, entry.until);
    const from = Date.parse(entry.at);
    return [{provider: entry.provider, from, to: Math.max(from, to)}];
  });
}

const [WAITED, WORKED, PAUSED] = ['░', '█', '▒'];
/** Columns at most: a wider picture says no more. */
const MAX_COLUMNS = 116;
const MIN_BLOCKS = 8;

/**
 * Formats one row for each run. No row is longer than the width as long as its characters have one column.
 * @param runs oldest first, at least one
 * @param read returns the transcript of a run
 */
export function formatRunTimeline(
  runs: readonly RunRecord[],
  read: (runId: string) => readonly TranscriptEntry[],
  columns: number,
  now: number,
): string {
  const width = Math.min(columns, MAX_COLUMNS);
  const from = Math.min(...runs.map(({createdAt}) => createdAt));
  const to = Math.max(...runs.map(({endedAt = now}) => endedAt), from + 1);
  const figures = runs.map((run) => formatFigures(run, now));
  const figuresWidth = Math.max(...figures.map(({length}) => length));
  const labels = runs.map((run) => toShortLine(showControls(`${run.agent} ${run.description}`), Math.floor(width / 3)));
  const labelWidth = Math.max(...labels.map(({length}) => length));
  const blocks = Math.max(MIN_BLOCKS, width - labelWidth - figuresWidth - 4);
  const usage = runs.reduce((sum, run) => addUsage(sum, run.usage), NO_USAGE);
  const rows = runs.map((run, index) => {
    const bar = drawBar(run, read(run.runId), {from, to, blocks, now});
    return `${labels[index]!.padEnd(labelWidth)}  ${bar}  ${figures[index]}`.slice(0, width);
  });
  const head = `${formatCount(runs.length, 'subagent')} · ${formatDuration(to - from)} · est ${formatCost(usage)}`;
  return [head, ...rows, `${WAITED} waited  ${WORKED} worked  ${PAUSED} waited for a limit`].join('\n');
}

function formatFigures({createdAt, endedAt, outcome, usage}: RunRecord, now: number): string {
  const state =
    endedAt === undefined ? ' running' : outcome === 'success' || !outcome ? '' : ` ${formatEnding(outcome, '')}`;
  return `${formatDuration((endedAt ?? now) - createdAt)} ${formatCost(usage)}${state}`;
}

interface Scale {
  readonly from: number;
  readonly to: number;
  /** Number of characters. */
  readonly blocks: number;
  readonly now: number;
}

/** A run has at least one block, however short it was. */
function drawBar(run: RunRecord, entries: readonly TranscriptEntry[], {from, to, blocks, now}: Scale): string {
  const end = run.endedAt ?? now;
  const waited = entries.find(({type}) => type === 'began');
  const began = waited && 'at' in waited ? Date.parse(waited.at) : (run.startedAt ?? end);
  const pauses = listPauses(entries, end);
  const getBlock = (at: number) => Math.min(blocks - 1, Math.floor(((at - from) / (to - from)) * blocks));
  const [first, last] = [getBlock(run.createdAt), getBlock(end)];
  const cells = Array.from({length: blocks}, (_, cell) => {
    if (cell < first || cell > last) return ' ';
    if (pauses.some((pause) => cell >= getBlock(pause.from) && cell < getBlock(pause.to))) return PAUSED;
    return cell < getBlock(began) ? WAITED : WORKED;
  });
  return cells.join('');
}
