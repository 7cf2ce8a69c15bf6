import {formatProgressLine, formatTaskHeader, type ProgressState} from '../../core/runs/progress-line.ts';
import {formatState, panelText, panelWindow} from '../state/panel.ts';
import {type TailLine, tailLines} from '../state/run-tail.ts';
import {groupTitle, hasEnded, rankRun, withDuration} from '../state/subagent-store.ts';
import type {SubagentRun} from '../state/ui-state.ts';
import {MUTED, type Row, Rows, type Span, type TextStyle, toRow, wrapSpans} from '../text/styled-text.tsx';
import {cutText, textWidth, wrapText} from '../text/wrap.ts';
import {getAgentTone} from '../theme.ts';

interface FinishedLinesProps {
  readonly runs: readonly SubagentRun[];
  readonly columns: number;
}

/** Prints the runs that have ended. */
export function FinishedSubagents({runs, columns}: FinishedLinesProps) {
  return <Rows rows={runs.flatMap((run) => endedRows(fitLine(run, columns), run, columns))} />;
}

type Ended = Pick<SubagentRun, 'agent' | 'color' | 'state' | 'receipt'>;

/** Returns how a run ended, with as many parts of its receipt as fit into the row. */
export function endedRows(line: string, run: Ended, columns: number): Row[] {
  let told = '';
  for (const part of run.receipt) {
    if (textWidth(`${line}${told} · ${part}`) <= columns) told += ` · ${part}`;
  }
  return wrapSpans([...namedSpans(line, run, getStateStyle(run.state)), {text: told, style: MUTED}], columns);
}

interface LiveLinesProps {
  readonly runs: readonly SubagentRun[];
  readonly rows: number;
  readonly columns: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Shows the runs that the turn waits for, in order of dispatch, each with its own state. */
export function LiveSubagents({runs, rows, columns, now}: LiveLinesProps) {
  if (runs.length === 0 || rows <= 0) return null;
  const {shown, rest} = chooseRuns(runs, rows - 1);
  const lines = shown.map((run) => {
    const line = fitLine({...withDuration(run, now), note: ''}, columns) + (run.note && ` · ${run.note}`);
    return namedSpans(cutText(line, columns), run, getStateStyle(run.state));
  });
  const counts = rest.length > 0 && rows > 1 ? [toRow(cutText(`  … ${formatCounts(rest)}`, columns), MUTED)] : [];
  return (
    <Rows rows={[toRow(cutText(formatTaskHeader(groupTitle(runs)), columns), {bold: true}), ...lines, ...counts]} />
  );
}

/** Chooses the shown runs when there are too few rows: running runs come first, and the shown ones keep their order. */
function chooseRuns(runs: readonly SubagentRun[], rows: number) {
  if (runs.length <= rows) return {shown: runs, rest: []};
  const chosen = new Set(runs.toSorted((a, b) => rankRun(a) - rankRun(b)).slice(0, Math.max(0, rows - 1)));
  return {shown: runs.filter((run) => chosen.has(run)), rest: runs.filter((run) => !chosen.has(run))};
}

/** Formats the number of runs in each state, e.g. `2 running, 12 queued, 3 ended`, in the words of `/subagents`. */
function formatCounts(runs: readonly SubagentRun[]): string {
  const counts = {running: 0, queued: 0, ended: 0};
  for (const run of runs) counts[hasEnded(run) ? 'ended' : run.state === 'queued' ? 'queued' : 'running'] += 1;
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

/** Cuts the description so that state and counts stay visible. */
function fitLine(run: ProgressState, columns: number): string {
  const line = formatProgressLine(run);
  const excess = textWidth(line) - columns;
  if (excess <= 0) return line;
  const description = cutText(run.description, Math.max(4, textWidth(run.description) - excess));
  return formatProgressLine({...run, description});
}

const STATE_STYLES: Readonly<Partial<Record<ProgressState['state'], TextStyle>>> = {
  success: {tone: 'success'},
  running: {},
  queued: MUTED,
  error: {tone: 'error'},
};

function getStateStyle(state: ProgressState['state']): TextStyle {
  return STATE_STYLES[state] ?? {tone: 'warning'};
}

/** Styles a line that begins with `[name]`, perhaps after an indent: the name has its colour, the rest has `style`. */
function namedSpans(line: string, {agent, color}: Pick<SubagentRun, 'agent' | 'color'>, style: TextStyle): Span[] {
  const label = `[${agent}]`;
  const start = line.length - line.trimStart().length;
  if (!line.startsWith(label, start)) return [{text: line, style}];
  const end = start + label.length;
  return [
    {text: line.slice(0, start), style},
    {text: label, style: {...style, tone: getAgentTone(color)}},
    {text: line.slice(end), style},
  ];
}

/** Returns the name of a run's agent, e.g. `[explore]`, with its worker. */
function nameSpan({agent, worker, color}: SubagentRun, columns: number, style: TextStyle): Span {
  const name = cutText(worker === undefined ? agent : `${agent} @${worker}`, Math.floor(columns / 3));
  return {text: `[${name}]`, style: {...style, tone: getAgentTone(color)}};
}

interface PanelProps {
  readonly runs: readonly SubagentRun[];
  /** Index of the marked run; undefined while the keys do not go to the panel. */
  readonly marked: number | undefined;
  readonly rows: number;
  readonly columns: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function RunPanel({runs, marked, rows, columns, now}: PanelProps) {
  const {shown, first, more} = panelWindow(runs, marked ?? 0, rows);
  const lines = shown.map((run, index): Row => {
    const isMarked = first + index === marked;
    const style: TextStyle = isMarked ? {bold: true} : hasEnded(run) ? MUTED : {};
    const mark = isMarked ? '> ' : '  ';
    const name = nameSpan(run, columns, {bold: isMarked});
    const text = ` ${panelText(run, columns - textWidth(name.text) - 3, now)}`;
    return [{text: mark, style: {bold: isMarked, tone: 'accent'}}, name, {text, style}];
  });
  return <Rows rows={more > 0 ? [...lines, toRow(`  … ${more} more`, MUTED)] : lines} />;
}

/** Turns the end of a run's transcript into rows of the screen. */
export function viewRows(run: SubagentRun, columns: number): Row[] {
  return tailLines(run.tail).flatMap((line) => lineRows(line, columns));
}

function lineRows({kind, text, result}: TailLine, columns: number): Row[] {
  switch (kind) {
    case 'text':
      return wrapText(text, columns).map((row) => toRow(row));
    case 'sent':
      return wrapText(`> ${text}`, columns)
        .slice(0, 3)
        .map((row) => toRow(row, {bold: true}));
    case 'note':
      return [toRow(cutText(text, columns), {tone: 'warning'})];
    case 'tool': {
      const call = toRow(cutText(`● ${text}`, columns));
      if (!result || result.text === '') return [call];
      return [call, toRow(cutText(`  ${result.text}`, columns), {tone: result.isError ? 'error' : 'muted'})];
    }
  }
}

interface ViewProps {
  readonly run: SubagentRun;
  readonly rows: readonly Row[];
  /** Number of rows, with the header. */
  readonly maxRows: number;
  readonly columns: number;
}

/** Shows the newest rows of an opened run. They are live, so that nothing of them remains when the run is closed. */
export function RunView({run, rows, maxRows, columns}: ViewProps) {
  if (maxRows <= 0) return null;
  const name = nameSpan(run, columns, {bold: true});
  const ending = ` · ${formatState(run)} · Esc back`;
  const label = cutText(run.description, Math.max(4, columns - textWidth(name.text) - 1 - textWidth(ending)));
  const head: Row = [name, {text: ` ${label}${ending}`, style: {bold: true}}];
  return <Rows rows={[head, ...(maxRows > 1 ? rows.slice(1 - maxRows) : [])]} />;
}
