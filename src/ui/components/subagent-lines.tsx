import {Box, Text} from 'ink';
import {formatProgressLine, formatTaskHeader, type ProgressState} from '../../core/runs/progress-line.ts';
import {groupTitle, hasEnded, rankRun, toProgress} from '../state/subagent-store.ts';
import type {EndedRun, SubagentRun} from '../state/ui-state.ts';
import {keyed, Styled, StyledText, type TextStyle} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';
import {namedSpans} from './agent-name.tsx';

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
