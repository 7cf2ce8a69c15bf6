import {Box, useIsScreenReaderEnabled} from 'ink';
import {formatSeconds} from '../../core/runs/progress-line.ts';
import {REFUSED, USER_SAYS} from '../../core/util/tool-output.ts';
import type {FinishedTool, RunningTool} from '../state/ui-state.ts';
import {countChanges} from '../text/diff-lines.ts';
import type {Formatter} from '../text/format.ts';
import {layoutLines} from '../text/lines.ts';
import {findAddresses} from '../text/links.ts';
import {MUTED, Rows, type Span, type TextStyle, toRow, Wrapped, wrapSpans} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';

/** Maximal number of rows of a result that are shown. An error gets more rows. */
const MAX_ROWS = 3;
const MAX_ERROR_ROWS = 8;
const MAX_COMMAND_ROWS = 5;

/** Milliseconds. A shorter call does not show its duration. */
const LONG_CALL_MS = 1_000;

interface ToolProps {
  readonly tool: FinishedTool;
  readonly columns: number;
  readonly formatter: Formatter | undefined;
}

/** Draws a finished call, e.g. `✓ Bash(npm test)`, and a few rows of its result. */
export function ToolLine({tool, columns, formatter}: ToolProps) {
  return (
    <Box flexDirection="column">
      <ToolHead tool={tool} columns={columns} />
      <Box paddingLeft={2} flexDirection="column">
        <ToolOutcome tool={tool} columns={columns - 2} formatter={formatter} />
        {tool.outputFile !== undefined && (
          <Rows
            rows={wrapSpans(
              [
                {text: 'whole output: ', style: MUTED},
                {text: tool.outputFile, style: {...MUTED, link: tool.outputFile}},
              ],
              columns - 2,
            )}
          />
        )}
      </Box>
    </Box>
  );
}

const formatCallTime = (ms: number) => (ms < LONG_CALL_MS ? '' : ` · ${formatSeconds(ms)}`);

/**
 * Shows the call and its outcome in one row. In a narrow window the description and the end of the call are left out.
 */
function ToolHead({tool, columns}: Omit<ToolProps, 'formatter'>) {
  const isStatic = useIsScreenReaderEnabled();
  const {isError, description, path} = tool;
  const outcome = getOutcome(tool);
  const [done, failed] = isStatic ? ['Done: ', 'Failed: '] : ['✓ ', '✗ '];
  const tone = isError ? 'error' : 'success';
  const mark = isError ? failed : done;
  const end = `${outcome && ` · ${outcome}`}${formatCallTime(tool.durationMs)}`;
  const call = cutCall(tool, Math.max(12, columns - textWidth(mark) - textWidth(end)));
  const purpose = description === '' ? '' : ` · ${description}`;
  const isFitting = textWidth(mark + call + purpose + end) <= columns;
  const name = /^[^ (]*/.exec(call)![0];
  const spans: Span[] = [
    {text: mark, style: {tone}},
    {text: name, style: {bold: true}},
    {text: call.slice(name.length), style: path === undefined ? {} : {link: path}},
    {text: isFitting ? purpose : '', style: MUTED},
    {text: end, style: isError ? {tone} : MUTED},
  ];
  return <Rows rows={wrapSpans(spans, columns)} />;
}

/** Formats the call, e.g. `Bash(npm test)`. A long call is cut inside its brackets, but an address is wrapped. */
function cutCall({call}: Pick<FinishedTool, 'call'>, columns: number): string {
  if (textWidth(call) <= columns || findAddresses(call).length > 0) return call;
  return call.endsWith(')') ? `${cutText(call, columns - 1)})` : cutText(call, columns);
}

/** Text that the model reads when a result has no text. */
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
    // The rest of the text is for the model only.
    const [, said] = preview.split(USER_SAYS);
    return said === undefined ? null : <Wrapped tone="muted" text={`you said: ${said}`} columns={columns} />;
  }
  if (isError) {
    // A command's summary of its end is shown in the row above, so it is not repeated.
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
      // The list itself is a live part.
      return null;
    case 'text':
      return <Preview text={display.text} total={undefined} rows={20} columns={columns} />;
    default: {
      const rows = tool.isCommand ? MAX_COMMAND_ROWS : MAX_ROWS;
      // When the row above says how much there is, a preview adds little.
      return summary === '' ? <Preview text={preview} total={lines} rows={rows} columns={columns} /> : null;
    }
  }
}

interface PreviewProps {
  readonly text: string;
  /** Number of all lines; undefined when `text` has all of them. */
  readonly total: number | undefined;
  /** True when `text` is the end of the output. Then its last rows are shown. */
  readonly isEnd?: boolean;
  readonly rows: number;
  readonly columns: number;
  readonly isError?: boolean;
}

/** Shows a result, folded to a few rows, and says how many lines are not shown. */
function Preview({text, total, isEnd = false, rows, columns, isError = false}: PreviewProps) {
  if (text.trim() === '' || text === NO_OUTPUT) return null;
  // npm prints an empty line first, which would look like a gap.
  const trimmed = text.replace(/^(?:[^\S\n]*\n)+/, '');
  const blank = text.slice(0, text.length - trimmed.length).split('\n').length - 1;
  const lines = trimmed.replace(/\s+$/, '').split('\n');
  const style: TextStyle = {tone: isError ? 'error' : 'muted'};
  const wrapped = lines.flatMap((line, index) => wrapSpans(toRow(line, style), columns).map((row) => ({row, index})));
  const isFolded = wrapped.length > rows || (total ?? 0) - blank > lines.length;
  const count = isFolded ? rows - 1 : rows;
  const shown = isEnd ? wrapped.slice(-count) : wrapped.slice(0, count);
  const whole = new Set(shown.map(({index}) => index)).size;
  const hidden = isFolded ? Math.max(0, (total === undefined ? lines.length : total - blank) - whole) : 0;
  return (
    <>
      {isEnd && <MoreLines count={hidden} kind="earlier" columns={columns} />}
      <Rows rows={shown.map(({row}) => row)} />
      {!isEnd && <MoreLines count={hidden} columns={columns} />}
    </>
  );
}

/** Maximal number of output rows that a running tool shows. */
const PROGRESS_ROWS = 3;

export function runningToolRows(tools: readonly RunningTool[]): number {
  return tools.reduce((rows, tool) => rows + 1 + progressRows(tool).length, 0);
}

interface RunningProps {
  readonly tools: readonly RunningTool[];
  readonly rows: number;
  readonly columns: number;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

/** Shows the running tools of the main agent, each with its time and the end of its output. */
export function RunningTools({tools, rows, columns, now}: RunningProps) {
  const lines = tools.flatMap((tool) => [
    toRow(formatRunning(tool, columns, formatCallTime(now - tool.since))),
    ...progressRows(tool).map((text) => toRow(cutText(`  ${text}`, columns), MUTED)),
  ]);
  if (rows <= 0) return null;
  // When there are too few rows, only the names are shown.
  return <Rows rows={lines.length <= rows ? lines : lines.filter(([span]) => span!.style !== MUTED).slice(-rows)} />;
}

function formatRunning(tool: RunningTool, columns: number, time: string): string {
  const room = columns - textWidth(time);
  const call = `● ${tool.byUser ? tool.call : cutCall(tool, room - 2)}`;
  const whole = tool.description === '' ? call : `${call} · ${tool.description}`;
  return cutText(textWidth(whole) <= room ? whole : call, room) + time;
}

function progressRows(tool: RunningTool): string[] {
  const text = tool.progress.replace(/\s+$/, '');
  return text === '' ? [] : text.split('\n').slice(-PROGRESS_ROWS);
}

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
      <MoreLines count={lines.length - shown.length} columns={columns} />
    </Box>
  );
}

/** Says how many lines are not shown. @param where a hint how to see them */
export function MoreLines({
  count,
  kind = 'more',
  where = '',
  columns,
}: {
  readonly count: number;
  readonly kind?: 'more' | 'earlier';
  readonly where?: string;
  readonly columns: number;
}) {
  if (count <= 0) return null;
  const shown = count.toLocaleString('en-US');
  const text = `… ${shown} ${kind} ${count === 1 ? 'line' : 'lines'}${where}`;
  return <Wrapped tone="muted" text={text} columns={columns} />;
}

/** Draws the diffs of several files one after another, and the other lines around them. */
export function DiffText({text, columns, formatter}: Omit<PatchProps, 'patch' | 'path'> & {readonly text: string}) {
  return formatter ? <Rows rows={layoutLines(formatter.diffText(text), columns)} /> : null;
}
