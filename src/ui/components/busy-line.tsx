import {Text} from 'ink';
import {formatDuration} from '../../core/progress-line.ts';
import {cutText} from '../wrap.ts';

const FRAMES = ['|', '/', '-', '\\'] as const;
/** Milliseconds between two pictures of what moves. */
export const TICK_MS = 200;

interface BusyProps {
  /** Both in milliseconds since the epoch. */
  readonly since: number;
  readonly now: number;
  readonly isStill: boolean;
  readonly columns: number;
}

/** Says that the main agent is at work. Without motion for a screen reader, which would read every picture. */
export function BusyLine({since, now, isStill, columns}: BusyProps) {
  if (isStill) return <Text>Working. Esc interrupts.</Text>;
  const frame = FRAMES[Math.floor(now / TICK_MS) % FRAMES.length];
  const time = formatDuration(Math.floor(Math.max(0, now - since) / 1000) * 1000).replace('.0s', 's');
  return (
    <Text>
      <Text color="cyan">{frame}</Text>
      <Text dimColor>{cutText(` working ${time} · Esc interrupts`, columns - 1)}</Text>
    </Text>
  );
}
