import {Box, Text} from 'ink';
import type {ComponentType} from 'react';
import type {Announcement} from '../state/ui-state.ts';
import type {MarkdownProps} from '../text/markdown.tsx';
import {StyledText, Wrapped} from '../text/styled-text.tsx';
import {namedSpans} from './agent-name.tsx';
import {endingStyle} from './subagent-lines.tsx';

interface AnnouncementProps {
  readonly announcement: Announcement;
  readonly columns: number;
  readonly Markdown: ComponentType<MarkdownProps> | undefined;
}

const INDENT = 2;

/** How a background run ended and what it found, for good. */
export function AnnouncementView({announcement, columns, Markdown}: AnnouncementProps) {
  const {runId, agent, state, header, text, more, notes} = announcement;
  const room = columns - INDENT;
  return (
    <Box flexDirection="column">
      <StyledText spans={namedSpans(header, agent, endingStyle(state))} columns={columns} />
      <Box paddingLeft={INDENT} flexDirection="column">
        {Markdown ? <Markdown text={text} columns={room} /> : <Wrapped text={text} columns={room} />}
        {more > 0 && <Text dimColor>{`… ${more} more ${more === 1 ? 'line' : 'lines'}: /subagents log ${runId}`}</Text>}
        {notes !== '' && <Wrapped {...endingStyle(state)} text={notes} columns={room} />}
      </Box>
    </Box>
  );
}
