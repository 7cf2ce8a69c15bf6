/** Runs as people and models read them: a line or a table, plain text. */

import type {RunRecord} from '../contract/runs.ts';
import {showControls} from '../util/text.ts';
import {formatDuration} from './progress-line.ts';
import {inputTokens, tokens} from './receipt.ts';
import {hasEnded} from './run-record.ts';

/** Characters of what a model or a person wrote, in one line. */
const MOST = 60;
/** Of a label in the list for people, so that a row has room in a window of 100 columns. */
const MOST_LISTED = 28;

/** Numbered, newest first, as commands take the numbers. @param last the column at the end */
export function runTable(records: readonly RunRecord[], now: number, last: 'ids' | 'activity'): string {
  if (records.length === 0) return 'No subagents in this session.';
  const rows = records
    .toReversed()
    .map((record, index) => [
      ...[
        String(index + 1),
        stateWords(record),
        record.agent,
        shown(record.label ?? record.description, last === 'ids' ? MOST : MOST_LISTED),
      ],
      ...[toolCount(record.tools), `${tokens(tokensUsed(record))} tokens`],
      ...(last === 'ids' ? [record.runId] : ['cost n/a', idleWords(record, now), record.lastTool ?? '-']),
    ]);
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

/** Of a run at work. */
export function describeRun(record: RunRecord, now: number): string {
  const parts = [
    `${stateWords(record)}: [${record.agent}] ${shown(record.description)}`,
    toolCount(record.tools),
    ...(record.lastTool ? [`last ${record.lastTool}`] : []),
    idleWords(record, now),
  ];
  return `${parts.join(' · ')}\nRun: ${record.runId} · transcript ${record.transcript}`;
}

/** `processing`, `idle (limit: 50 turns)`, `error (timeout)`. */
export function stateWords({state, outcome, reason}: RunRecord): string {
  if (outcome === undefined || outcome === 'success' || outcome === state) return state;
  return outcome === 'limit' ? `${state} (limit: ${reason})` : `${state} (${outcome})`;
}

export function tokensUsed({usage}: RunRecord): number {
  return inputTokens(usage) + usage.output_tokens;
}

function toolCount(count: number): string {
  return `${count} ${count === 1 ? 'tool' : 'tools'}`;
}

function idleWords(record: RunRecord, now: number): string {
  const words = formatDuration(Math.max(0, now - record.lastAt));
  return hasEnded(record) ? `ended ${words} ago` : `idle ${words}`;
}

function shown(text: string, most = MOST): string {
  const line = showControls(text.replaceAll(/\s+/g, ' ').trim());
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
