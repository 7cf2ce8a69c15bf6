/** Defines the panel of runs under the prompt: which runs it lists, which one is marked, and the text of a row. */
import {formatEnding, formatSeconds} from '../../core/runs/progress-line.ts';
import {formatTokens} from '../../core/util/text.ts';
import {cutText, joinFitting, textWidth} from '../text/wrap.ts';
import {hasEnded, rankRun} from './subagent-store.ts';
import type {SubagentRun, UiState} from './ui-state.ts';

/** Maximal number of rows, with the row that says how many runs are not shown. */
export const MAX_PANEL_ROWS = 5;

/** The marked run while the keys go to the panel. */
export interface PanelMark {
  readonly runId: string;
  /** Position in the list. When the run is removed, the mark stays at this position. */
  readonly index: number;
}

/**
 * Returns the runs of the panel: running ones first, then queued ones, then ended ones, each with the newest first.
 * Unless the keys go to the panel, it is empty when all background runs have ended.
 * @param isEntered true when the keys go to the panel; then it lists awaited runs, too
 */
export function panelRuns(ui: UiState, isEntered: boolean): readonly SubagentRun[] {
  const listed = ui.subagents.filter((run) => run.isBackground || (isEntered && !hasEnded(run)));
  return isEntered || listed.some((run) => !hasEnded(run))
    ? listed.reverse().sort((a, b) => rankRun(a) - rankRun(b))
    : [];
}

/** Finds the mark in the current runs. */
export function markedIndex(runs: readonly SubagentRun[], mark: PanelMark): number {
  const index = runs.findIndex((run) => run.agentId === mark.runId);
  return index < 0 ? Math.min(mark.index, runs.length - 1) : index;
}

export function markAt(runs: readonly SubagentRun[], index: number): PanelMark | undefined {
  const run = runs[index];
  return run && {runId: run.agentId, index};
}

/** Returns the runs around the mark that fit into the rows. When some are not shown, the last row says so. */
export function panelWindow(runs: readonly SubagentRun[], marked: number, rows: number) {
  if (runs.length <= rows) return {shown: runs, first: 0, more: 0};
  const count = Math.max(1, rows - 1);
  const first = Math.max(0, Math.min(marked - count + 1, runs.length - count));
  return {shown: runs.slice(first, first + count), first, more: rows > 1 ? runs.length - count : 0};
}

/**
 * Returns the text after `[explore]`. When it is too long, it loses idle time, last tool and tokens, in this order;
 * then the label is cut.
 */
export function panelText(run: SubagentRun, columns: number, now: number): string {
  const calls = run.isCommand ? '' : ` · ${run.tools} ${run.tools === 1 ? 'tool' : 'tools'}`;
  const required = ` · ${formatState(run)}${calls}`;
  const label = cutText(run.description, Math.max(MAX_LABEL_COLUMNS, Math.floor(columns / 3)));
  const labelWidth = columns - textWidth(required);
  const shown = textWidth(label) <= labelWidth ? label : cutText(label, Math.max(4, labelWidth));
  const idleMs = now - run.lastAt;
  const parts = [
    shown + required,
    run.tokens > 0 ? `${formatTokens(run.tokens)} tokens` : '',
    cutText(run.lastTool, MAX_TOOL_COLUMNS),
    run.state === 'running' && idleMs >= 1000 ? `idle ${formatSeconds(idleMs)}` : '',
  ];
  return joinFitting(parts, columns) || cutText(shown + required, columns);
}

/** Maximal columns of a label, even in a wide window. */
const MAX_LABEL_COLUMNS = 24;
const MAX_TOOL_COLUMNS = 24;

/** Returns `running` or the note of a running run; for an ended run, how it ended. */
export function formatState({state, note}: SubagentRun): string {
  if (state === 'queued') return state;
  return state === 'running' ? note || state : formatEnding(state, '');
}
