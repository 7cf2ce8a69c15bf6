import {Text} from 'ink';
import {useEffect, useReducer, useRef} from 'react';
import {formatRunTitle} from '../../core/runs/progress-line.ts';
import {PLACEHOLDER, promptFrame, promptWidth} from '../first-paint/prompt-frame.ts';
import {describeFileSearch} from '../input/completion.ts';
import {describeSearch, listOffered, type OfferedList} from '../input/history-search.ts';
import {areTodosShown, currentQuestion, isWorking, type LocalState} from '../state/local-state.ts';
import {MAX_PANEL_ROWS, markedIndex, panelRuns} from '../state/panel.ts';
import {awaitedRuns, hasAwaitedWork, hasEnded, openedRun} from '../state/subagent-store.ts';
import type {SubagentRun, UiState} from '../state/ui-state.ts';
import {layoutLines} from '../text/lines.ts';
import {type LiveRows, shareRows} from '../text/live-rows.ts';
import {MUTED, type Row, Rows, withCursor} from '../text/styled-text.tsx';
import {liveThought} from '../text/thinking.ts';
import {cutText, wrapText} from '../text/wrap.ts';
import {BusyLine, describeWork, getWorkStart, TICK_MS} from './busy-line.tsx';
import {keyRows} from './key-list.ts';
import {
  CompletionList,
  FirstItems,
  MAX_COMPLETION_ROWS,
  type PromptRows,
  promptRows,
  QueuedPrompts,
  TodoList,
} from './prompt.tsx';
import {type QuestionRows, QuestionView, questionRows} from './question.tsx';
import {hintRows, StatusLine} from './status-line.tsx';
import {LiveSubagents, RunPanel, RunView, viewRows} from './subagent-lines.tsx';
import {RunningTools, runningToolRows} from './tool-line.tsx';

/** Milliseconds between two frames when only idle times move, which are shown in seconds. */
const IDLE_TICK_MS = 1000;

interface LayoutInput {
  readonly ui: UiState;
  readonly local: LocalState;
  readonly columns: number;
  readonly rows: number;
}

interface LiveLayout {
  readonly given: LiveRows;
  /** Last rows of the growing answer. */
  readonly tail: readonly Row[];
  readonly question: QuestionRows | undefined;
  readonly prompt: PromptRows;
  readonly offered: OfferedList;
  /** Lines in place of the completion list: the keys, or what the search for files says. */
  readonly said: readonly string[];
  readonly queued: readonly {readonly text: string}[];
  readonly panel: {readonly runs: readonly SubagentRun[]; readonly marked: number | undefined};
  /** The opened run. Its transcript is shown in place of the turn's parts. */
  readonly view: {readonly run: SubagentRun; readonly rows: readonly Row[]} | undefined;
  /** The place of the terminal's cursor, from the top of the live part. */
  readonly cursor: {readonly x: number; readonly y: number};
}

const NO_LIST: OfferedList = {rows: [], marked: -1};

/**
 * Decides how many rows each live part gets, and where the cursor is. It is a pure function, and `LiveParts` draws
 * exactly its result.
 */
export function liveLayout({ui, local, columns, rows}: LayoutInput): LiveLayout {
  const {question, count} = currentQuestion(ui, local);
  const isPromptEmpty = local.editor.text === '';
  const {focus, formatter} = local;
  const questionPart =
    question && questionRows({question, count, focus, isPromptEmpty, columns, windowRows: rows, formatter});
  const offered = questionPart ? NO_LIST : listOffered(ui, local);
  const hasList = offered.rows.length > 0;
  const search = questionPart || local.historySearch || hasList ? '' : describeFileSearch(ui, local);
  const said = local.areKeysShown ? keyRows(columns) : wrapText(search, columns - 2).flatMap(toSaidRow);
  const queued = [...ui.queued, ...local.unsent.map((text) => ({text}))];
  const run = openedRun(ui);
  const view = run && {run, rows: viewRows(run, columns)};
  const panel = layoutPanel(ui, local, view !== undefined || hasList);
  const thought = ui.thought === '' ? [] : [liveThought(ui.thought, columns)];
  const tail = view ? [] : [...thought, ...layoutLines(ui.stream.live, columns)];
  const awaited = awaitedRuns(ui).length;
  const given = shareRows(rows, {
    prompt: promptRows(local.editor, columns, rows).rows.length,
    question: questionPart?.rows.length ?? 0,
    status: hintRows(getHint(local), columns).length,
    busy: isWorking(ui, local) && !questionPart ? 1 : 0,
    lead: hasLead(ui, tail, view !== undefined) ? 1 : 0,
    gap: 1,
    frame: 2,
    completion: said.length || Math.min(MAX_COMPLETION_ROWS, offered.rows.length),
    panel: Math.min(MAX_PANEL_ROWS, panel.runs.length),
    view: view ? view.rows.length + 1 : 0,
    queued: queued.length,
    subagents: view || awaited === 0 ? 0 : awaited + 1,
    tools: view ? 0 : runningToolRows(shownTools(ui)),
    todos: areTodosShown(ui, local) && !view ? ui.todos.length : 0,
    tail: tail.length,
  });
  const prompt = promptRows(local.editor, columns, given.prompt);
  const {lead, view: viewed, tools, subagents, todos, gap, busy} = given;
  const above = lead + viewed + given.tail + tools + subagents + todos + given.queued + gap;
  const rowsAbove = above + busy + given.frame / 2;
  const note = questionPart?.cursor;
  const hidden = (questionPart?.rows.length ?? 0) - given.question;
  const cursor = note
    ? {x: note.column, y: above + Math.max(0, note.row - hidden)}
    : {x: prompt.cursor.column, y: rowsAbove + given.question + prompt.cursor.row};
  const shownTail = given.tail > 0 ? tail.slice(-given.tail) : [];
  return {
    given,
    tail: shownTail,
    question: questionPart,
    prompt,
    offered,
    said,
    queued,
    panel,
    view,
    cursor,
  };
}

function toSaidRow(text: string): string[] {
  return text === '' ? [] : [`  ${text}`];
}

interface LiveProps extends Omit<LayoutInput, 'rows'> {
  readonly layout: LiveLayout;
  /** True while the terminal's own cursor is hidden. */
  readonly isCursorDrawn?: boolean;
}

/** Draws everything that is not finished. Each part gets exactly the rows that the layout gave it. */
export function LiveParts({layout, ui, local, columns, isCursorDrawn = false}: LiveProps) {
  const {given, tail, question, prompt, queued, panel, view} = layout;
  const awaited = awaitedRuns(ui);
  const isMoving = given.busy > 0 || (given.subagents > 0 && awaited.some((run) => !hasEnded(run)));
  const isIdling = given.panel > 0 && panel.runs.some((run) => run.state === 'running');
  const framed = promptFrame({
    rows: prompt.rows,
    above: prompt.above,
    placeholder: local.editor.text === '' ? getPlaceholder(view?.run, columns) : '',
    columns,
    isFramed: given.frame > 0,
  });
  const now = useNow(isMoving || isIdling, isMoving ? TICK_MS : IDLE_TICK_MS);
  return (
    <>
      {given.lead > 0 && <Text> </Text>}
      {view && <RunView run={view.run} rows={view.rows} maxRows={given.view} columns={columns} />}
      <Rows rows={tail} />
      <RunningTools tools={shownTools(ui)} rows={given.tools} columns={columns} now={now} />
      <LiveSubagents runs={awaited} rows={given.subagents} columns={columns} now={now} />
      {given.todos > 0 && <TodoList items={ui.todos} rows={given.todos} columns={columns} />}
      {given.queued > 0 && <QueuedPrompts items={queued} rows={given.queued} columns={columns} />}
      {given.gap > 0 && <Text> </Text>}
      {question && (
        <QuestionView
          rows={question.rows}
          maxRows={given.question}
          cursor={isCursorDrawn ? question.cursor : undefined}
        />
      )}
      {given.busy > 0 && (
        <BusyLine
          work={describeWork(ui, now)}
          isWhole={ui.retry !== undefined}
          words={ui.retry?.words}
          tokens={ui.turnTokens}
          since={getWorkStart(ui) || now}
          now={now}
          canBackground={hasAwaitedWork(ui)}
          isRunOpen={view !== undefined}
          columns={columns}
        />
      )}
      <Rows
        rows={
          isCursorDrawn && !question?.cursor
            ? withCursor(framed, given.frame / 2 + prompt.cursor.row, prompt.cursor.column)
            : framed
        }
      />
      <BelowPrompt layout={layout} ui={ui} local={local} columns={columns} now={now} />
    </>
  );
}

interface BelowProps extends LiveProps {
  readonly now: number;
}

/** Draws the list of completions, the panel of runs, and the status line. */
function BelowPrompt({layout, ui, local, columns, now}: BelowProps) {
  const {given, offered, said, panel} = layout;
  const hint = getHint(local);
  return (
    <>
      <FirstItems items={said} rows={given.completion} columns={columns} rest="more" format={(line) => [line, MUTED]} />
      {given.completion > 0 && said.length === 0 && (
        <CompletionList items={offered.rows} marked={offered.marked} rows={given.completion} columns={columns} />
      )}
      {given.panel > 0 && (
        <RunPanel runs={panel.runs} marked={panel.marked} rows={given.panel} columns={columns} now={now} />
      )}
      {given.status > 0 && (
        <StatusLine
          model={ui.session?.model ?? ''}
          mode={ui.session?.permissionMode ?? ''}
          running={ui.subagents.filter((run) => !hasEnded(run) && !run.isCommand).length}
          commands={ui.subagents.filter((run) => !hasEnded(run) && run.isCommand).length}
          context={ui.context}
          branch={ui.session?.branch}
          cost={ui.cost}
          hint={hint}
          rows={given.status}
          tip={getTip(ui, local, panel)}
          own={local.statusLine}
          columns={columns}
        />
      )}
    </>
  );
}

/** Returns the runs of the panel and the marked one. There are no runs while another part uses the panel's keys. */
function layoutPanel(ui: UiState, local: LocalState, isHidden: boolean): LiveLayout['panel'] {
  const runs = isHidden ? [] : panelRuns(ui, local.panel !== undefined);
  return {runs, marked: local.panel && runs.length > 0 ? markedIndex(runs, local.panel) : undefined};
}

function getPlaceholder(run: SubagentRun | undefined, columns: number): string {
  return cutText(run ? `message to ${formatRunTitle(run)}` : PLACEHOLDER, promptWidth(columns));
}

function getHint({historySearch, hint}: LocalState): string {
  return historySearch ? describeSearch(historySearch) : hint;
}

/** Names a key that is useful at the moment; empty when there is none. */
function getTip(ui: UiState, local: LocalState, {marked}: LiveLayout['panel']): string {
  if (marked !== undefined) return 'Enter opens · Esc back';
  if (ui.session?.vim && local.vi.isNormal) return 'NORMAL · i inserts';
  const canEnter = local.editor.text === '' && !ui.openedRun && ui.subagents.some((run) => !hasEnded(run));
  return canEnter ? 'Down: agents' : '';
}

/**
 * Tells whether a blank row is above the live part. A part that will be printed below a blank row has one while it is
 * live, too.
 */
function hasLead(ui: UiState, tail: readonly Row[], isViewing: boolean): boolean {
  if (ui.finished.length === 0) return false;
  if (isViewing) return true;
  if (tail.length > 0) return !ui.stream.continued;
  return shownTools(ui).length > 0 || awaitedRuns(ui).length > 0;
}

/**
 * Leaves out the calls that dispatched a subagent or wait for an answer, because the subagent's line or the question
 * shows them.
 */
function shownTools(ui: UiState) {
  const asked = ui.questions.map(({callId}) => callId);
  return ui.tools.filter(({callId}) => !ui.dispatched.includes(callId) && !asked.includes(callId));
}

/**
 * Returns the time in milliseconds since the epoch. It changes in steps of at least `intervalMs`. While `isActive`, a
 * timer draws the caller again when nothing else has drawn it for that time.
 */
function useNow(isActive: boolean, intervalMs: number): number {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const now = useRef(Date.now());
  if (Date.now() - now.current >= intervalMs) now.current = Date.now();
  useEffect(() => {
    if (!isActive) return undefined;
    // Timers round, so the timer fires a little later, when the time has surely changed.
    const timer = setTimeout(drawAgain, intervalMs + 5);
    return () => clearTimeout(timer);
  });
  return now.current;
}
