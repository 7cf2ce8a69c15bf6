import {Text} from 'ink';
import {formatDuration} from '../../core/runs/progress-line.ts';
import {cutText} from '../text/wrap.ts';

const FRAMES = ['|', '/', '-', '\\'] as const;
/** Milliseconds between two pictures of what moves. */
export const TICK_MS = 200;

interface BusyProps {
  /** Both in milliseconds since the epoch. */
  readonly since: number;
  readonly now: number;
  readonly isStill: boolean;
  /** Subagents are awaited, and need not be. */
  readonly canBackground?: boolean;
  /** A run is opened: there Esc goes back. */
  readonly isElsewhere?: boolean;
  readonly columns: number;
}

/** Says that the main agent is at work. Without motion for a screen reader, which would read every picture. */
export function BusyLine({since, now, isStill, canBackground = false, isElsewhere = false, columns}: BusyProps) {
  if (isStill)
    return (
      <Text>{`Working.${isElsewhere ? '' : ' Esc interrupts.'}${canBackground ? ' Ctrl+B sends agents to the background.' : ''}`}</Text>
    );
  const frame = FRAMES[Math.floor(now / TICK_MS) % FRAMES.length];
  const time = formatDuration(Math.floor(Math.max(0, now - since) / 1000) * 1000).replace('.0s', 's');
  const keys = ` working ${time}${isElsewhere ? '' : ' · Esc interrupts'}`;
  const more = `${keys} · Ctrl+B background`;
  return (
    <Text>
      <Text color="cyan">{frame}</Text>
      <Text dimColor>{cutText(canBackground && more.length < columns ? more : keys, columns - 1)}</Text>
    </Text>
  );
}
