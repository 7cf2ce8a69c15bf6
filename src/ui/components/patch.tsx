import {Box, Text} from 'ink';
import {keyed} from '../text/keyed.ts';

/** A unified diff in colours; without colours its signs say the same. */
export function Patch({patch, maxLines}: {readonly patch: string; readonly maxLines?: number}) {
  const lines = withoutFileNames(patch.replace(/\n$/, '').split('\n'));
  const shown = maxLines === undefined ? lines : lines.slice(0, maxLines);
  const more = lines.length - shown.length;
  return (
    <Box flexDirection="column">
      {keyed(shown).map(({key, value}) => (
        <PatchLine key={key} line={value} />
      ))}
      {more > 0 && <Text dimColor>{`… ${more} more ${more === 1 ? 'line' : 'lines'}`}</Text>}
    </Box>
  );
}

/** One line of a diff, or a row of it. @param sign how the line begins: what goes on has the colour of its line */
export function PatchLine({line, sign = line}: {readonly line: string; readonly sign?: string}) {
  if (sign.startsWith('+')) return <Text color="green">{line}</Text>;
  if (sign.startsWith('-')) return <Text color="red">{line}</Text>;
  if (sign.startsWith('@@')) return <Text color="cyan">{line}</Text>;
  return <Text dimColor>{line === '' ? ' ' : line}</Text>;
}

/**
 * The path is named beside the diff already. Only what comes before the first hunk is left out: further down, `--- x`
 * may be a line that is taken away.
 */
function withoutFileNames(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.startsWith('@@'));
  const isHead = lines.slice(0, first).every((line) => /^(?:Index: |=+$|--- |\+\+\+ |diff |index )/.test(line));
  return first > 0 && isHead ? lines.slice(first) : lines;
}
