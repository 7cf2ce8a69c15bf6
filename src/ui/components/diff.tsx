/** Draws diffs with the formatter. Without the formatter it draws nothing. */
import {Box} from 'ink';
import type {Formatter} from '../text/format.ts';
import {layoutLines} from '../text/lines.ts';
import {Rows, Styled} from '../text/styled-text.tsx';

const MAX_DIFF_ROWS = 60;

interface PatchProps {
  readonly patch: string;
  /** Path of the file. The language follows from it. */
  readonly path: string;
  readonly columns: number;
  readonly formatter: Formatter | undefined;
}

/** Draws the diff of one file, below a line that names the file. */
export function Patch({patch, path, columns, formatter}: PatchProps) {
  if (!formatter) return null;
  const lines = formatter.diff(patch, path);
  const shown = lines.slice(0, MAX_DIFF_ROWS);
  return (
    <Box flexDirection="column">
      <Rows rows={layoutLines(shown, columns)} />
      <MoreLines count={lines.length - shown.length} />
    </Box>
  );
}

/** Says how many lines are not shown. @param where a hint how to see them */
export function MoreLines({
  count,
  kind = 'more',
  where = '',
}: {
  readonly count: number;
  readonly kind?: 'more' | 'earlier';
  readonly where?: string;
}) {
  if (count <= 0) return null;
  const shown = count.toLocaleString('en-US');
  return <Styled tone="muted">{`… ${shown} ${kind} ${count === 1 ? 'line' : 'lines'}${where}`}</Styled>;
}

/** Draws the diffs of several files one after another, and the other lines around them. */
export function DiffText({text, columns, formatter}: Omit<PatchProps, 'patch' | 'path'> & {readonly text: string}) {
  return formatter ? <Rows rows={layoutLines(formatter.diffText(text), columns)} /> : null;
}
