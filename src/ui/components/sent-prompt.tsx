import {Box, Text} from 'ink';
import {Wrapped} from '../text/styled-text.tsx';

/** What the person said, as it stays in the scrollback. */
export function SentPrompt({text, columns}: {readonly text: string; readonly columns: number}) {
  return (
    <Box>
      <Box flexShrink={0}>
        <Text color="cyan">{'> '}</Text>
      </Box>
      <Wrapped bold text={text} columns={columns - 2} />
    </Box>
  );
}
