/** Runs as people and models read them: a line or a table, plain text. */

import type {Outcome} from '../contract/results.ts';
import type {RunRecord} from '../contract/runs.ts';
import {formatCost} from '../util/money.ts';
import {showControls} from '../util/text.ts';
import {formatDuration, formatRunTitle} from './progress-line.ts';
import {countInputTokens, tokens} from './receipt.ts';
import {hasEnded} from './run-record.ts';

/** Characters of a description or a label in one line. */
const MAX_CHARS = 60;
/** The same in the list for people; fewer, down to the least, so that a row fits in a window of 100 columns. */
const MAX_LISTED_CHARS = 28;
const MIN_LISTED_CHARS = 12;
const MAX_ROW_CHARS = 99;
const GAP = '  ';
/** The column with the description or the label. */
const LABEL = 3;

/** Numbered, newest first, as commands take the numbers. @param last the column at the end */
export function formatRunTable(records: readonly RunRecord[], now: number, last: 'ids' | 'activity'): string {
  if (records.length === 0) return 'No subagents in this session.';
  const rows = records
    .toReversed()
    .map((record, index) => [
      ...[
        String(index + 1),
        formatState(record),
        record.worker === undefined ? record.agent : `${record.agent} @${shown(record.worker, MAX_LISTED_CHARS)}`,
        shown(record.label ?? record.description, last === 'ids' ? MAX_CHARS : MAX_LISTED_CHARS),
      ],
      ...[formatToolCount(record.tools), `${tokens(countRunTokens(record))} tokens`],
      ...(last === 'ids'
        ? [record.runId]
        : [`cost ${formatCost(record.usage)}`, formatIdleTime(record, now), record.lastTool ?? '-']),
    ]);
  const getWidths = () => rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  let widths = getWidths();
  const excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - MAX_ROW_CHARS;
  if (last === 'activity' && excess > 0) {
    const max = Math.max(MIN_LISTED_CHARS, widths[LABEL]! - excess);
    for (const row of rows) row[LABEL] = shown(row[LABEL]!, max);
    widths = getWidths();
  }
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => row.map(pad).join(GAP).trimEnd()).join('\n');
}

/** A run at work, in two lines. */
export function describeRun(record: RunRecord, now: number): string {
  const parts = [
    `${formatState(record)}: ${formatRunTitle({...record, description: shown(record.description)})}`,
    formatToolCount(record.tools),
    ...(record.lastTool ? [`last ${record.lastTool}`] : []),
    formatIdleTime(record, now),
  ];
  return `${parts.join(' · ')}\nRun: ${record.runId} · transcript ${record.transcript}${describeOutput(record)}`;
}

/** Of a command in the background. */
function describeOutput({output, lastLines}: RunRecord): string {
  if (output === undefined) return '';
  return `\nOutput so far: ${output}${lastLines ? `\n${lastLines}` : ''}`;
}

/** `processing`, `done`, `limit: 50 turns`, `archived (failed)`. */
export function formatState({state, outcome, reason}: RunRecord): string {
  if (outcome === undefined) return state;
  const end = outcome === 'limit' ? `limit: ${reason}` : ENDINGS[outcome];
  return state === 'removed' ? `archived (${end})` : end;
}

const ENDINGS: Readonly<Record<Exclude<Outcome, 'limit'>, string>> = {
  success: 'done',
  error: 'failed',
  timeout: 'timed out',
  stopped: 'stopped',
  unknown: 'unknown',
};

export function countRunTokens({usage}: RunRecord): number {
  return countInputTokens(usage) + usage.output_tokens;
}

function formatToolCount(count: number): string {
  return `${count} ${count === 1 ? 'tool' : 'tools'}`;
}

function formatIdleTime(record: RunRecord, now: number): string {
  const words = formatDuration(Math.max(0, now - record.lastAt));
  return hasEnded(record) ? `ended ${words} ago` : `idle ${words}`;
}

function shown(text: string, max = MAX_CHARS): string {
  const line = showControls(text.replaceAll(/\s+/g, ' ').trim());
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}
