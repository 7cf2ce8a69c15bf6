import {Box, Text} from 'ink';
import {oneLine} from '../../core/util/one-line.ts';
import {firstRows} from '../text/live-rows.ts';
import {cutText} from '../text/wrap.ts';

interface QueueProps {
  readonly prompts: readonly {readonly id: string; readonly text: string}[];
  readonly rows: number;
  readonly columns: number;
}

/** What was sent during a turn and waits for its next step. */
export function QueuedPrompts({prompts, rows, columns}: QueueProps) {
  const {shown, more} = firstRows(prompts, rows);
  return (
    <Box flexDirection="column">
      {shown.map(({id, text}) => (
        <Text key={id} dimColor>
          {cutText(`  queued: ${oneLine(text)}`, columns)}
        </Text>
      ))}
      {more > 0 && rows > 0 && <Text dimColor>{`  … and ${more} more queued`}</Text>}
    </Box>
  );
}
