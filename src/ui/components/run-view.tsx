import {Box, Text} from 'ink';
import {formatState} from '../state/panel.ts';
import {type TailLine, tailLines} from '../state/run-tail.ts';
import type {SubagentRun} from '../state/ui-state.ts';
import {Styled, type TextStyle} from '../text/styled-text.tsx';
import {cutText, textWidth, wrapText} from '../text/wrap.ts';
import {AgentName} from './agent-name.tsx';

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
