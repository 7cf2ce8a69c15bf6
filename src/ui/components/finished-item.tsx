import {Box} from 'ink';
import type {ComponentType, ReactNode} from 'react';
import type {FinishedItem} from '../state/ui-state.ts';
import type {MarkdownProps} from '../text/markdown.tsx';
import {Wrapped} from '../text/styled-text.tsx';
import {AnnouncementView} from './announcement.tsx';
import {Notice} from './notice.tsx';
import {QuestionDetail} from './question.tsx';
import {SentPrompt} from './sent-prompt.tsx';
import {FinishedSubagents} from './subagent-lines.tsx';
import {ToolLine} from './tool-line.tsx';

interface FinishedProps {
  readonly item: FinishedItem;
  readonly columns: number;
  /** Undefined when it could not be loaded: the text is shown as it is. */
  readonly Markdown: ComponentType<MarkdownProps> | undefined;
}

/** One finished thing, drawn once. */
export function FinishedItemView({item, columns, Markdown}: FinishedProps) {
  if (item.kind === 'printed') return null;
  return (
    <Box width={columns} marginTop={item.gap ? 1 : 0} flexDirection="column">
      <Body item={item} columns={columns} Markdown={Markdown} />
    </Box>
  );
}

function Body({item, columns, Markdown}: FinishedProps): ReactNode {
  switch (item.kind) {
    case 'prompt':
      return <SentPrompt text={item.text} columns={columns} />;
    case 'markdown':
      return (
        <Box paddingLeft={item.indent}>
          {Markdown ? (
            <Markdown text={item.text} columns={columns - item.indent} />
          ) : (
            <Wrapped text={item.text} columns={columns - item.indent} />
          )}
        </Box>
      );
    case 'tool':
      return <ToolLine tool={item.tool} columns={columns} />;
    case 'subagents':
      return <FinishedSubagents runs={item.runs} columns={columns} />;
    case 'announcement':
      return <AnnouncementView announcement={item.announcement} columns={columns} Markdown={Markdown} />;
    case 'notice':
      return <Notice level={item.level} text={item.text} isDiff={item.isDiff ?? false} columns={columns} />;
    case 'detail':
      return <QuestionDetail question={item.question} columns={columns} />;
    case 'printed':
      return null;
  }
}
