import {Text} from 'ink';
import {useEffect, useState} from 'react';
import {offeredCommands} from '../input/completion.ts';
import {type CommandInfo, currentQuestion, isWorking, type LocalState} from '../state/local-state.ts';
import {MAX_PANEL_ROWS, markedIndex, panelRuns} from '../state/panel.ts';
import {awaitedRuns, hasAwaitedWork, hasEnded, openedRun} from '../state/subagent-store.ts';
import {modeOf, type SubagentRun, type UiState} from '../state/ui-state.ts';
import {type LiveRows, shareRows} from '../text/live-rows.ts';
import {screenText} from '../text/screen-text.ts';
import type {StreamState} from '../text/stream-blocks.ts';
import {cutText, wrapText} from '../text/wrap.ts';
import {BusyLine, TICK_MS} from './busy-line.tsx';
import {CompletionList, MAX_COMPLETION_ROWS} from './completion-list.tsx';
import {PLACEHOLDER, Prompt, type PromptRows, promptRows, promptWidth, QueuedPrompts} from './prompt.tsx';
import {type QuestionRows, QuestionView, questionRows} from './question.tsx';
import {RunPanel} from './run-panel.tsx';
import {RunView, type ViewRow, viewRows} from './run-view.tsx';
import {StatusLine} from './status-line.tsx';
import {LiveSubagents} from './subagent-lines.tsx';
import {TodoList} from './todo-list.tsx';
import {RunningTools, runningToolRows} from './tool-line.tsx';

/** Idle times are shown in seconds. */
const IDLE_TICK_MS = 1000;

interface LayoutInput {
  readonly ui: UiState;
  readonly local: LocalState;
  readonly columns: number;
  readonly rows: number;
}

export interface LiveLayout {
  readonly given: LiveRows;
  readonly tail: readonly string[];
  readonly question: QuestionRows | undefined;
  readonly prompt: PromptRows;
  readonly commands: readonly CommandInfo[];
  readonly queued: readonly {readonly id: string; readonly text: string}[];
  readonly panel: {readonly runs: readonly SubagentRun[]; readonly marked: number | undefined};
  /** The run whose transcript stands where the turn's parts stand otherwise. */
  readonly view: {readonly run: SubagentRun; readonly rows: readonly ViewRow[]} | undefined;
  /** Where the terminal's cursor stands, from the top of the live part. */
  readonly cursor: {readonly x: number; readonly y: number};
}

/** How high each live part is, and where the cursor stands among them. Pure: drawing follows it exactly. */
export function liveLayout({ui, local, columns, rows}: LayoutInput): LiveLayout {
  const {question, count} = currentQuestion(ui, local);
  const isPromptEmpty = local.editor.text === '';
  const asked = question && questionRows({question, count, focus: local.focus, isPromptEmpty, columns});
  const commands = asked ? [] : offeredCommands(ui, local);
  const queued = [...ui.queued, ...local.unsent.map((text, index) => ({id: `unsent ${index}`, text}))];
  const run = openedRun(ui);
  const view = run && {run, rows: viewRows(run, columns)};
  const panel = panelOf(ui, local, view !== undefined || commands.length > 0);
  const tail = view ? [] : tailRows(ui.stream, columns);
  const lines = awaitedRuns(ui).length;
  const given = shareRows(rows, {
    prompt: promptRows(local.editor, columns, rows).rows.length,
    question: asked?.rows.length ?? 0,
    status: 1,
    busy: isWorking(ui, local) && !asked ? 1 : 0,
    lead: hasLead(ui, tail, view !== undefined) ? 1 : 0,
    gap: 1,
    completion: Math.min(MAX_COMPLETION_ROWS, commands.length),
    panel: Math.min(MAX_PANEL_ROWS, panel.runs.length),
    view: view ? view.rows.length + 1 : 0,
    queued: queued.length,
    subagents: view || lines === 0 ? 0 : lines + 1,
    tools: view ? 0 : runningToolRows(shownTools(ui)),
    todos: local.showTodos && ui.busy && !view ? ui.todos.length : 0,
    tail: tail.length,
  });
  const prompt = promptRows(local.editor, columns, given.prompt);
  const over =
    given.lead +
    given.view +
    given.tail +
    given.tools +
    given.subagents +
    given.todos +
    given.queued +
    given.gap +
    given.busy;
  const note = asked?.cursor;
  const hidden = (asked?.rows.length ?? 0) - given.question;
  const cursor = note
    ? {x: note.column, y: over + Math.max(0, note.row - hidden)}
    : {x: prompt.cursor.column, y: over + given.question + prompt.cursor.row};
  return {
    given,
    tail: given.tail > 0 ? tail.slice(-given.tail) : [],
    question: asked,
    prompt,
    commands,
    queued,
    panel,
    view,
    cursor,
  };
}

interface LiveProps extends Omit<LayoutInput, 'rows'> {
  readonly layout: LiveLayout;
  readonly isStill: boolean;
}

/** All that is not finished. Each part has exactly the rows that the layout gave it. */
export function LiveParts({layout, ui, local, columns, isStill}: LiveProps) {
  const {given, tail, question, prompt, commands, queued, panel, view} = layout;
  const awaited = awaitedRuns(ui);
  const isMoving = given.busy > 0 || (given.subagents > 0 && awaited.some((run) => !hasEnded(run)));
  const isIdling = given.panel > 0 && panel.runs.some((run) => run.state === 'running');
  const now = useNow(!isStill && (isMoving || isIdling), isMoving ? TICK_MS : IDLE_TICK_MS);
  return (
    <>
      {given.lead > 0 && <Text> </Text>}
      {view && <RunView run={view.run} rows={view.rows} room={given.view} columns={columns} />}
      <StreamTail rows={tail} />
      <RunningTools tools={shownTools(ui)} rows={given.tools} columns={columns} />
      <LiveSubagents runs={awaited} rows={given.subagents} columns={columns} now={now} />
      {given.todos > 0 && <TodoList todos={ui.todos} rows={given.todos} columns={columns} />}
      {given.queued > 0 && <QueuedPrompts prompts={queued} rows={given.queued} columns={columns} />}
      {given.gap > 0 && <Text> </Text>}
      {question && <QuestionView rows={question.rows} room={given.question} />}
      {given.busy > 0 && (
        <BusyLine
          since={ui.busySince || now}
          now={now}
          isStill={isStill}
          canBackground={hasAwaitedWork(ui)}
          isElsewhere={view !== undefined}
          columns={columns}
        />
      )}
      <Prompt rows={prompt.rows} placeholder={local.editor.text === '' ? placeholderOf(view?.run, columns) : ''} />
      {given.completion > 0 && (
        <CompletionList commands={commands} selected={local.selected} rows={given.completion} columns={columns} />
      )}
      {given.panel > 0 && (
        <RunPanel runs={panel.runs} marked={panel.marked} rows={given.panel} columns={columns} now={now} />
      )}
      {given.status > 0 && (
        <StatusLine
          model={ui.session?.model ?? ''}
          mode={modeOf(ui) ?? ''}
          running={ui.subagents.filter((run) => !hasEnded(run)).length}
          contextTokens={ui.contextTokens}
          hint={local.hint}
          tip={tipOf(ui, local, panel)}
          columns={columns}
        />
      )}
    </>
  );
}

/** What is marked, and nothing where something else has the keys. */
function panelOf(ui: UiState, local: LocalState, isHidden: boolean): LiveLayout['panel'] {
  const runs = isHidden ? [] : panelRuns(ui, local.panel !== undefined);
  return {runs, marked: local.panel && runs.length > 0 ? markedIndex(runs, local.panel) : undefined};
}

function placeholderOf(run: SubagentRun | undefined, columns: number): string {
  return run ? cutText(`message to [${run.agent}] ${run.description}`, promptWidth(columns)) : PLACEHOLDER;
}

/** The key that leads on, where there is one. */
function tipOf(ui: UiState, local: LocalState, {marked}: LiveLayout['panel']): string {
  if (marked !== undefined) return 'Enter opens · Esc back';
  const canEnter = local.editor.text === '' && !ui.openedRun && ui.subagents.some((run) => !hasEnded(run));
  return canEnter ? 'Down: agents' : '';
}

/** Live parts that will be finished below a blank row stand below one already. */
function hasLead(ui: UiState, tail: readonly string[], isViewing: boolean): boolean {
  if (ui.finished.length === 0) return false;
  if (isViewing) return true;
  if (tail.length > 0) return !ui.stream.continued;
  return shownTools(ui).length > 0 || awaitedRuns(ui).length > 0;
}

/** A call that has dispatched a subagent is told by that one's line. */
function shownTools(ui: UiState) {
  return ui.tools.filter(({callId}) => !ui.dispatched.includes(callId));
}

/** The end of the text that the model is writing, as rows of the screen. */
function tailRows(stream: StreamState, columns: number): string[] {
  const isFenced = stream.fence !== undefined || /^\s*(?:```|~~~)/.test(stream.tail);
  const code = stream.fence ? stream.tail : stream.tail.replace(/^.*\n?/, '');
  // Code stands as it will when it is finished: moved in, without its fence.
  const text = screenText(isFenced ? code : stream.tail).replace(/\s+$/, '');
  if (text === '') return [];
  const indent = isFenced ? '  ' : '';
  return wrapText(text, columns - indent.length).map((row) => indent + row);
}

function StreamTail({rows}: {readonly rows: readonly string[]}) {
  return rows.length === 0 ? null : <Text wrap="truncate">{rows.join('\n')}</Text>;
}

/** Milliseconds since the epoch, kept up to date while `isActive`; at rest there is no timer. */
function useNow(isActive: boolean, intervalMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isActive) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [isActive, intervalMs]);
  return now;
}
