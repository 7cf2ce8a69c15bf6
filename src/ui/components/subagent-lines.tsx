import {Box, Text, useIsScreenReaderEnabled} from 'ink';
import {formatProgressLine, formatTaskHeader, type ProgressState} from '../../core/runs/progress-line.ts';
import {formatState, panelText, panelWindow} from '../state/panel.ts';
import {type TailLine, tailLines} from '../state/run-tail.ts';
import {groupTitle, hasEnded, rankRun, toProgress} from '../state/subagent-store.ts';
import type {EndedRun, SubagentRun} from '../state/ui-state.ts';
import {keyed, type Span, Styled, StyledText, type TextStyle} from '../text/styled-text.tsx';
import {cutText, textWidth, wrapText} from '../text/wrap.ts';
import {getAgentTone} from '../theme.ts';

interface FinishedLinesProps {
  readonly runs: readonly EndedRun[];
  readonly columns: number;
}

/** Prints the runs that have ended, one row each. */
export function FinishedSubagents({runs, columns}: FinishedLinesProps) {
  return (
    <Box flexDirection="column">
      {keyed(runs).map(({key, value: run}) => (
        <EndedLine key={key} line={fitLine(run, columns)} run={run} columns={columns} />
      ))}
    </Box>
  );
}

interface EndedLineProps {
  readonly line: string;
  readonly run: Pick<EndedRun, 'agent' | 'color' | 'state' | 'receipt'>;
  readonly columns: number;
}

/** Shows how a run ended, with as many parts of its receipt as fit into the row. */
export function EndedLine({line, run: {agent, color, state, receipt}, columns}: EndedLineProps) {
  let told = '';
  for (const part of receipt) {
    if (textWidth(`${line}${told} · ${part}`) <= columns) told += ` · ${part}`;
  }
  const spans = [...namedSpans(line, agent, color, getStateStyle(state)), {text: told, style: MUTED}];
  return <StyledText spans={spans} columns={columns} />;
}

const MUTED: TextStyle = {tone: 'muted'};

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
  return (
    <Box flexDirection="column">
      <Text bold>{cutText(formatTaskHeader(groupTitle(runs)), columns)}</Text>
      {shown.map((run) => {
        const progress = toProgress(run, now);
        const line = fitLine(progress, columns) + (run.note && ` · ${run.note}`);
        return (
          <StyledText
            key={run.agentId}
            spans={namedSpans(cutText(line, columns), run.agent, run.color, getStateStyle(run.state))}
            columns={columns}
          />
        );
      })}
      {rest.length > 0 && rows > 1 && <Styled tone="muted">{cutText(`  … ${formatCounts(rest)}`, columns)}</Styled>}
    </Box>
  );
}

/** Chooses the shown runs when there are too few rows: running runs come first, and the shown ones keep their order. */
function chooseRuns(runs: readonly SubagentRun[], rows: number) {
  if (runs.length <= rows) return {shown: runs, rest: []};
  const chosen = new Set(runs.toSorted((a, b) => rankRun(a) - rankRun(b)).slice(0, Math.max(0, rows - 1)));
  return {shown: runs.filter((run) => chosen.has(run)), rest: runs.filter((run) => !chosen.has(run))};
}

/** Formats the number of runs in each state, e.g. `3 ended, 2 running, 12 queued`. */
function formatCounts(runs: readonly SubagentRun[]): string {
  const counts = {ended: 0, running: 0, queued: 0};
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

function getStateStyle(state: ProgressState['state']): TextStyle {
  switch (state) {
    case 'success':
      return {tone: 'success'};
    case 'running':
      return {};
    case 'queued':
      return {tone: 'muted'};
    case 'error':
      return {tone: 'error'};
    default:
      return {tone: 'warning'};
  }
}

/**
 * Shows the name of an agent in the colour of its run, e.g. `[explore]`.
 * @param color number of the run in the session
 */
export function AgentName({name, color}: {readonly name: string; readonly color: number}) {
  return <Styled tone={getAgentTone(color)}>{`[${name}]`}</Styled>;
}

/** Styles a line that begins with `[name]`, perhaps after an indent: the name has its colour, the rest has `style`. */
export function namedSpans(line: string, name: string, color: number, style: TextStyle): Span[] {
  const label = `[${name}]`;
  const start = line.length - line.trimStart().length;
  if (!line.startsWith(label, start)) return [{text: line, style}];
  const end = start + label.length;
  return [
    {text: line.slice(0, start), style},
    {text: label, style: {...style, tone: getAgentTone(color)}},
    {text: line.slice(end), style},
  ];
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
  const isStatic = useIsScreenReaderEnabled();
  const {shown, first, more} = panelWindow(runs, marked ?? 0, rows);
  return (
    <Box flexDirection="column">
      {shown.map((run, index) => {
        const isMarked = first + index === marked;
        const name = cutText(
          run.worker === undefined ? run.agent : `${run.agent} @${run.worker}`,
          Math.floor(columns / 3),
        );
        const width = columns - textWidth(name) - 5;
        return (
          <Styled key={run.agentId} bold={isMarked} {...(!isMarked && hasEnded(run) && {tone: 'muted'})}>
            <Styled tone="accent">{isMarked ? (isStatic ? 'Marked: ' : '> ') : '  '}</Styled>
            <AgentName name={name} color={run.color} />
            {` ${panelText(run, width, now)}`}
          </Styled>
        );
      })}
      {more > 0 && <Styled tone="muted">{`  … ${more} more`}</Styled>}
    </Box>
  );
}

export interface ViewRow {
  readonly key: string;
  readonly text: string;
  readonly style: TextStyle;
}

/** Turns the end of a run's transcript into rows of the screen. */
export function viewRows(run: SubagentRun, columns: number): ViewRow[] {
  const rows = tailLines(run.tail).flatMap((line) => lineRows(line, columns));
  return rows.map((row, index) => ({...row, key: `${index}`}));
}

function lineRows(line: TailLine, columns: number): {text: string; style: TextStyle}[] {
  switch (line.kind) {
    case 'text':
      return wrapText(line.text, columns).map((text) => ({text, style: {}}));
    case 'sent':
      return wrapText(`> ${line.text}`, columns)
        .slice(0, 3)
        .map((text) => ({text, style: {bold: true}}));
    case 'note':
      return [{text: cutText(line.text, columns), style: {tone: 'warning'}}];
    case 'tool': {
      const call = {text: cutText(`● ${line.text}`, columns), style: {}};
      if (!line.result || line.result.text === '') return [call];
      const style: TextStyle = line.result.isError ? {tone: 'error'} : {tone: 'muted'};
      return [call, {text: cutText(`  ${line.result.text}`, columns), style}];
    }
  }
}

interface ViewProps {
  readonly run: SubagentRun;
  readonly rows: readonly ViewRow[];
  /** Number of rows, with the header. */
  readonly maxRows: number;
  readonly columns: number;
}

/** Shows the newest rows of an opened run. They are live, so that nothing of them remains when the run is closed. */
export function RunView({run, rows, maxRows, columns}: ViewProps) {
  if (maxRows <= 0) return null;
  const shown = maxRows > 1 ? rows.slice(1 - maxRows) : [];
  const name = cutText(run.worker === undefined ? run.agent : `${run.agent} @${run.worker}`, Math.floor(columns / 3));
  const ending = ` · ${formatState(run)} · Esc back`;
  const label = cutText(run.description, Math.max(4, columns - textWidth(name) - 3 - textWidth(ending)));
  return (
    <Box flexDirection="column">
      <Text bold wrap="truncate">
        <AgentName name={name} color={run.color} />
        {` ${label}${ending}`}
      </Text>
      {shown.map(({key, text, style}) => (
        <Styled key={key} {...style} wrap="truncate">
          {text === '' ? ' ' : text}
        </Styled>
      ))}
    </Box>
  );
}
