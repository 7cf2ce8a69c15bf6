/** Formats runs for people and models, as a line or a table in plain text. */

import type {RunRecord} from '../contract/runs.ts';
import {countTokens, formatCost} from '../util/messages.ts';
import {
  formatAge,
  formatColumns,
  formatCount,
  formatTokens,
  showControls,
  toOneLine,
  toShortLine,
} from '../util/text.ts';
import {formatDuration, formatEnding, formatRunTitle} from './progress-line.ts';
import {hasEnded} from './run-record.ts';

/** Number of characters of a description or a label in one line. */
const MAX_CHARS = 60;
/**
 * The list for people has shorter labels. They shrink down to the minimum so that a row fits in a window of 80 columns.
 */
const MAX_LISTED_CHARS = 28;
const MIN_LISTED_CHARS = 12;
const MAX_ROW_CHARS = 79;
const GAP = '  ';

/** Formats a table with numbered rows, newest first. Commands accept these numbers. */
export function formatRunTable(records: readonly RunRecord[]): string {
  return formatTable(records, (record) => [
    ...listHead(record, MAX_CHARS),
    formatCount(record.tools, 'tool'),
    formatTokenCount(record),
    record.runId,
  ]);
}

/** Formats the table for people. If a row does not fit in the window, each run takes two short lines. */
export function formatRunList(records: readonly RunRecord[], now: number): string {
  const listFacts = (record: RunRecord) => [
    formatCount(record.tools, 'tool'),
    formatTokenCount(record),
    `cost ${formatCost(record.usage)}`,
    // The state already says that the run ended.
    formatIdleTime(record, now).replace('ended ', ''),
    record.lastTool ?? '-',
  ];
  for (let chars = MAX_LISTED_CHARS; chars >= MIN_LISTED_CHARS; chars -= 1) {
    const table = formatTable(records, (record) => [...listHead(record, chars), ...listFacts(record)]);
    if (table.split('\n').every((row) => row.length <= MAX_ROW_CHARS)) return table;
  }
  const heads = formatTable(records, (record) => listHead(record, MAX_LISTED_CHARS)).split('\n');
  const indent = ' '.repeat(String(records.length).length);
  const facts = records.toReversed().map(
    (record) =>
      `${indent}${GAP}${listFacts(record)
        .filter((fact) => fact !== '-')
        .join(' · ')}`,
  );
  return heads.map((head, index) => `${head}\n${facts[index]}`).join('\n');
}

function listHead(record: RunRecord, chars: number): string[] {
  const {agent, worker, label, description} = record;
  return [
    formatState(record),
    worker === undefined ? agent : `${agent} @${shown(worker, MAX_LISTED_CHARS)}`,
    shown(label ?? description, chars),
  ];
}

function formatTable(records: readonly RunRecord[], getCells: (record: RunRecord) => readonly string[]): string {
  if (records.length === 0) return 'No subagents in this session.';
  const rows = records.toReversed().map((record, index) => [String(index + 1), ...getCells(record)]);
  return formatColumns(rows, {isRight: (column) => column === 0, gap: GAP}).join('\n');
}

/** Describes a run at work in two lines. */
export function describeRun(record: RunRecord, now: number): string {
  const parts = [
    `${formatState(record)}: ${formatRunTitle({...record, description: shown(record.description)})}`,
    formatCount(record.tools, 'tool'),
    ...(record.lastTool ? [`last ${record.lastTool}`] : []),
    formatIdleTime(record, now),
  ];
  return `${parts.join(' · ')}\nRun: ${record.runId} · transcript ${record.transcript}${describeOutput(record)}`;
}

/** Describes the output of a command in the background. */
function describeOutput({output, lastLines}: RunRecord): string {
  if (output === undefined) return '';
  return `\nOutput so far: ${output}${lastLines ? `\n${lastLines}` : ''}`;
}

/** The words of the screen for states of a run that has not ended. */
const STATE_WORDS: Readonly<Partial<Record<RunRecord['state'], string>>> = {created: 'queued', processing: 'running'};

/** Formats a state as `running`, `done`, `limit reached: 50 turns` or `archived (failed)`. */
export function formatState({state, outcome, reason}: RunRecord): string {
  if (outcome === undefined) return STATE_WORDS[state] ?? state;
  const end = formatEnding(outcome, outcome === 'limit' ? (reason ?? '') : '');
  return state === 'removed' ? `archived (${end})` : end;
}

function formatTokenCount({usage}: RunRecord): string {
  return `${formatTokens(countTokens(usage))} tokens`;
}

function formatIdleTime(record: RunRecord, now: number): string {
  const ms = now - record.lastAt;
  const words = ms < 3_600_000 ? formatDuration(ms) : formatAge(ms);
  return hasEnded(record) ? `ended ${words} ago` : `idle ${words}`;
}

function shown(text: string, max = MAX_CHARS): string {
  return toShortLine(showControls(toOneLine(text)), max);
}
