import {Box, Text} from 'ink';
import type {FinishedTool, RunningTool} from '../state/ui-state.ts';
import {Styled} from '../text/styled-text.tsx';
import {cutText, wrapText} from '../text/wrap.ts';
import {MoreLines, Patch} from './diff.tsx';
import {TodoList} from './todo-list.tsx';

const MAX_ERROR_ROWS = 8;
/** How many rows of its result a tool shows; others show three. */
const PREVIEW_ROWS: Readonly<Record<string, number>> = {bash: 8, read_file: 0, todo_write: 0};

/** `● bash npm test` and a few rows of the result. */
export function ToolLine({tool, columns}: {readonly tool: FinishedTool; readonly columns: number}) {
  return (
    <Box flexDirection="column">
      <Text wrap="truncate">
        <Styled tone={tool.isError ? 'error' : 'success'}>● </Styled>
        <Text bold>{tool.tool}</Text>
        {` ${tool.title}`}
      </Text>
      <Box paddingLeft={2} flexDirection="column">
        <ToolOutcome tool={tool} columns={columns - 2} />
      </Box>
    </Box>
  );
}

function ToolOutcome({tool, columns}: {readonly tool: FinishedTool; readonly columns: number}) {
  if (tool.isError) return <Preview text={tool.preview} rows={MAX_ERROR_ROWS} columns={columns} isError />;
  switch (tool.display?.type) {
    case 'diff':
      return <Patch patch={tool.display.patch} />;
    case 'todos':
      return <TodoList todos={tool.display.todos} rows={tool.display.todos.length} columns={columns} />;
    case 'text':
      return <Preview text={tool.display.text} rows={20} columns={columns} />;
    default:
      return <Preview text={tool.preview} rows={PREVIEW_ROWS[tool.tool] ?? 3} columns={columns} />;
  }
}

interface PreviewProps {
  readonly text: string;
  readonly rows: number;
  readonly columns: number;
  readonly isError?: boolean;
}

function Preview({text, rows, columns, isError = false}: PreviewProps) {
  const lines = text.replace(/\s+$/, '').split('\n');
  if (rows === 0 || text.trim() === '') return null;
  const wrapped = lines.flatMap((line) => wrapText(line, columns));
  const shown = wrapped.slice(0, wrapped.length > rows ? rows - 1 : rows);
  return (
    <>
      <Styled tone={isError ? 'error' : 'muted'}>{shown.join('\n')}</Styled>
      <MoreLines count={wrapped.length - shown.length} />
    </>
  );
}

/** How many rows of its output a running tool shows. */
const PROGRESS_ROWS = 3;

/** How many rows the running tools need. */
export function runningToolRows(tools: readonly RunningTool[]): number {
  return tools.reduce((rows, tool) => rows + 1 + progressRows(tool).length, 0);
}

interface RunningProps {
  readonly tools: readonly RunningTool[];
  readonly rows: number;
  readonly columns: number;
}

/** The running tools of the main agent, each with the end of its output. */
export function RunningTools({tools, rows, columns}: RunningProps) {
  const lines = tools.flatMap((tool) => [
    {key: tool.callId, text: `● ${tool.tool} ${tool.title}`, isDim: false},
    ...progressRows(tool).map((text, index) => ({key: `${tool.callId}:${index}`, text: `  ${text}`, isDim: true})),
  ]);
  // When there are too few rows, only the names are shown.
  const shown = lines.length <= rows ? lines : lines.filter(({isDim}) => !isDim).slice(-rows);
  return (
    <Box flexDirection="column">
      {rows > 0 &&
        shown.map(({key, text, isDim}) => (
          <Styled key={key} {...(isDim && {tone: 'muted'})}>
            {cutText(text, columns)}
          </Styled>
        ))}
    </Box>
  );
}

function progressRows(tool: RunningTool): string[] {
  const text = tool.progress.replace(/\s+$/, '');
  return text === '' ? [] : text.split('\n').slice(-PROGRESS_ROWS);
}
