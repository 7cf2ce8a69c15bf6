import {Box, useIsScreenReaderEnabled} from 'ink';
import {formatSeconds} from '../../core/runs/progress-line.ts';
import {REFUSED, USER_SAYS} from '../../core/util/tool-output.ts';
import type {FinishedTool, RunningTool} from '../state/ui-state.ts';
import {countChanges} from '../text/diff-lines.ts';
import type {Formatter} from '../text/format.ts';
import {type Span, Styled, StyledText, type TextStyle, Wrapped} from '../text/styled-text.tsx';
import {cutText, textWidth, wrapText} from '../text/wrap.ts';
import {MoreLines, Patch} from './diff.tsx';

/** How many rows of a result are shown: of what went wrong more, and none where the first line says it all. */
const MAX_ROWS = 3;
const MAX_ERROR_ROWS = 8;
const MAX_COMMAND_ROWS = 5;

/** A shorter call does not say how long it took. */
const LONG_CALL_MS = 1_000;

interface ToolProps {
  readonly tool: FinishedTool;
  readonly columns: number;
  readonly formatter: Formatter | undefined;
}

/** `✓ Bash(npm test)` and a few rows of the result. */
export function ToolLine({tool, columns, formatter}: ToolProps) {
  return (
    <Box flexDirection="column">
      <ToolHead tool={tool} columns={columns} />
      <Box paddingLeft={2} flexDirection="column">
        <ToolOutcome tool={tool} columns={columns - 2} formatter={formatter} />
        {tool.outputFile !== undefined && (
          <Wrapped tone="muted" text={`whole output: ${tool.outputFile}`} columns={columns - 2} />
        )}
      </Box>
    </Box>
  );
}

const MUTED: TextStyle = {tone: 'muted'};

/** The call and what came of it, in one row; in a narrow window the model's words and the end of the call go first. */
function ToolHead({tool, columns}: Omit<ToolProps, 'formatter'>) {
  const isStatic = useIsScreenReaderEnabled();
  const {isError, description} = tool;
  const outcome = getOutcome(tool);
  const [done, failed] = isStatic ? ['Done: ', 'Failed: '] : ['✓ ', '✗ '];
  const tone = isError ? 'error' : 'success';
  const mark = isError ? failed : done;
  const time = tool.durationMs < LONG_CALL_MS ? '' : formatSeconds(tool.durationMs);
  const end = [outcome, time].map((part) => (part === '' ? '' : ` · ${part}`)).join('');
  const call = cutCall(tool, Math.max(12, columns - textWidth(mark) - textWidth(end)));
  const purpose = description === '' ? '' : ` · ${description}`;
  const isFitting = textWidth(mark + call + purpose + end) <= columns;
  const name = /^[^ (]*/.exec(call)![0];
  const spans: Span[] = [
    {text: mark, style: {tone}},
    {text: name, style: {bold: true}},
    {text: call.slice(name.length), style: {}},
    {text: isFitting ? purpose : '', style: MUTED},
    {text: end, style: isError ? {tone} : MUTED},
  ];
  return <StyledText spans={spans} columns={columns} />;
}

/** `Bash(npm test)`; a long one is cut inside its brackets. */
function cutCall({call}: Pick<FinishedTool, 'call'>, columns: number): string {
  if (textWidth(call) <= columns) return call;
  return call.endsWith(')') ? `${cutText(call, columns - 1)})` : cutText(call, columns);
}

/** What the model reads of a result without a text. */
const NO_OUTPUT = '(no output)';

function getOutcome({isError, summary, display, preview}: FinishedTool): string {
  if (summary === '' && preview === NO_OUTPUT) return isError ? 'failed' : 'no output';
  if (isError && summary === REFUSED) return REFUSED;
  if (isError) return summary === '' ? 'failed' : `failed: ${summary}`;
  if (display?.type === 'todos') {
    const done = display.todos.filter(({status}) => status === 'completed').length;
    return `${done} of ${display.todos.length} done`;
  }
  if (display?.type !== 'diff') return summary;
  const {added, removed} = countChanges(display.patch);
  return added + removed > 0 ? `+${added} -${removed}` : summary;
}

function ToolOutcome({tool, columns, formatter}: ToolProps) {
  const {isError, summary, display, preview, lines, isEnd} = tool;
  if (isError && summary === REFUSED) {
    // The rest is for the model.
    const [, said] = preview.split(USER_SAYS);
    return said === undefined ? null : <Wrapped tone="muted" text={`you said: ${said}`} columns={columns} />;
  }
  if (isError) {
    // What a command says of its end is in the row above.
    const text = summary !== '' && preview.endsWith(summary) ? preview.slice(0, -summary.length) : preview;
    const total = lines === undefined || text === preview ? lines : lines - 1;
    return <Preview text={text} total={total} isEnd={isEnd} rows={MAX_ERROR_ROWS} columns={columns} isError />;
  }
  switch (display?.type) {
    case 'diff':
      return tool.isDiffPrinted ? null : (
        <Patch patch={display.patch} path={display.path} columns={columns} formatter={formatter} />
      );
    case 'todos':
      // The list itself is live.
      return null;
    case 'text':
      return <Preview text={display.text} total={undefined} rows={20} columns={columns} />;
    default: {
      const rows = tool.isCommand ? MAX_COMMAND_ROWS : MAX_ROWS;
      // Where the row above says how much there is, the beginning of it says little.
      return summary === '' ? <Preview text={preview} total={lines} rows={rows} columns={columns} /> : null;
    }
  }
}

interface PreviewProps {
  readonly text: string;
  /** How many lines there are in all; undefined: as many as `text` has. */
  readonly total: number | undefined;
  /** `text` is the end of all lines: its last rows are shown. */
  readonly isEnd?: boolean;
  readonly rows: number;
  readonly columns: number;
  readonly isError?: boolean;
}

/** A result, folded to a few rows, and how many lines are not shown. */
function Preview({text, total, isEnd = false, rows, columns, isError = false}: PreviewProps) {
  if (text.trim() === '' || text === NO_OUTPUT) return null;
  // npm begins with an empty line: it would look like a gap.
  const trimmed = text.replace(/^(?:[^\S\n]*\n)+/, '');
  const blank = text.slice(0, text.length - trimmed.length).split('\n').length - 1;
  const lines = trimmed.replace(/\s+$/, '').split('\n');
  const wrapped = lines.flatMap((line, index) => wrapText(line, columns).map((row) => ({row, index})));
  const isFolded = wrapped.length > rows || (total ?? 0) - blank > lines.length;
  const count = isFolded ? rows - 1 : rows;
  const shown = isEnd ? wrapped.slice(-count) : wrapped.slice(0, count);
  const whole = new Set(shown.map(({index}) => index)).size;
  const hidden = isFolded ? Math.max(0, (total === undefined ? lines.length : total - blank) - whole) : 0;
  return (
    <>
      {isEnd && <MoreLines count={hidden} kind="earlier" />}
      <Styled tone={isError ? 'error' : 'muted'}>{shown.map(({row}) => row).join('\n')}</Styled>
      {!isEnd && <MoreLines count={hidden} />}
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

/** The running tools of the main agent, each with the end of its output as it is. */
export function RunningTools({tools, rows, columns}: RunningProps) {
  const mark = useIsScreenReaderEnabled() ? 'Running: ' : '● ';
  const lines = tools.flatMap((tool) => [
    {key: tool.callId, text: formatRunning(tool, mark, columns), isDim: false},
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

function formatRunning(tool: RunningTool, mark: string, columns: number): string {
  const call = mark + (tool.byUser ? tool.call : cutCall(tool, columns - mark.length));
  const whole = tool.description === '' ? call : `${call} · ${tool.description}`;
  return textWidth(whole) <= columns ? whole : call;
}

function progressRows(tool: RunningTool): string[] {
  const text = tool.progress.replace(/\s+$/, '');
  return text === '' ? [] : text.split('\n').slice(-PROGRESS_ROWS);
}
