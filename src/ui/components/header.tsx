import {Box, Text} from 'ink';
import type {HeaderInfo} from '../ui-state.ts';
import {cutText} from '../wrap.ts';

export const HEADER_ROWS = 3;

/** Who speaks: name and version, model, working directory. Live until the model is known, then printed for good. */
export function Header({header, columns}: {readonly header: HeaderInfo; readonly columns: number}) {
  const model = header.offline ? 'offline model (rule-based)' : (header.model ?? 'starting');
  return (
    <Box flexDirection="column">
      <Text wrap="truncate">
        <Text bold color="cyan">
          mini-cc
        </Text>
        {` ${header.version}`}
        <Text dimColor>{` · ${cutText(model, columns - 12)}`}</Text>
      </Text>
      <Text dimColor wrap="truncate-middle">
        {header.cwd}
      </Text>
      <Text dimColor wrap="truncate">
        /help lists commands and keys
      </Text>
    </Box>
  );
}
