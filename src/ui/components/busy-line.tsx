import {Text} from 'ink';
import {formatSeconds} from '../../core/runs/progress-line.ts';
import {Styled} from '../text/styled-text.tsx';
import {cutText} from '../text/wrap.ts';

const FRAMES = ['|', '/', '-', '\\'] as const;
/** How often moving parts are drawn. Milliseconds. */
export const TICK_MS = 200;

interface BusyProps {
  /** Both in milliseconds since the epoch. */
  readonly since: number;
  readonly now: number;
  readonly isStatic: boolean;
  /** Ctrl+B can send awaited subagents to the background. */
  readonly canBackground?: boolean;
  /** The transcript of a run is shown: there Esc goes back. */
  readonly isRunOpen?: boolean;
  readonly columns: number;
}

/** Shows that the main agent is working. Without motion for a screen reader, which would read each frame. */
export function BusyLine({since, now, isStatic, canBackground = false, isRunOpen = false, columns}: BusyProps) {
  if (isStatic)
    return (
      <Text>{`Working.${isRunOpen ? '' : ' Esc interrupts.'}${canBackground ? ' Ctrl+B sends agents to the background.' : ''}`}</Text>
    );
  const frame = FRAMES[Math.floor(now / TICK_MS) % FRAMES.length];
  const keys = ` working ${formatSeconds(now - since)}${isRunOpen ? '' : ' · Esc interrupts'}`;
  const more = `${keys} · Ctrl+B background`;
  return (
    <Text>
      <Styled tone="accent">{frame}</Styled>
      <Styled tone="muted">{cutText(canBackground && more.length < columns ? more : keys, columns - 1)}</Styled>
    </Text>
  );
}
