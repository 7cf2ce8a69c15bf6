/** The panel under the prompt: which runs it lists, which one is marked, and what a row says. */
import {formatDuration} from '../../core/runs/progress-line.ts';
import {tokens} from '../../core/runs/receipt.ts';
import {cutText, textWidth} from '../text/wrap.ts';
import {hasEnded} from './subagent-store.ts';
import type {SubagentRun, UiState} from './ui-state.ts';

/** With the one that says how many are missing. */
export const MAX_PANEL_ROWS = 5;

/** The person is in the panel, and this run is marked. */
export interface PanelMark {
  readonly runId: string;
  /** Where it stood: when it has left, the mark stays at that place. */
  readonly index: number;
}

/** Those at work first, then those that wait, then the ended; the newest first among each. Nothing unless a run works in the background; whoever goes to the panel finds all that are at work. */
export function panelRuns(ui: UiState, isEntered: boolean): readonly SubagentRun[] {
  const listed = ui.subagents.filter((run) => run.isBackground || (isEntered && !hasEnded(run)));
  return isEntered || listed.some((run) => !hasEnded(run)) ? listed.reverse().sort((a, b) => place(a) - place(b)) : [];
}

function place(run: SubagentRun): number {
  if (hasEnded(run)) return 2;
  return run.state === 'queued' ? 1 : 0;
}

/** The mark among the runs as they are now. */
export function markedIndex(runs: readonly SubagentRun[], mark: PanelMark): number {
  const index = runs.findIndex((run) => run.agentId === mark.runId);
  return index < 0 ? Math.min(mark.index, runs.length - 1) : index;
}

export function markAt(runs: readonly SubagentRun[], index: number): PanelMark | undefined {
  const run = runs[index];
  return run && {runId: run.agentId, index};
}

/** The part of the runs around the mark that has room; where some are missing, the last row says so. */
export function panelWindow(runs: readonly SubagentRun[], marked: number, rows: number) {
  if (runs.length <= rows) return {shown: runs, first: 0, more: 0};
  const count = Math.max(1, rows - 1);
  const first = Math.max(0, Math.min(marked - count + 1, runs.length - count));
  return {shown: runs.slice(first, first + count), first, more: rows > 1 ? runs.length - count : 0};
}

/** What stands after `[explore]`. Idle time, last tool and tokens give way in this order, then the label. */
export function panelText(run: SubagentRun, columns: number, now: number): string {
  const must = ` · ${stateWord(run)} · ${run.tools} ${run.tools === 1 ? 'tool' : 'tools'}`;
  const label = cutText(run.description, Math.max(MAX_LABEL_COLUMNS, Math.floor(columns / 3)));
  const room = columns - textWidth(must);
  let text = (textWidth(label) <= room ? label : cutText(label, Math.max(4, room))) + must;
  for (const part of optionalParts(run, now)) {
    const longer = `${text} · ${part}`;
    if (textWidth(longer) > columns) break;
    text = longer;
  }
  return cutText(text, columns);
}

/** Longer ones leave room for the rest, however wide the window is. */
const MAX_LABEL_COLUMNS = 24;
const MAX_TOOL_COLUMNS = 24;

function optionalParts(run: SubagentRun, now: number): string[] {
  const idle = Math.floor((now - run.lastAt) / 1000);
  return [
    run.tokens > 0 ? `${tokens(run.tokens)} tokens` : '',
    run.lastTool === '' ? '' : cutText(run.lastTool, MAX_TOOL_COLUMNS),
    run.state === 'running' && idle > 0 ? `idle ${formatDuration(idle * 1000).replace('.0s', 's')}` : '',
  ].filter((part) => part !== '');
}

/** `running`, or what it waits for; of an ended run how it ended, in a word. */
export function stateWord(run: SubagentRun): string {
  switch (run.state) {
    case 'queued':
    case 'stopped':
    case 'unknown':
      return run.state;
    case 'running':
      return run.note || 'running';
    case 'success':
      return 'done';
    case 'error':
      return 'failed';
    case 'timeout':
      return 'timed out';
    case 'limit':
      return 'limit reached';
  }
}
