import {Box, useIsScreenReaderEnabled} from 'ink';
import {panelText, panelWindow} from '../state/panel.ts';
import {hasEnded} from '../state/subagent-store.ts';
import type {SubagentRun} from '../state/ui-state.ts';
import {Styled} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';
import {AgentName} from './agent-name.tsx';

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
